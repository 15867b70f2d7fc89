"""The algebra of field sets, held against sets of paths."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from standalone.fields.trie import (
    Trie,
    contains,
    difference,
    has_path,
    intersection,
    paths,
    recursive_difference,
    union,
)

PATHS = st.sets(st.lists(st.sampled_from(["f:a", "f:b", 'v:"c"']), min_size=1, max_size=3).map(tuple), max_size=6)


def trie(members: Any) -> Trie:
    """Build the FieldsV1 form from paths, one by one."""
    built: Trie = {}
    for path in sorted(members, key=len, reverse=True):
        here = built
        for element in path:
            here = here.setdefault(element, {})
        if here:
            here["."] = {}
    return built


def members(fields: Trie) -> set[tuple[str, ...]]:
    return set(paths(fields))


@given(PATHS)
def test_paths_read_back(one: Any) -> None:
    assert members(trie(one)) == one
    assert all(has_path(trie(one), path) for path in one)


@given(PATHS, PATHS)
def test_union(one: Any, two: Any) -> None:
    assert union(trie(one), trie(two)) == trie(one | two)


@given(PATHS, PATHS)
def test_difference(one: Any, two: Any) -> None:
    assert difference(trie(one), trie(two)) == trie(one - two)


@given(PATHS, PATHS)
def test_recursive_difference(one: Any, two: Any) -> None:
    kept = {path for path in one if not any(path[: len(other)] == other for other in two)}
    assert recursive_difference(trie(one), trie(two)) == trie(kept)


@given(PATHS, PATHS)
def test_intersection(one: Any, two: Any) -> None:
    assert intersection(trie(one), trie(two)) == trie(one & two)


@given(PATHS, PATHS)
def test_contains(one: Any, two: Any) -> None:
    assert contains(trie(one), trie(two)) == (two <= one)


@given(PATHS, PATHS)
def test_nothing_given_is_changed(one: Any, two: Any) -> None:
    left, right = trie(one), trie(two)
    for operation in (union, difference, recursive_difference, intersection, contains):
        operation(left, right)
    assert left == trie(one)
    assert right == trie(two)
