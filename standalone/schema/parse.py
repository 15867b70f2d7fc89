"""Builds nodes from an `openAPIV3Schema` that `structure` found to be structural.

Owns reading the keywords and deriving, once, what the passes over objects need to know. Never judges the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from standalone.schema.format import known_format
from standalone.schema.node import ABSENT, Limits, ListType, Node, Rule
from standalone.schema.pattern import Pattern

_PLAIN_TYPES: Final = {"string": str, "boolean": bool}
"""Types every Python value of which is acceptable; integers are not here because of their 64-bit bound."""
_INT_OR_STRING: Final = ("integer", "string")


def parse_node(schema: Mapping[str, Any]) -> Node:
    """Return the node of one schema position with everything below it."""
    int_or_string = bool(schema.get("x-kubernetes-int-or-string"))
    types = _INT_OR_STRING if int_or_string else ((schema["type"],) if schema.get("type") else ())
    additional = schema.get("additionalProperties")
    node = Node(
        types=types,
        nullable=bool(schema.get("nullable")),
        format=known_format(schema.get("format") or "", types),
        properties={name: parse_node(child) for name, child in (schema.get("properties") or {}).items()},
        required=tuple(schema.get("required") or ()),
        additional=parse_node(additional) if isinstance(additional, Mapping) else None,
        additional_declared=additional is not None,
        additional_forbidden=additional is False,
        items=_parse_optional(schema.get("items")),
        enum=tuple(schema.get("enum") or ()),
        limits=_parse_limits(schema),
        all_of=_parse_each(schema.get("allOf")),
        any_of=_parse_each(schema.get("anyOf")),
        one_of=_parse_each(schema.get("oneOf")),
        not_=_parse_optional(schema.get("not")),
        default=schema["default"] if schema.get("default") is not None else ABSENT,
        preserve_unknown=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        int_or_string=int_or_string,
        list_type=ListType(schema.get("x-kubernetes-list-type") or "atomic"),
        list_map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        atomic_map=schema.get("x-kubernetes-map-type") == "atomic",
        rules=tuple(_parse_rule(rule) for rule in schema.get("x-kubernetes-validations") or ()),
    )
    return _with_summary(node)


def _parse_optional(schema: Mapping[str, Any] | None) -> Node | None:
    return None if schema is None else parse_node(schema)


def _parse_each(schemas: Sequence[Mapping[str, Any]] | None) -> tuple[Node, ...]:
    return tuple(parse_node(schema) for schema in schemas or ())


def _with_summary(node: Node) -> Node:
    """Add what the passes over objects ask of everything below a node."""
    children = [child for child in (*node.properties.values(), node.additional, node.items) if child is not None]
    junctors = node.all_of or node.any_of or node.one_of or node.not_
    unconditional = not (node.limits or node.rules or node.format or node.enum or junctors) and len(node.types) == 1
    return replace(
        node,
        plain=_PLAIN_TYPES.get(node.types[0]) if unconditional else None,
        defaults_below=any(child.defaults_below or child.default is not ABSENT for child in children),
        keyed_lists_below=node.list_type is not ListType.ATOMIC or any(child.keyed_lists_below for child in children),
        embedded_below=any(child.embedded_below or child.embedded for child in children),
        rules_below=any(child.rules_below or child.rules for child in children),
    )


def _parse_limits(schema: Mapping[str, Any]) -> Limits | None:
    pattern = schema.get("pattern")
    limits = Limits(
        maximum=schema.get("maximum"),
        exclusive_maximum=bool(schema.get("exclusiveMaximum")),
        minimum=schema.get("minimum"),
        exclusive_minimum=bool(schema.get("exclusiveMinimum")),
        multiple_of=schema.get("multipleOf"),
        max_length=schema.get("maxLength"),
        min_length=schema.get("minLength"),
        pattern=Pattern(pattern) if pattern else None,
        max_items=schema.get("maxItems"),
        min_items=schema.get("minItems"),
        unique_items=bool(schema.get("uniqueItems")),
        max_properties=schema.get("maxProperties"),
        min_properties=schema.get("minProperties"),
    )
    return None if limits == Limits() else limits


def _parse_rule(rule: Mapping[str, Any]) -> Rule:
    return Rule(
        rule=rule["rule"],
        message=rule.get("message") or "",
        message_expression=rule.get("messageExpression") or "",
        reason=rule.get("reason") or "",
        field_path=rule.get("fieldPath") or "",
        optional_old_self=rule.get("optionalOldSelf"),
    )
