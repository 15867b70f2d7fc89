"""Tables as text, event rows, lengths of time and addresses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import typer

from cli.objects.event import latest_last, row
from cli.options.duration import parse_seconds
from cli.options.listen import parse_address
from cli.table import Columns, Layout, as_table

NOW = datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)


def table(*rows: list[Any], definitions: bool = True) -> dict[str, Any]:
    columns = [{"name": "Name", "priority": 0}, {"name": "Size"}, {"name": "Why", "priority": 1}]
    return {
        "kind": "Table",
        "columnDefinitions": columns if definitions else [],
        "rows": [{"cells": cells, "object": {"metadata": {"namespace": "ns"}}} for cells in rows],
    }


def test_later_rows_stand_below_earlier_ones() -> None:
    layout = Layout()
    assert layout.lines([("NAME", "SIZE"), ("a", "1"), ("longer", "")]) == ["NAME     SIZE", "a        1", "longer"]
    assert layout.lines([("b", "2")]) == ["b        2"]


def test_columns_by_priority_with_prefix_and_namespace() -> None:
    shown = table(["a", 1, "x"], ["b", None, "two\nlines"])
    narrow = Columns.of(shown, wide=False, prefix="", with_namespace=False)
    assert (narrow.headers, narrow.rows(shown)) == (("NAME", "SIZE"), [("a", "1"), ("b", "")])
    wide = Columns.of(shown, wide=True, prefix="thing/", with_namespace=True)
    assert wide.headers == ("NAMESPACE", "NAME", "SIZE", "WHY")
    assert wide.rows(shown)[1] == ("ns", "thing/b", "", "two...")
    assert wide.rows(table(["c", True, ""], definitions=False)) == [("ns", "thing/c", "true", "")]


def test_a_server_that_does_not_print_gets_names_and_ages() -> None:
    obj = {"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    for answer in (obj, {"items": [obj], "metadata": {}}):
        shown = as_table(answer, NOW)
        columns = Columns.of(shown, wide=False, prefix="", with_namespace=True)
        assert columns.headers == ("NAMESPACE", "NAME", "AGE")
        assert columns.rows(shown) == [("", "a", "100s")]
    assert as_table({"items": None, "metadata": {}}, NOW)["rows"] == []


def test_events_of_either_api_are_ordered_and_counted() -> None:
    old = {
        "metadata": {"name": "old"},
        "lastTimestamp": "2026-01-01T00:01:00Z",
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "count": 3,
        "involvedObject": {"kind": "Zone", "name": "z"},
        "message": "two\nlines",
    }
    new = {"metadata": {"name": "new", "creationTimestamp": "x"}, "eventTime": "2026-01-01T00:00:30.000000Z"}
    series = {**new, "series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:30.000000Z"}}
    assert [each["metadata"]["name"] for each in latest_last([old, new])] == ["new", "old"]
    assert latest_last([series, old]) == [old, series]
    assert row(old, NOW) == ("40s (x3 over 100s)", "", "", "zone/z", "two lines")
    assert row(series, NOW)[0] == "10s (x2 over 70s)"
    assert row({"metadata": {"name": "bare"}}, NOW) == ("<unknown>", "", "", "/", "")


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("1.5s", 1.5), ("2m", 120), ("1h30m", 5400), ("1h2m3s", 3723), ("0", 0)]
)
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert parse_seconds(text, "--timeout") == seconds


@pytest.mark.parametrize("text", ["", " ", "soon", "-1s", "1d", "5 m", "1m1h"])
def test_lengths_of_time_that_are_none(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="allowed is a length of time"):
        parse_seconds(text, "--timeout")


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:53", ("127.0.0.1", 53)), ("[::1]:0", ("::1", 0)), ("localhost:1", ("localhost", 1))],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text, "--dns") == address


@pytest.mark.parametrize("text", ["", ":53", "127.0.0.1", "127.0.0.1:", "::1:53", "127.0.0.1:65536", "[]:1", "a:٣"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"allowed is HOST:PORT") as caught:
        parse_address(text, "--dns")
    assert caught.value.param_hint == "--dns"
