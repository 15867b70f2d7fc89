"""How alerts and dashboards are written; what they show of a product that lives is in test_least_privilege.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.helm.monitoring import ALERTS, DASHBOARDS, expressions
from tests.helm.promql import PromqlError, parse
from tests.helm.promql_value import evaluate


@pytest.mark.parametrize("path", [*DASHBOARDS, *ALERTS], ids=lambda path: path.name)
def test_every_counter_is_used_as_a_rate(path: Path) -> None:
    for text in expressions(path):
        for found in re.finditer(r"dns_api_[a-z_]+_total", text):
            assert re.search(r"(rate|increase)\($", text[: found.start()]), text


@pytest.mark.parametrize(
    "text",
    [
        "sum(rate(a[5m])",
        "rate(a)",
        "a{b=c",
        "a > > b",
        "deriv(a[5m])",
        "a{b='c'}",
        "sum by pod (a)",
        "a b",
        "a[5m",
        "#",
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(PromqlError):
        evaluate(parse(text), {}, 0.0)


def test_every_alert_says_what_is_so_and_what_to_look_at() -> None:
    names = []
    for path in ALERTS:
        for group in yaml.safe_load(path.read_text(encoding="utf-8")):
            for rule in group["rules"]:
                names.append(rule["alert"])
                assert rule["labels"]["severity"] in {"critical", "warning", "info"}
                assert rule["annotations"]["summary"].endswith(".")
                assert rule["annotations"]["description"].endswith(".")
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_panels_of_a_dashboard_lie_side_by_side(path: Path) -> None:
    panels = json.loads(path.read_text(encoding="utf-8"))["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels) == len({panel["id"] for panel in panels})
