"""Fills in defaults and drops nulls the schema does not admit, in place, as Kubernetes does while decoding.

Owns the two walks over an object. Never validates: a default that violates the schema is refused with the schema.
"""

from __future__ import annotations

import copy
from typing import Any

from standalone.schema.equality import same
from standalone.schema.node import ABSENT, Node


def apply_defaults(node: Node, value: Any, old: Any = ABSENT) -> None:
    """Set what is missing below `value`.

    `old`, when given, is an object already defaulted by the same schema: sub-trees equal to it are left alone, so the
    cost follows the size of the change.
    """
    if old is not ABSENT and same(value, old):
        return
    if isinstance(value, dict):
        _default_members(node, value, old if isinstance(old, dict) else {})
    elif isinstance(value, list):
        _default_items(node, value, old if isinstance(old, list) else [])


def _default_members(node: Node, value: dict[str, Any], old: dict[str, Any]) -> None:
    if node.defaults_below:
        for name, child in node.properties.items():
            if child.default is not ABSENT and _wants_default(child, value.get(name, ABSENT)):
                value[name] = copy.deepcopy(child.default)
    for name, member in list(value.items()):
        below = node.properties.get(name, node.additional)
        if below is None:
            continue
        if member is None:
            if not below.nullable:
                del value[name]
        elif type(member) is dict or type(member) is list:
            apply_defaults(below, member, old.get(name, ABSENT))


def _wants_default(child: Node, member: Any) -> bool:
    return member is ABSENT or (member is None and not child.nullable)


def _default_items(node: Node, value: list[Any], old: list[Any]) -> None:
    if node.items is None:
        return
    for index, item in enumerate(value):
        if item is None and not node.items.nullable and node.items.default is not ABSENT:
            value[index] = copy.deepcopy(node.items.default)
        else:
            apply_defaults(node.items, item, old[index] if index < len(old) else ABSENT)
