"""Set and map lists: their items, or their items' keys, must be unique.

Owns the duplicate faults. `check` owns the shape of the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from standalone.schema import gotext
from standalone.schema.equality import same
from standalone.schema.fault import Fault, duplicate, invalid
from standalone.schema.node import ABSENT, ListType, Node
from standalone.schema.path import Path, spelled_with_keys


def check_uniqueness(node: Node, value: Any, old: Any, path: Path | None, faults: list[Fault]) -> None:
    """Append a fault for the second appearance of each item or key.

    `old` is the value at the same place before the update, or ABSENT; equal sub-trees are skipped.
    """
    if not node.keyed_lists_below or (old is not ABSENT and same(value, old)):
        return
    if isinstance(value, list):
        _check_list(node, value, old, path, faults)
    elif isinstance(value, dict):
        for name, member in value.items():
            child = node.properties.get(name)
            below = child or node.additional
            if below is not None and below.keyed_lists_below:
                earlier = old.get(name, ABSENT) if isinstance(old, dict) else ABSENT
                check_uniqueness(below, member, earlier, Path(path, name, child is None), faults)


def _check_list(node: Node, value: list[Any], old: Any, path: Path | None, faults: list[Fault]) -> None:
    if node.list_type is ListType.SET:
        twins = _second_appearances(map(_identity, value))
        faults.extend(duplicate(spelled_with_keys(Path(path, index)), value[index]) for index in twins)
    elif node.list_type is ListType.MAP:
        _check_map(node.list_map_keys, value, path, faults)
    if node.items is not None and node.items.keyed_lists_below:
        for index, item in enumerate(value):
            earlier = old[index] if isinstance(old, list) and index < len(old) else ABSENT
            check_uniqueness(node.items, item, earlier, Path(path, index), faults)


def _check_map(keys: tuple[str, ...], value: list[Any], path: Path | None, faults: list[Fault]) -> None:
    for index, item in enumerate(value):
        if item is not None and type(item) is not dict:
            detail = "must be an object for an array of list-type map"
            faults.append(invalid(spelled_with_keys(Path(path, index)), item, detail))
            return
    found = [{key: item[key] for key in keys if key in item} if item else {} for item in value]
    twins = _second_appearances(_key_identity(keys, key) for key in found)
    faults.extend(duplicate(spelled_with_keys(Path(path, index)), found[index]) for index in twins)


def _key_identity(keys: tuple[str, ...], key: dict[str, Any]) -> Hashable:
    return tuple(_identity(key[name]) if name in key else ABSENT for name in keys)


def _identity(value: Any) -> Hashable:
    if type(value) is str:
        return value
    if type(value) is dict or type(value) is list:
        return (type(value).__name__, gotext.json_text(value))
    return (type(value).__name__, value)


def _second_appearances(identities: Iterable[Hashable]) -> list[int]:
    times: dict[Hashable, int] = {}
    seconds: list[int] = []
    for index, identity in enumerate(identities):
        times[identity] = seen = times.get(identity, 0) + 1
        if seen == 2:
            seconds.append(index)
    return seconds
