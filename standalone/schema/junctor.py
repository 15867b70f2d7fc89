"""allOf, anyOf, oneOf and not: which alternatives hold, and whose objections are worth showing.

Owns the summary faults and the choice of the closest alternative. The alternatives themselves are judged by `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from standalone.schema import gotext
from standalone.schema.fault import NO_FIELD, Fault, invalid
from standalone.schema.jsontype import json_type, type_fits
from standalone.schema.node import Node
from standalone.schema.path import Path, spelled

Judge = Callable[[Node, Any, Path | None], list[Fault]]
"""Returns what is wrong with a value at a path, judged against one node."""


def check_junctors(node: Node, value: Any, path: Path | None, faults: list[Fault], judge: Judge) -> None:
    """Append what the junctors of `node` object to."""
    name = gotext.quote(spelled(path))
    if node.any_of:
        faults.extend(_any_of_faults(node.any_of, value, [judge(choice, value, path) for choice in node.any_of], name))
    if node.one_of:
        faults.extend(_one_of_faults(node.one_of, value, [judge(choice, value, path) for choice in node.one_of], name))
    if node.all_of:
        faults.extend(_all_of_faults([judge(part, value, path) for part in node.all_of], name))
    if node.not_ is not None and not judge(node.not_, value, path):
        faults.append(_summary(f"{name} must not validate the schema (not)"))


def _any_of_faults(choices: Sequence[Node], value: Any, verdicts: Sequence[list[Fault]], name: str) -> list[Fault]:
    if not all(verdicts):
        return []
    summary = _summary(f"{name} must validate at least one schema (anyOf)")
    return [summary, *_closest(choices, value, verdicts)]


def _one_of_faults(choices: Sequence[Node], value: Any, verdicts: Sequence[list[Fault]], name: str) -> list[Fault]:
    holding = sum(not objections for objections in verdicts)
    if holding == 1:
        return []
    found = f"Found {holding} valid alternatives" if holding else "Found none valid"
    summary = _summary(f"{name} must validate one and only one schema (oneOf). {found}")
    return [summary] if holding else [summary, *_closest(choices, value, verdicts)]


def _all_of_faults(verdicts: Sequence[list[Fault]], name: str) -> list[Fault]:
    if not any(verdicts):
        return []
    extent = ". None validated" if all(verdicts) else ""
    objections = [fault for verdict in verdicts for fault in verdict]
    return [*objections, _summary(f"{name} must validate all the schemas (allOf){extent}")]


def _summary(detail: str) -> Fault:
    return invalid(NO_FIELD, "", detail)


def _closest(choices: Sequence[Node], value: Any, verdicts: Sequence[list[Fault]]) -> list[Fault]:
    """Return the objections of the alternative with the most parts that hold; the first one wins a tie."""
    scores = [_held_parts(choice, value) for choice in choices]
    return verdicts[scores.index(max(scores))]


def _held_parts(node: Node, value: Any) -> int:
    """Count what holds the way Kubernetes counts it when it picks the objections to report.

    Two for the node, two for its junctors and what they add, one or two for its type, and for what the value holds.
    """
    if value is None:
        return int(not node.types or node.nullable)
    kind = json_type(value)
    typed = 1 + type_fits(node, value, kind) if node.types or node.format else 0
    held = 4 + typed + sum(_held_parts(part, value) for part in node.all_of)
    for choices in (node.any_of, node.one_of):
        held += max((_held_parts(choice, value) for choice in choices), default=0)
    if kind == "string":
        return held + 1 + bool(node.format)
    if kind in ("integer", "number"):
        return held + 2
    if kind == "array":
        return held + 2 + sum(_held_parts(node.items, item) for item in value if node.items is not None)
    if kind == "object":
        children = ((node.properties.get(name, node.additional), member) for name, member in value.items())
        return held + 1 + sum(_held_parts(child, member) for child, member in children if child is not None)
    return held
