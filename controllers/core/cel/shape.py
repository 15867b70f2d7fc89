"""`Shape`: what a value may look like to an expression, made from its OpenAPI v3 schema.

Both the static types and the cost of an expression follow from it. Never validates a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

INPUT_LIMIT_OCTETS: Final = 512 * 1024
"""Weight of everything that one evaluation reads."""
TEXT_LIMIT_OCTETS: Final = 4096
ITEM_LIMIT: Final = 1024
"""Items of a list or a map whose schema allows more or does not say."""
DEPTH_LIMIT: Final = 32

_FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEYWORDS: Final = frozenset({"in", "true", "false", "null"})


class Kind(Enum):
    """What kind of value a shape stands for; ANY is a value that no schema describes."""

    TEXT = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"
    MAP = "map"
    LIST = "list"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Shape:
    """One value: the fields of an OBJECT, the element of a MAP or LIST, and how large it may be."""

    kind: Kind
    fields: Mapping[str, Shape] = field(default_factory=dict)
    element: Shape | None = None
    limit_items: int = ITEM_LIMIT
    limit_octets: int = TEXT_LIMIT_OCTETS
    nullable: bool = False


ANY: Final = Shape(Kind.ANY)
TEXT: Final = Shape(Kind.TEXT)


def shape_of(schema: Mapping[str, Any], depth: int = 0) -> Shape:
    """Return the shape that a schema describes; what it leaves open becomes ANY."""
    if depth > DEPTH_LIMIT:
        return ANY
    nullable = schema.get("nullable") is True
    match schema.get("type"):
        case "string":
            return Shape(Kind.TEXT, limit_octets=_limit_octets(schema), nullable=nullable)
        case "integer":
            return Shape(Kind.INTEGER, nullable=nullable)
        case "number":
            return Shape(Kind.NUMBER, nullable=nullable)
        case "boolean":
            return Shape(Kind.BOOLEAN, nullable=nullable)
        case "array":
            items = schema.get("items")
            element = shape_of(items, depth + 1) if isinstance(items, Mapping) else ANY
            return Shape(Kind.LIST, element=element, limit_items=_limit(schema, "maxItems", ITEM_LIMIT))
        case "object":
            return _object_shape(schema, depth)
        case _:
            return ANY


def _object_shape(schema: Mapping[str, Any], depth: int) -> Shape:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and all(_is_field(name) for name in properties):
        fields = {name: shape_of(each, depth + 1) for name, each in properties.items() if isinstance(each, Mapping)}
        return Shape(Kind.OBJECT, fields=fields)
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping) and not properties:
        limit_items = _limit(schema, "maxProperties", ITEM_LIMIT)
        return Shape(Kind.MAP, element=shape_of(values, depth + 1), limit_items=limit_items)
    return Shape(Kind.MAP, element=ANY)


def _is_field(name: object) -> bool:
    """Say whether `value.name` can be written; objects with other names are maps, read as `value['other-name']`."""
    return isinstance(name, str) and _FIELD_NAME.match(name) is not None and name not in _KEYWORDS


def _limit_octets(schema: Mapping[str, Any]) -> int:
    """Octets that a text may take: four for each character in UTF-8, and the longest choice of an enum."""
    choices = schema.get("enum")
    if isinstance(choices, list) and all(isinstance(choice, str) for choice in choices):
        return max((len(choice.encode("utf-8", "replace")) for choice in choices), default=0)
    return min(_limit(schema, "maxLength", TEXT_LIMIT_OCTETS) * 4, TEXT_LIMIT_OCTETS)


def _limit(schema: Mapping[str, Any], keyword: str, most: int) -> int:
    value = schema.get(keyword)
    return min(value, most) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else most
