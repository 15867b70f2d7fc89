"""Exact equality."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.schema.equality import same

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2).map(round) | st.sampled_from([0.0, 1.0, "", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {"map": sorted((name, _typed(member)) for name, member in value.items())} if value else "empty map"
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return (type(value).__name__, repr(value))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, True, False),
        (1, 1.0, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([2**70], [2**70], True),
        ([2**70, 1], [2**70, True], False),
        ([], {}, False),
    ],
)
def test_types_count(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal


@given(JSON, JSON)
def test_same_means_equal_with_types(left: Any, right: Any) -> None:
    assert same(left, right) == (repr(_typed(left)) == repr(_typed(right)))
    assert same(left, copy.deepcopy(left))
