"""Whether a payload schema is one: a closed OpenAPI 3.0 Schema Object for a JSON object, described throughout.

Owns the schema of schemas. Never looks at a payload.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.core.pattern import Pattern, PatternError
from controllers.core.providercontract.dialect import (
    TooMuchWorkError,
    make_validator,
    object_below,
    object_with,
    objections,
)
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.size import SizeError, check_size
from controllers.core.providercontract.wording import fault_of

FAULT_LIMIT: Final = 50
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")


def judge_schema(schema: Field) -> Iterator[Fault]:
    """Object to a schema that is not in the dialect, does not speak of an object or leaves a property without description."""
    try:
        check_size(schema.value)
        found = objections(_SCHEMAS, schema.value, FAULT_LIMIT)
    except (SizeError, TooMuchWorkError):
        yield Fault(
            schema.path, "a very large schema", "a schema of some hundred properties at most", FaultReason.TOO_LONG
        )
        return
    yield from (fault_of(schema.path, each) for each in found)
    if found:
        return
    kind = schema.child("type")
    if kind.value != "object":
        yield kind.fault('"object", which payloads are')
    yield from _judge_descriptions(schema)


def _judge_descriptions(schema: Field) -> Iterator[Fault]:
    """Object to properties at any depth that have no description for people to read."""
    properties = schema.child("properties")
    for name in properties.names():
        each = properties.child(name)
        if not each.child("description").text:
            yield each.child("description").fault("a text that tells a user what the property is", FaultReason.REQUIRED)
        yield from _judge_descriptions(each)
    for name in ("items", "additionalProperties", "not"):
        if isinstance(schema.child(name).value, Mapping):
            yield from _judge_descriptions(schema.child(name))


def _schema(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Keyword of the schema of schemas: the value is a schema itself."""
    yield from validator.descend(instance, META_SCHEMA)


def _schema_or_boolean(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, bool):
        yield from validator.descend(instance, META_SCHEMA)


def _known(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Keyword of the schema of schemas: no keyword that the dialect would pass over in silence."""
    if isinstance(instance, Mapping):
        yield from (object_below(name, instance[name], META_SCHEMA) for name in _unknown(instance))


def _re2(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str):
        try:
            Pattern(instance)
        except PatternError as error:
            yield object_with(str(error))


def _item_schema(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, Mapping) and instance.get("type") == "array" and "items" not in instance:
        yield object_below("items", None, {})


def _unknown(instance: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name in instance
        if name not in META_SCHEMA["properties"]
        and (not str(name).startswith("x-") or name == "x-kubernetes-validations")
    ]


def _count() -> dict[str, Any]:
    return {"type": "integer", "minimum": 0}


def _schemas() -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": {"schema": True}}


META_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "known": True,
    "itemSchema": True,
    "properties": {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "type": {"type": "string", "enum": list(TYPES)},
        "format": {"type": "string"},
        "nullable": {"type": "boolean"},
        "enum": {"type": "array", "minItems": 1},
        "default": {},
        "example": {},
        "deprecated": {"type": "boolean"},
        "readOnly": {"type": "boolean"},
        "writeOnly": {"type": "boolean"},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
        "exclusiveMinimum": {"type": "boolean"},
        "exclusiveMaximum": {"type": "boolean"},
        "multipleOf": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "minLength": _count(),
        "maxLength": _count(),
        "pattern": {"type": "string", "re2": True},
        "minItems": _count(),
        "maxItems": _count(),
        "uniqueItems": {"type": "boolean"},
        "items": {"schema": True},
        "minProperties": _count(),
        "maxProperties": _count(),
        "required": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
        "properties": {"type": "object", "additionalProperties": {"schema": True}},
        "additionalProperties": {"schemaOrBoolean": True},
        "allOf": _schemas(),
        "anyOf": _schemas(),
        "oneOf": _schemas(),
        "not": {"schema": True},
        "discriminator": {"type": "object"},
        "externalDocs": {"type": "object"},
    },
}
_SCHEMAS: Final = make_validator(
    {
        "schema": _schema,
        "schemaOrBoolean": _schema_or_boolean,
        "known": _known,
        "re2": _re2,
        "itemSchema": _item_schema,
    },
    META_SCHEMA,
)
