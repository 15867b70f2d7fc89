"""What changed between two objects, as three sets of fields.

Owns the comparison by shape. Equal sub-trees are skipped, so that the cost follows the size of the change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from standalone.fields.element import item_element
from standalone.fields.extent import is_unit, members, whole
from standalone.fields.shape import DEDUCED, Shape
from standalone.fields.trie import MEMBER, SELF, Trie, recursive_difference, union
from standalone.schema.equality import same


@dataclass(frozen=True, slots=True)
class Changes:
    """Fields only the old object has, fields with another value, and fields only the new one has; disjoint."""

    removed: Trie
    modified: Trie
    added: Trie

    @property
    def written(self) -> Trie:
        return union(self.modified, self.added)

    def without(self, excluded: Trie) -> Changes:
        """Leave out `excluded` and everything below it."""
        if not excluded:
            return self
        return Changes(*(recursive_difference(part, excluded) for part in (self.removed, self.modified, self.added)))


NO_CHANGES: Final = Changes({}, {}, {})


class _Below:
    """What changed below one position; None where the position itself and all below it have no such change."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self, removed: Trie | None, modified: Trie | None, added: Trie | None) -> None:
        self.removed = removed
        self.modified = modified
        self.added = added


def compare(shape: Shape, old: dict[str, Any], new: dict[str, Any]) -> Changes:
    """Return the fields that differ between two whole objects."""
    if same(old, new):
        return NO_CHANGES
    below = _compare_maps(shape, old, new)
    return Changes(below.removed or {}, below.modified or {}, below.added or {})


def _compare(shape: Shape, old: Any, new: Any) -> _Below | None:
    if same(old, new):
        return None
    old_form, new_form = _form(shape, old), _form(shape, new)
    if old_form is None and new_form is None:
        return _Below(None, MEMBER, None)
    if dict in (old_form, new_form) and _alike(old, old_form, new, new_form, dict):
        return _compare_maps(shape, old or {}, new or {})
    if list in (old_form, new_form) and _alike(old, old_form, new, new_form, list):
        return _compare_lists(shape, old or [], new or [])
    removed = whole(shape, old) if old_form else None
    added = whole(shape, new) if new_form else None
    return _Below(_inner(removed), MEMBER, _inner(added))


def _form(shape: Shape, value: Any) -> type | None:
    """Return dict or list for a value that is owned part by part, else None."""
    return None if is_unit(shape, value) else type(value)


def _alike(old: Any, old_form: type | None, new: Any, new_form: type | None, form: type) -> bool:
    """Both sides have the form, or one side has it and the other is null or empty."""
    return all(
        mine is form or value is None or (type(value) is form and not value)
        for value, mine in ((old, old_form), (new, new_form))
    )


def _inner(below: Trie | None) -> Trie | None:
    if not below:
        return None
    return {element: deeper for element, deeper in below.items() if element != SELF}


def _compare_maps(shape: Shape, old: dict[str, Any], new: dict[str, Any]) -> _Below:
    removed: Trie = {}
    modified: Trie = {}
    added: Trie = {}
    for name, before in old.items():
        element = "f:" + name
        if name not in new:
            removed[element] = whole(shape.member(name) or DEDUCED, before)
        elif (below := _compare(shape.member(name) or DEDUCED, before, new[name])) is not None:
            _attach(element, below, removed, modified, added)
    fresh = {name: member for name, member in new.items() if name not in old}
    added |= members(shape, fresh)
    return _Below(removed or None, modified or None, added or None)


def _attach(element: str, below: _Below, removed: Trie, modified: Trie, added: Trie) -> None:
    if below.removed is not None:
        removed[element] = below.removed
    if below.modified is not None:
        modified[element] = below.modified
    if below.added is not None:
        added[element] = below.added


def _compare_lists(shape: Shape, old: list[Any], new: list[Any]) -> _Below:
    before, after = _by_element(shape, *_unequal_parts(old, new))
    removed: Trie = {}
    modified: Trie = {}
    added: Trie = {}
    for element in dict.fromkeys([*before, *after]):
        mine, theirs = before.get(element, []), after.get(element, [])
        _compare_items(shape, element, mine, theirs, (removed, modified, added))
    return _Below(removed or None, modified or None, added or None)


def _compare_items(shape: Shape, element: str, old: list[Any], new: list[Any], out: tuple[Trie, Trie, Trie]) -> None:
    """Compare the items one element names; duplicates, which only old data can hold, are a unit together."""
    removed, modified, added = out
    if len(old) > 1 and len(new) > 1:
        if not same(old, new):
            modified[element] = MEMBER
        return
    if len(old) > 1:
        removed[element] = MEMBER
        old = []
    if len(new) > 1:
        added[element] = MEMBER
        new = []
    if old and new:
        if (below := _compare(shape.item, old[0], new[0])) is not None:
            _attach(element, below, removed, modified, added)
    elif old:
        removed[element] = union(removed.get(element, {}), whole(shape.item, old[0]))
    elif new:
        added[element] = union(added.get(element, {}), whole(shape.item, new[0]))


def _by_element(shape: Shape, old: list[Any], new: list[Any]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    sides: tuple[dict[str, list[Any]], dict[str, list[Any]]] = ({}, {})
    for side, items in zip(sides, (old, new), strict=True):
        for item in items:
            element = item_element(shape, item)
            if element is not None:
                side.setdefault(element, []).append(item)
    return sides


def _unequal_parts(old: list[Any], new: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the items left when equal ones at the head, at the tail and at equal positions are dropped.

    Naming an item costs more than comparing it, and most items of a large list did not change.
    """
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < shorter - head and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old) != len(new):
        return old, new
    differing = [index for index in range(len(old)) if not same(old[index], new[index])]
    return [old[index] for index in differing], [new[index] for index in differing]
