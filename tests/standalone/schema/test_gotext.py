"""Text as Go prints it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.schema import gotext


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (0.5, "0.5"),
        (-2.25, "-2.25"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (123456789.0, "1.23456789e+08"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1e21, "1e+21"),
        (float("inf"), "+Inf"),
        (float("-inf"), "-Inf"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert gotext.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", '"plain"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("a\n\t\x01\x7f", r'"a\n\t\x01\x7f"'),
        ("é\u200b", '"é\\u200b"'),
        ("\U000e0001", '"\\U000e0001"'),
    ],
)
def test_quoted_text(value: str, text: str) -> None:
    assert gotext.quote(value) == text


def test_json_sorts_keys_escapes_html_and_writes_whole_floats_as_integers() -> None:
    assert gotext.json_text({"b": 1.0, "a": ["<&>", None, True]}) == ('{"a":["\\u003c\\u0026\\u003e",null,true],"b":1}')


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_float_reads_back(value: float) -> None:
    assert float(gotext.number(value)) == value
