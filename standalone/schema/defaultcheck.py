"""Judges the defaults of a schema by the schema itself: a default must be what an object may hold there.

Owns the faults of defaults. Applying them is in `default`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from standalone.schema.cel.apart import faults_of
from standalone.schema.cel.rules import RuleNode
from standalone.schema.check import judged
from standalone.schema.equality import same
from standalone.schema.fault import NO_FIELD, Fault, invalid
from standalone.schema.node import ABSENT, Node
from standalone.schema.prune import prune_value
from standalone.schema.uniqueness import check_uniqueness


def default_faults(root: Node, path: str) -> list[Fault]:
    """Return what every default of a schema at `path` violates, rules aside."""
    return [
        fault
        for node, here in _positions(root, path)
        if node.default is not ABSENT
        for fault in _faults_of(node, f"{here}.default")
    ]


def default_rule_faults(node: Node, rules: RuleNode, path: str) -> list[Fault]:
    """Return the rules that defaults violate."""
    faults = []
    if node.default is not ABSENT:
        found = faults_of(rules, node.default, ABSENT)
        faults += [replace(fault, field=_below(f"{path}.default", fault.field)) for fault in found]
    for name, below in rules.properties.items():
        faults += default_rule_faults(node.properties[name], below, f"{path}.properties[{name}]")
    if node.items is not None and rules.items is not None:
        faults += default_rule_faults(node.items, rules.items, f"{path}.items")
    if node.additional is not None and rules.additional is not None:
        faults += default_rule_faults(node.additional, rules.additional, f"{path}.additionalProperties")
    return faults


def _positions(node: Node, path: str) -> Iterator[tuple[Node, str]]:
    yield node, path
    for name, child in node.properties.items():
        yield from _positions(child, f"{path}.properties[{name}]")
    if node.items is not None:
        yield from _positions(node.items, f"{path}.items")
    if node.additional is not None:
        yield from _positions(node.additional, f"{path}.additionalProperties")


def _faults_of(node: Node, path: str) -> list[Fault]:
    default = node.default
    if not same(_pruned(node, default), default):
        return [invalid(path, default, "must not have unknown fields")]
    faults = judged(node, default, None)
    check_uniqueness(node, default, ABSENT, None, faults)
    return [replace(fault, field=_below(path, fault.field)) for fault in faults]


def _pruned(node: Node, default: Any) -> Any:
    pruned = copy.deepcopy(default)
    prune_value(node, pruned)
    return pruned


def _below(path: str, field: str) -> str:
    return path if field == NO_FIELD else f"{path}.{field}"
