"""Moments and delays in HTTP headers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.http_time import AT_MOST_S, http_date, retry_after_s

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        (7, 7.0),
        ("1.5", 1.5),
        ("86400", AT_MOST_S),
        ("9" * 400, AT_MOST_S),
        ("Wed, 02 Jan 2030 03:04:15 GMT", 10.0),
        ("Wed, 02 Jan 2030 03:04:15 -0000", 10.0),
        ("Wednesday, 02-Jan-30 03:04:15 GMT", 10.0),
        ("Wed, 02 Jan 2030 03:04:00 GMT", 0.0),
        ("Thu, 03 Jan 2030 03:04:05 GMT", AT_MOST_S),
        (None, None),
        ("", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("Wed, 99 Jan 2030 03:04:00 GMT", None),
        ("Wed, 99999999999999999999 Jan 2030 03:04:00 GMT", None),
        ("Wed, 02 Jan 2030 03:04:15 +99999999999999", None),
    ],
)
def test_it_is_read_in_both_forms_and_bounded(value: object, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@given(st.text())
def test_whatever_stands_there_is_read_or_left(text: str) -> None:
    found = retry_after_s(text, NOW)
    assert found is None or 0.0 <= found <= AT_MOST_S


@pytest.mark.parametrize(
    "text", ["Wed, 02 Jan 2030 03:04:05 GMT", "Wed, 02 Jan 2030 03:04:05 -0000", "Wed, 02 Jan 2030 04:04:05 +0100"]
)
def test_a_date_always_has_its_zone(text: str) -> None:
    found = http_date(text)
    assert found is not None
    assert found.tzinfo is not None
    assert found == NOW


@pytest.mark.parametrize("text", ["", "now", "2030-01-02T03:04:05Z", "Wed, 02 Jan 2030 25:04:05 GMT"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert http_date(text) is None
