"""Sets of field paths, kept in the FieldsV1 form they are stored in (meta/v1 ManagedFieldsEntry).

A set is a dict from path element (`f:spec`, `k:{"name":"a"}`, `v:"x"`) to the set below it. An element is itself a
member when the set below it is empty or holds `.`. Owns the algebra of such sets. Sets are values: no function here
changes one it was given, and results share what did not change. The empty set is {}.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

Trie = dict[str, "Trie"]

SELF: Final = "."
MEMBER: Final[Trie] = {}
"""What stands below an element that is a member and has no members below it; never change it."""


def is_member(below: Trie) -> bool:
    """Return whether the element with `below` under it belongs to its set."""
    return not below or SELF in below


def union(left: Trie, right: Trie) -> Trie:
    if not right or left is right:
        return left
    if not left:
        return right
    result = dict(left)
    for element, below in right.items():
        mine = result.get(element)
        result[element] = below if mine is None else _union_below(mine, below)
    return result


def _union_below(left: Trie, right: Trie) -> Trie:
    if left is right or left == right:
        return left
    joined = union(_children(left), _children(right))
    return _node(is_member(left) or is_member(right), joined)


def difference(left: Trie, right: Trie) -> Trie:
    """Return `left` without the members of `right`; members below a removed one stay."""
    result: Trie | None = None
    for element, theirs in right.items():
        mine = left.get(element)
        if mine is None or element == SELF:
            continue
        kept = _node_or_none(is_member(mine) and not is_member(theirs), difference(_children(mine), _children(theirs)))
        if kept == mine:
            continue
        result = dict(left) if result is None else result
        _place(result, element, kept)
    return left if result is None else result


def recursive_difference(left: Trie, right: Trie) -> Trie:
    """Return `left` without the members of `right` and without everything below them."""
    result: Trie | None = None
    for element, theirs in right.items():
        mine = left.get(element)
        if mine is None or element == SELF:
            continue
        gone = is_member(theirs)
        kept = None if gone else _node_or_none(is_member(mine), recursive_difference(_children(mine), theirs))
        if kept == mine:
            continue
        result = dict(left) if result is None else result
        _place(result, element, kept)
    return left if result is None else result


def intersection(left: Trie, right: Trie) -> Trie:
    if len(right) < len(left):
        left, right = right, left
    result: Trie = {}
    for element, mine in left.items():
        theirs = right.get(element)
        if theirs is None or element == SELF:
            continue
        both = is_member(mine) and is_member(theirs)
        shared = _node_or_none(both, intersection(_children(mine), _children(theirs)))
        if shared is not None:
            result[element] = shared
    return result


def contains(whole: Trie, part: Trie) -> bool:
    """Return whether every member of `part` is a member of `whole`."""
    if whole is part:
        return True
    for element, below in part.items():
        if element == SELF:
            continue
        mine = whole.get(element)
        if mine is None or (is_member(below) and not is_member(mine)):
            return False
        if below and not contains(mine, below):
            return False
    return True


def has_path(fields: Trie, path: tuple[str, ...]) -> bool:
    """Return whether the path is a member."""
    below: Trie | None = fields
    for element in path:
        below = None if below is None else below.get(element)
    return below is not None and is_member(below)


def paths(fields: Trie, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every member path, sorted, each before those below it."""
    for element in sorted(fields):
        if element == SELF:
            continue
        below = fields[element]
        here = (*above, element)
        if is_member(below):
            yield here
        yield from paths(below, here)


def _children(below: Trie) -> Trie:
    if SELF not in below:
        return below
    return {element: deeper for element, deeper in below.items() if element != SELF}


def _node(member: bool, children: Trie) -> Trie:
    return {SELF: {}, **children} if member and children else children


def _node_or_none(member: bool, children: Trie) -> Trie | None:
    return _node(member, children) if member or children else None


def _place(result: Trie, element: str, below: Trie | None) -> None:
    if below is None:
        del result[element]
    else:
        result[element] = below
