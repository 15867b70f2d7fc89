"""Drops fields a structural schema does not know, in place, and says which.

Owns pruning, including what `x-kubernetes-preserve-unknown-fields` and embedded resources keep. Never validates.
"""

from __future__ import annotations

from typing import Any, Final

from standalone.schema.equality import same
from standalone.schema.node import ABSENT, Node

TYPE_AND_OBJECT_META: Final = frozenset({"apiVersion", "kind", "metadata"})
_NOTHING_KNOWN: Final = Node()


def prune_object(root: Node, obj: dict[str, Any], old: Any = ABSENT) -> list[str]:
    """Prune a whole object and return the paths of what was dropped, sorted, as fieldValidation reports them.

    `old`, when given, is an object already pruned by the same schema: sub-trees equal to it are left alone.
    """
    dropped: list[str] = []
    previous = old if isinstance(old, dict) else {}
    if root.preserve_unknown:
        _descend_known(root, obj, previous, "", dropped, is_resource=True)
    else:
        _prune_members(root, obj, previous, "", dropped, is_resource=True)
    return sorted(dropped)


def prune_value(node: Node, value: Any) -> None:
    """Prune a value at some position of a schema, in place."""
    _prune(node, value, ABSENT, "", [])


def _prune(node: Node, value: Any, old: Any, path: str, dropped: list[str]) -> None:
    if old is not ABSENT and same(value, old):
        return
    if isinstance(value, dict):
        previous = old if isinstance(old, dict) else {}
        if node.preserve_unknown:
            _descend_known(node, value, previous, path, dropped, is_resource=node.embedded)
        else:
            _prune_members(node, value, previous, path, dropped, is_resource=node.embedded)
    elif isinstance(value, list):
        _prune_items(node, value, old if isinstance(old, list) else [], path, dropped)


def _prune_members(
    node: Node, value: dict[str, Any], old: dict[str, Any], path: str, dropped: list[str], *, is_resource: bool
) -> None:
    unknown: list[str] = []
    for name, member in value.items():
        if is_resource and name in TYPE_AND_OBJECT_META:
            continue
        child = node.properties.get(name)
        if child is None:
            if not node.additional_declared:
                unknown.append(name)
                continue
            child = node.additional or _NOTHING_KNOWN
        if type(member) is dict or type(member) is list:
            _prune(child, member, old.get(name, ABSENT), _joined(path, name), dropped)
    for name in unknown:
        del value[name]
        dropped.append(_joined(path, name))


def _descend_known(
    node: Node, value: dict[str, Any], old: dict[str, Any], path: str, dropped: list[str], *, is_resource: bool
) -> None:
    """Keep every member, but prune inside those the schema specifies."""
    for name, member in value.items():
        if is_resource and name in TYPE_AND_OBJECT_META:
            continue
        child = node.properties.get(name, node.additional)
        if child is not None:
            _prune(child, member, old.get(name, ABSENT), _joined(path, name), dropped)


def _prune_items(node: Node, value: list[Any], old: list[Any], path: str, dropped: list[str]) -> None:
    if node.items is None and node.preserve_unknown:
        return
    below = node.items or _NOTHING_KNOWN
    for index, item in enumerate(value):
        if type(item) is dict or type(item) is list:
            _prune(below, item, old[index] if index < len(old) else ABSENT, f"{path}[{index}]", dropped)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
