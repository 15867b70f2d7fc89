"""JSON merge patch: RFC 7386, appendix A and properties."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.patch import PatchError, merge_patch

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4)


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_examples_of_the_rfc(document: Any, patch: Any, result: Any) -> None:
    assert merge_patch(document, patch) == result


@pytest.mark.parametrize(("patch", "found"), [(None, "null"), ([], "a list"), ("x", "a string"), (1, "a number")])
def test_only_objects_can_be_merged_into_an_object(patch: Any, found: str) -> None:
    with pytest.raises(PatchError, match=f"must be an object, found {found}") as refused:
        merge_patch({}, patch)
    assert refused.value.status_code == 400


@given(OBJECTS, OBJECTS)
def test_merging_twice_is_merging_once_and_changes_nothing_given(document: Any, patch: Any) -> None:
    before = copy.deepcopy((document, patch))
    once = merge_patch(document, patch)
    assert merge_patch(once, patch) == once
    assert (document, patch) == before


@given(OBJECTS, OBJECTS)
def test_every_member_follows_the_patch_or_stays(document: Any, patch: Any) -> None:
    result = merge_patch(document, patch)
    for name in {*document, *patch}:
        if name not in patch:
            assert result[name] is document[name]
        elif patch[name] is None:
            assert name not in result
        elif not isinstance(patch[name], dict):
            assert result[name] == patch[name]
        elif isinstance(document.get(name), dict):
            assert result[name] == merge_patch(document[name], patch[name])
