"""The set of fields a value holds.

Owns the two readings of an object as a set: all of it (what a comparison adds or removes) and what an applied
configuration claims. Never compares values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from standalone.fields.element import item_element
from standalone.fields.shape import DEDUCED, Shape
from standalone.fields.trie import MEMBER, SELF, Trie
from standalone.schema.node import ListType


def is_unit(shape: Shape, value: Any) -> bool:
    """Return whether a value is owned as a whole: scalars, nulls, empty containers, atomic maps and lists."""
    if isinstance(value, dict):
        return not value or shape.atomic_map or not shape.takes_map
    if isinstance(value, list):
        return not value or shape.list_type is ListType.ATOMIC
    return True


def named_items(shape: Shape, items: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield each path element of a list once, in order, with the items it names: more than one are duplicates."""
    found: dict[str, list[Any]] = {}
    for item in items:
        element = item_element(shape, item)
        if element is not None:
            found.setdefault(element, []).append(item)
    yield from found.items()


def whole(shape: Shape, value: Any) -> Trie:
    """Return the set below a position with every field of `value`, containers included and the position itself."""
    if is_unit(shape, value):
        return MEMBER
    if isinstance(value, dict):
        return {SELF: MEMBER, **members(shape, value)}
    below: Trie = {SELF: MEMBER}
    for element, twins in named_items(shape, value):
        below[element] = whole(shape.item, twins[0]) if len(twins) == 1 else MEMBER
    return below


def members(shape: Shape, value: dict[str, Any]) -> Trie:
    """Return the whole of every member of a map."""
    return {"f:" + name: whole(shape.member(name) or DEDUCED, member) for name, member in value.items()}


def claimed(shape: Shape, value: Any) -> Trie:
    """Return the set below a position that applying `value` claims.

    Containers with a name in the schema are not claimed by what is in them, so that several managers can fill them;
    list items and entries of free maps are, so that they disappear when no one applies them.
    """
    if is_unit(shape, value):
        return MEMBER if value != [] or shape.list_type is ListType.ATOMIC else {}
    below: Trie = {}
    if isinstance(value, dict):
        for name, member in value.items():
            _claim(below, "f:" + name, shape.member(name) or DEDUCED, member, owned=name not in shape.fields)
        return below
    for element, twins in named_items(shape, value):
        if len(twins) > 1:
            below[element] = MEMBER
        else:
            _claim(below, element, shape.item, twins[0], owned=True)
    return below


def _claim(below: Trie, element: str, shape: Shape, value: Any, *, owned: bool) -> None:
    if is_unit(shape, value):
        # An empty list that is owned item by item claims nothing of its own.
        if owned or value != [] or shape.list_type is ListType.ATOMIC:
            below[element] = MEMBER
        return
    deeper = claimed(shape, value)
    if owned:
        below[element] = {SELF: MEMBER, **deeper} if deeper else MEMBER
    elif deeper:
        below[element] = deeper
