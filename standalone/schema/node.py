"""The parsed form of one schema: a tree of frozen nodes.

Owns the shape and the facts derived from it once (what lies below a node, which values need no look). Parsing is in
`parse`, the passes over objects are in `prune`, `default`, `check` and `uniqueness`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from standalone.schema.pattern import Pattern


class ListType(Enum):
    """`x-kubernetes-list-type`; lists without one behave as atomic."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


class Absent(Enum):
    """Marks what is not there, where None would be a value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Limits:
    """Value validations of one node; None means the schema sets no such limit."""

    maximum: float | None = None
    exclusive_maximum: bool = False
    minimum: float | None = None
    exclusive_minimum: bool = False
    multiple_of: float | None = None
    max_length: int | None = None
    min_length: int | None = None
    pattern: Pattern | None = None
    max_items: int | None = None
    min_items: int | None = None
    unique_items: bool = False
    max_properties: int | None = None
    min_properties: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of `x-kubernetes-validations`, as written."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A schema position. `types` is empty where any type is allowed; int-or-string has two.

    Nodes are equal only to themselves, so that they can key caches.
    """

    types: tuple[str, ...] = ()
    nullable: bool = False
    format: str = ""
    properties: Mapping[str, Node] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional: Node | None = None
    additional_declared: bool = False
    additional_forbidden: bool = False
    items: Node | None = None
    enum: tuple[Any, ...] = ()
    limits: Limits | None = None
    all_of: tuple[Node, ...] = ()
    any_of: tuple[Node, ...] = ()
    one_of: tuple[Node, ...] = ()
    not_: Node | None = None
    default: Any = ABSENT
    preserve_unknown: bool = False
    embedded: bool = False
    int_or_string: bool = False
    list_type: ListType = ListType.ATOMIC
    list_map_keys: tuple[str, ...] = ()
    atomic_map: bool = False
    rules: tuple[Rule, ...] = ()
    plain: type | None = None
    """The Python type whose values this node accepts without a further look; None when there is more to check."""
    defaults_below: bool = False
    keyed_lists_below: bool = False
    embedded_below: bool = False
    rules_below: bool = False
