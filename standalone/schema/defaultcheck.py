"""Judges the defaults of a schema by the schema itself: a default must be what an object may hold there.

Owns the faults of defaults. Applying them is in `default`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from standalone.schema.cel.evaluate import rule_faults
from standalone.schema.cel.rules import RuleNode
from standalone.schema.check import judged
from standalone.schema.equality import same
from standalone.schema.fault import NO_FIELD, Fault, invalid
from standalone.schema.node import ABSENT, Node
from standalone.schema.prune import prune_value
from standalone.schema.uniqueness import check_uniqueness


def default_faults(root: Node, rules: RuleNode | None, path: str) -> list[Fault]:
    """Return the faults of every default below the root of a schema at `path`."""
    return [
        fault
        for node, below, here in _positions(root, rules, path)
        if node.default is not ABSENT
        for fault in _faults_of(node, below, f"{here}.default")
    ]


def _positions(node: Node, rules: RuleNode | None, path: str) -> Iterator[tuple[Node, RuleNode | None, str]]:
    yield node, rules, path
    for name, child in node.properties.items():
        below = None if rules is None else rules.properties.get(name)
        yield from _positions(child, below, f"{path}.properties[{name}]")
    if node.items is not None:
        yield from _positions(node.items, None if rules is None else rules.items, f"{path}.items")
    if node.additional is not None:
        below = None if rules is None else rules.additional
        yield from _positions(node.additional, below, f"{path}.additionalProperties")


def _faults_of(node: Node, rules: RuleNode | None, path: str) -> list[Fault]:
    default = node.default
    if not same(_pruned(node, default), default):
        return [invalid(path, default, "must not have unknown fields")]
    faults = judged(node, default, None)
    check_uniqueness(node, default, ABSENT, None, faults)
    if not faults and rules is not None:
        faults = rule_faults(rules, default, ABSENT)
    return [replace(fault, field=_below(path, fault.field)) for fault in faults]


def _pruned(node: Node, default: Any) -> Any:
    pruned = copy.deepcopy(default)
    prune_value(node, pruned)
    return pruned


def _below(path: str, field: str) -> str:
    return path if field == NO_FIELD else f"{path}.{field}"
