"""Merges an applied configuration into an object.

Owns the merge by shape: members and named items one by one, units as a whole; order of lists included. Results share
what did not change. Removing what is no longer applied is in `removal`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from standalone.fields.element import item_element
from standalone.fields.shape import DEDUCED, Shape
from standalone.schema.node import ListType


def merge(shape: Shape, live: Any, applied: Any) -> Any:
    """Return `live` with `applied` over it; `live` itself when that changes nothing."""
    if _is_map(shape, live, applied):
        return _merge_maps(shape, live or {}, applied or {})
    if _is_list(shape, live, applied):
        return _merge_lists(shape, live or [], applied or [])
    return live if type(live) is type(applied) and live == applied and not live else applied


def _is_map(shape: Shape, live: Any, applied: Any) -> bool:
    """Return whether both sides merge member by member; null is an empty map, but two empty sides are a unit."""
    if shape.atomic_map or not shape.takes_map or not (live or applied):
        return False
    return isinstance(applied, dict | None) and isinstance(live, dict | None)


def _is_list(shape: Shape, live: Any, applied: Any) -> bool:
    if shape.list_type is ListType.ATOMIC or not (live or applied):
        return False
    return isinstance(applied, list | None) and isinstance(live, list | None)


def _merge_maps(shape: Shape, live: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] | None = None
    for name, wanted in applied.items():
        if name in live:
            found = live[name]
            merged = merge(shape.member(name) or DEDUCED, found, wanted)
            if merged is found:
                continue
        else:
            merged = wanted
        result = dict(live) if result is None else result
        result[name] = merged
    return live if result is None else result


def _merge_lists(shape: Shape, live: list[Any], applied: list[Any]) -> list[Any]:
    """Items of `applied` keep their order, items only in `live` stay where they stood relative to shared ones."""
    wanted = {element: item for item in applied if (element := item_element(shape, item)) is not None}
    present: dict[str, Any] = {}
    order: list[tuple[str, Any]] = []
    for item in live:
        element = item_element(shape, item)
        if element is None:
            continue
        order.append((element, item))
        # Duplicates, which only old data can hold, are replaced rather than merged.
        present[element] = None if element in present else item
    result = [_merged_item(shape, element, item, wanted, present) for element, item in _merged_order(order, wanted)]
    unchanged = len(result) == len(live) and all(mine is theirs for mine, theirs in zip(result, live, strict=True))
    return live if unchanged else result


def _merged_item(shape: Shape, element: str, item: Any, wanted: dict[str, Any], present: dict[str, Any]) -> Any:
    if element not in wanted:
        return item
    found = present.get(element)
    return wanted[element] if found is None else merge(shape.item, found, wanted[element])


def _merged_order(order: list[tuple[str, Any]], wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every element once, in the order of the merged list, with the live item of those that are not wanted."""
    live_elements = {element for element, _ in order}
    shared = iter([element for element in wanted if element in live_elements])
    next_shared = next(shared, None)
    applied = list(wanted)
    done: set[str] = set()
    left, right = 0, 0
    while left < len(order) or right < len(applied):
        if left < len(order):
            element, item = order[left]
            if element not in wanted:
                yield element, item
                left += 1
                continue
            if element in done or (right < len(applied) and element != applied[right] and element != next_shared):
                left += 1
                continue
        if right < len(applied):
            element = applied[right]
            done.add(element)
            yield element, None
            right += 1
            if left < len(order) and order[left][0] == element:
                left += 1
            if element == next_shared:
                next_shared = next(shared, None)
