"""Finds the earlier value that a part of an updated object continues.

Owns Kubernetes' rules of correlation: members by name, items of map lists by their keys, nothing inside other lists.
Never compares the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from standalone.schema.node import ABSENT, ListType, Node


def old_member(old: Any, name: str, member: Any) -> Any:
    """Return the earlier member, or ABSENT."""
    return old.get(name, ABSENT) if type(old) is dict and member is not None else ABSENT


def old_items(node: Node, value: Sequence[Any], old: Any) -> list[Any] | None:
    """Return one earlier item or ABSENT for each item of `value`; None when no item has a predecessor."""
    if node.list_type is not ListType.MAP or not isinstance(old, list) or not old:
        return None
    by_key: dict[Any, Any] = {}
    for item in old:
        key = map_key(node, item)
        if key is not None:
            by_key.setdefault(key, item)
    return [ABSENT if (key := map_key(node, item)) is None else by_key.get(key, ABSENT) for item in value]


def map_key(node: Node, item: Any) -> Any:
    """Return a hashable identity of a map-list item; None when the item cannot have one.

    Booleans and numbers are told apart. An item that lacks one of its keys is nobody's successor.
    """
    if type(item) is not dict:
        return None
    values = [item.get(key) for key in node.list_map_keys]
    if any(value is None or type(value) is dict or type(value) is list for value in values):
        return None
    return tuple(value if type(value) is str else (type(value).__name__, value) for value in values)
