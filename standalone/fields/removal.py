"""Drops what a manager applied before and applies no longer.

Owns the decision what goes: only fields this manager applied last time, does not apply now, and nobody else owns.
"""

from __future__ import annotations

from typing import Any

from standalone.fields.element import item_element
from standalone.fields.extent import claimed, is_unit
from standalone.fields.managed import Managers
from standalone.fields.shape import DEDUCED, Shape
from standalone.fields.trie import MEMBER, SELF, Trie, contains, difference, intersection, is_member, union


def drop_unapplied(shape: Shape, merged: dict[str, Any], last: Trie, managers: Managers) -> dict[str, Any]:
    """Return `merged` without the fields of `last` that none of `managers`, the applier's new claims included, owns."""
    owned: Trie = {}
    for entry in managers.values():
        owned = union(owned, entry.fields)
    if contains(owned, last):
        return merged
    last_named = with_named_fields(shape, last)
    everything = with_named_fields(shape, claimed(shape, merged))
    stripped = remove(shape, merged, last_named)
    kept = union(with_named_fields(shape, claimed(shape, stripped)), with_named_fields(shape, owned))
    pruned = remove(shape, merged, difference(everything, kept))
    gone = difference(everything, with_named_fields(shape, claimed(shape, pruned)))
    result = remove(shape, merged, intersection(gone, last_named))
    return result if isinstance(result, dict) else {}


def with_named_fields(shape: Shape, fields: Trie) -> Trie:
    """Add the fields named in the schema that have members below them but are none themselves."""
    result: Trie = {}
    for element, below in fields.items():
        if element == SELF or not below:
            result[element] = below
            continue
        child = _child(shape, element)
        deeper = with_named_fields(child, below)
        if element.startswith("f:") and element[2:] in shape.fields and SELF not in deeper:
            deeper = {SELF: MEMBER, **deeper}
        result[element] = deeper
    return result


def _child(shape: Shape, element: str) -> Shape:
    if element.startswith("f:"):
        return shape.member(element[2:]) or DEDUCED
    return shape.item


def remove(shape: Shape, value: Any, fields: Trie) -> Any:
    """Return `value` without `fields`; containers that become empty become null, as nothing is left to own them."""
    if not fields:
        return value
    if is_unit(shape, value):
        return None if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return _remove_members(shape, value, fields)
    return _remove_items(shape, value, fields)


def _remove_members(shape: Shape, value: dict[str, Any], fields: Trie) -> dict[str, Any] | None:
    result = {}
    for name, member in value.items():
        below = fields.get("f:" + name)
        if below is None:
            result[name] = member
        elif not is_member(below):
            result[name] = remove(shape.member(name) or DEDUCED, member, below)
    return result or None


def _remove_items(shape: Shape, value: list[Any], fields: Trie) -> list[Any] | None:
    result = []
    for item in value:
        element = item_element(shape, item)
        below = None if element is None else fields.get(element)
        if below is None:
            result.append(item)
        elif not is_member(below):
            result.append(remove(shape.item, item, below))
    return result or None
