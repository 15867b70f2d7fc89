"""Alerts and dashboards ask for series that the programs have, by labels that these series have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

from controllers.runtime import metrics as runtime_metrics
from kube import metrics as kube_metrics
from tests.helm.place import CHART, ROOT

DASHBOARDS = sorted((CHART / "dashboards").glob("*.json"))
ALERTS = sorted((CHART / "files" / "alerts").glob("*.yaml"))
OURS = re.compile(r"\bdns_api_[a-z0-9_]+")
LITERAL = re.compile(r'"(dns_api_server_[a-z_]+)"')
SHORT = re.compile(r'^\s+\("([a-z_]+)", "[A-Z]', re.MULTILINE)
SUFFIXES = ("_total", "_bucket", "_count", "_sum", "")
PROMETHEUS_OWN = {"process_resident_memory_bytes"}


def _series() -> set[str]:
    """Names without suffixes: those of the managers are registered, those of the servers stand in their collectors."""
    assert runtime_metrics is not kube_metrics  # both are needed for what they register
    names = {family.name for family in REGISTRY.collect() if family.name.startswith("dns_api_")}
    for path in (ROOT / "server" / "health" / "metrics.py", ROOT / "server" / "transfer" / "metrics.py"):
        text = path.read_text(encoding="utf-8")
        names |= set(LITERAL.findall(text))
        names |= {f"dns_api_server_{name}" for name in SHORT.findall(text)}
    return names | {f"dns_api_server_transfers_{way}" for way in ("sent", "received")}


def _expressions(path: Path) -> Iterator[str]:
    if path.suffix == ".json":
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    else:
        groups = yaml.safe_load(path.read_text(encoding="utf-8"))
        yield from (rule["expr"] for group in groups for rule in group["rules"])


@pytest.mark.parametrize("path", [*DASHBOARDS, *ALERTS], ids=lambda path: path.name)
def test_every_series_that_is_asked_for_exists(path: Path) -> None:
    series = _series()
    asked = {name for text in _expressions(path) for name in OURS.findall(text)}
    assert asked
    missing = {
        name
        for name in asked
        if not any(name.endswith(suffix) and name.removesuffix(suffix) in series for suffix in SUFFIXES)
    }
    assert missing == set()


@pytest.mark.parametrize("path", [*DASHBOARDS, *ALERTS], ids=lambda path: path.name)
def test_expressions_are_balanced_and_every_counter_is_used_as_a_rate(path: Path) -> None:
    for text in _expressions(path):
        for opening, closing in ("()", "[]", "{}"):
            assert text.count(opening) == text.count(closing), text
        for found in re.finditer(r"dns_api_[a-z_]+_total", text):
            assert re.search(r"(rate|increase)\($", text[: found.start()]), text


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
