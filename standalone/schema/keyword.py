"""The keywords of an `openAPIV3Schema`: which there are, what their values must be, which are not supported.

Owns the faults of single keywords. How keywords must go together is judged in `structure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from standalone.schema.fault import Fault, forbidden, invalid, not_supported
from standalone.schema.pattern import Pattern

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
SCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf")
_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_object_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_object_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in value.values())


def _is_schema_or_flag(value: Any) -> bool:
    return isinstance(value, Mapping | bool)


_EXPECTED: Final[Mapping[Callable[[Any], bool], str]] = {
    _is_text: "a string",
    _is_flag: "a boolean",
    _is_number: "a number",
    _is_count: "an integer",
    _is_text_list: "a list of strings",
    _is_object_list: "a list of objects",
    _is_object: "an object",
    _is_object_map: "an object whose members are schemas",
    _is_schema_or_flag: "a schema or a boolean",
}
_SHAPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("type", "format", "title", "description", "pattern"), _is_text),
    **dict.fromkeys(("nullable", "uniqueItems", "exclusiveMaximum", "exclusiveMinimum"), _is_flag),
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _is_number),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _is_count),
    **dict.fromkeys(("required", "x-kubernetes-list-map-keys"), _is_text_list),
    **dict.fromkeys((*SCHEMA_LISTS, "x-kubernetes-validations"), _is_object_list),
    **dict.fromkeys(
        (
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
        ),
        _is_flag,
    ),
    **dict.fromkeys(("x-kubernetes-list-type", "x-kubernetes-map-type"), _is_text),
    "properties": _is_object_map,
    "additionalProperties": _is_schema_or_flag,
    "items": _is_object,
    "not": _is_object,
    "enum": lambda value: isinstance(value, list),
}


def misshapen(schema: Mapping[str, Any], path: str) -> list[Fault]:
    """Return a fault for each keyword, here and below, whose value is of the wrong kind.

    Nothing else can be said of a schema before these are mended.
    """
    faults = []
    for name, fits in _SHAPES.items():
        value = schema.get(name)
        if value is not None and not fits(value):
            faults.append(invalid(f"{path}.{name}", value, f"must be {_EXPECTED.get(fits, 'a list')}"))
    if faults:
        return faults
    return [fault for child, below in subschemas(schema, path) for fault in misshapen(child, below)]


def subschemas(schema: Mapping[str, Any], path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the schemas directly below with their paths, those inside junctors included."""
    for name, child in (schema.get("properties") or {}).items():
        yield child, f"{path}.properties[{name}]"
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield schema["additionalProperties"], f"{path}.additionalProperties"
    for keyword in ("items", "not"):
        if schema.get(keyword) is not None:
            yield schema[keyword], f"{path}.{keyword}"
    for keyword in SCHEMA_LISTS:
        for index, child in enumerate(schema.get(keyword) or ()):
            yield child, f"{path}.{keyword}[{index}]"


def keyword_faults(schema: Mapping[str, Any], path: str) -> list[Fault]:
    """Return the faults of single keywords at one position."""
    faults = []
    kind = schema.get("type")
    if kind and kind not in TYPES:
        faults.append(not_supported(f"{path}.type", kind, TYPES))
    if kind == "null":
        detail = "type cannot be set to null, use nullable as an alternative"
        faults.append(forbidden(f"{path}.type", detail))
    faults.extend(forbidden(f"{path}.{name}", f"{name} is not supported") for name in _UNSUPPORTED if schema.get(name))
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        faults.append(forbidden(f"{path}.uniqueItems", detail))
    if schema.get("pattern"):
        try:
            Pattern(schema["pattern"])
        except ValueError as refused:
            detail = f"must be a valid regular expression, but isn't: {refused}"
            faults.append(invalid(f"{path}.pattern", schema["pattern"], detail))
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        faults.append(invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined"))
    return faults
