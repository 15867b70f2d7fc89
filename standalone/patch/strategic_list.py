"""Lists of a strategic merge patch: merged by key or by value, and put in order.

Owns the directives inside lists and the order of merged lists: items of the patch in the patch's order, all others
where they stood relative to them. Never merges maps: it is given the function that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from standalone.patch.error import inapplicable, malformed
from standalone.patch.mergekey import MergedList, MergeFields

_DIRECTIVE: Final = "$patch"

JsonObject = dict[str, Any]
MergeMaps = Callable[[JsonObject, JsonObject, MergeFields], JsonObject]


def merge_items(original: list[Any], patch: list[Any], merged_list: MergedList, merge_maps: MergeMaps) -> list[Any]:
    """Return the merged list. Raises PatchError 422 for an item without its key or of another type."""
    if not original and not patch:
        return original
    kinds = {dict if isinstance(item, dict) else list if isinstance(item, list) else None for item in original + patch}
    if list in kinds:
        raise inapplicable("lists of lists are not supported")
    if len(kinds) > 1:
        raise inapplicable("list element types are not identical")
    if kinds == {None}:
        return in_order(_distinct(original + patch), patch, original, "")
    return _merge_maps_by_key(original, patch, merged_list, merge_maps)


def _merge_maps_by_key(
    original: list[Any], patch: list[Any], merged_list: MergedList, merge_maps: MergeMaps
) -> list[Any]:
    key = merged_list.key
    if not key:
        raise inapplicable("cannot merge lists without merge key")
    kept, wanted = _directed(original, patch, key)
    merged = list(kept)
    for item in wanted:
        value = _key_of(item, key)
        place = next((index for index, each in enumerate(merged) if each.get(key) == value), None)
        if place is None:
            merged.append(item)
        else:
            merged[place] = merge_maps(merged[place], item, merged_list.items)
    return in_order(merged, wanted, kept, key)


def _directed(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Carry out `$patch: delete` and `$patch: replace` items; return what is left of both lists."""
    kept = original
    wanted = [item for item in patch if _DIRECTIVE not in item]
    replaces = False
    for item in patch:
        directive = item.get(_DIRECTIVE)
        if directive == "delete":
            value = _key_of(item, key)
            kept = [each for each in kept if each.get(key) != value]
        elif directive == "replace":
            replaces = True
        elif _DIRECTIVE in item:
            raise malformed(f"unknown patch type: {directive}; a list item takes `$patch: replace` or `$patch: delete`")
    return (wanted, []) if replaces else (kept, wanted)


def _key_of(item: JsonObject, key: str) -> Any:
    if key not in item:
        raise inapplicable(f"map: {item} does not contain declared merge key: {key}")
    return item[key]


def in_order(merged: list[Any], order: Sequence[Any], server_order: Sequence[Any], key: str) -> list[Any]:
    """Sort the items named in `order` by it, the others by `server_order`, and weave the two together.

    An item not in `order` comes before the first ordered item that stood after it on the server.
    """
    places = {_identity(item, key): place for place, item in reversed(list(enumerate(order)))}
    server_places = {_identity(item, key): place for place, item in reversed(list(enumerate(server_order)))}
    ordered = [item for item in merged if _identity(item, key) in places]
    ordered.sort(key=lambda item: places[_identity(item, key)])
    others = [item for item in merged if _identity(item, key) not in places]
    others.sort(key=lambda item: server_places.get(_identity(item, key), -1))
    return _woven(others, ordered, [server_places.get(_identity(item, key)) for item in others + ordered])


def _woven(others: list[Any], ordered: list[Any], server_places: list[int | None]) -> list[Any]:
    woven: list[Any] = []
    left, right = 0, 0
    while left < len(others) and right < len(ordered):
        mine, theirs = server_places[left], server_places[len(others) + right]
        if mine is not None and theirs is not None and mine < theirs:
            woven.append(others[left])
            left += 1
        else:
            woven.append(ordered[right])
            right += 1
    return woven + others[left:] + ordered[right:]


def removed_values(current: list[Any], values: list[Any]) -> list[Any]:
    """Return `current` without the given scalars."""
    unwanted = {_identity(value, "") for value in values}
    return [item for item in current if _identity(item, "") not in unwanted]


def _distinct(items: list[Any]) -> list[Any]:
    return list({_identity(item, ""): item for item in items}.values())


def _identity(item: Any, key: str) -> Any:
    value = item.get(key) if isinstance(item, dict) else item
    return (type(value).__name__, str(value))
