"""Payload schemas: which are admitted, and what they say of payloads at the paths of their fields."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.core.providercontract.dialect import WORK_LIMIT
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.payload import PayloadSchema
from controllers.core.providercontract.schema_check import judge_schema

Json = dict[str, Any]


def described(properties: dict[str, Json], **more: Any) -> Json:
    """An object's schema whose properties all have descriptions."""
    return {
        "type": "object",
        "properties": {name: {"description": f"The {name}.", **each} for name, each in properties.items()},
        **more,
    }


def schema_faults(schema: object) -> set[tuple[str, str]]:
    return {(each.field, each.reason.name) for each in judge_schema(Field("s", schema))}


def faults(schema: Json, payload: object) -> list[Fault]:
    assert schema_faults(schema) == set()
    return list(PayloadSchema(schema).judge(Field("spec.options", payload)))


def told(schema: Json, payload: object) -> set[tuple[str, str]]:
    return {(each.field.removeprefix("spec.options"), each.reason.name) for each in faults(schema, payload)}


REFUSED_SCHEMAS: Final[dict[str, tuple[object, set[tuple[str, str]]]]] = {
    "no object": ([], {("s", "TYPE_INVALID")}),
    "not about an object": ({"type": "string"}, {("s.type", "INVALID")}),
    "without a type": ({}, {("s.type", "INVALID")}),
    "an unknown type": ({"type": "date"}, {("s.type", "NOT_SUPPORTED")}),
    "a list of types": ({"type": ["object"]}, {("s.type", "TYPE_INVALID"), ("s.type", "NOT_SUPPORTED")}),
    "a reference": (described({"a": {"$ref": "#/x"}}), {("s.properties.a.$ref", "FORBIDDEN")}),
    "a keyword of JSON Schema only": (described({"a": {"const": 1}}), {("s.properties.a.const", "FORBIDDEN")}),
    "pattern properties": ({"type": "object", "patternProperties": {}}, {("s.patternProperties", "FORBIDDEN")}),
    "rules that nobody would run": (
        {"type": "object", "x-kubernetes-validations": []},
        {("s.x-kubernetes-validations", "FORBIDDEN")},
    ),
    "a list without items": (described({"a": {"type": "array"}}), {("s.properties.a.items", "REQUIRED")}),
    "a pattern that is not RE2": (described({"a": {"type": "string", "pattern": "(?=a)"}}), {("s.properties.a.pattern", "INVALID")}),
    "a negative length": (described({"a": {"type": "string", "maxLength": -1}}), {("s.properties.a.maxLength", "INVALID")}),
    "an exclusive minimum of draft 6": (described({"a": {"exclusiveMinimum": 3}}), {("s.properties.a.exclusiveMinimum", "TYPE_INVALID")}),
    "multiples of nothing": (described({"a": {"multipleOf": 0}}), {("s.properties.a.multipleOf", "INVALID")}),
    "no choices": (described({"a": {"enum": []}}), {("s.properties.a.enum", "INVALID")}),
    "required twice": ({"type": "object", "required": ["a", "a"]}, {("s.required", "DUPLICATE")}),
    "a property without description": ({"type": "object", "properties": {"a": {}}}, {("s.properties.a.description", "REQUIRED")}),
    "an empty description": (described({"a": {"description": ""}}), {("s.properties.a.description", "REQUIRED")}),
    "a nested property without description": (
        described({"a": {"type": "array", "items": {"type": "object", "properties": {"b": {}}}}}),
        {("s.properties.a.items.properties.b.description", "REQUIRED")},
    ),
    "a broken alternative": (described({"a": {"anyOf": [{"type": "x"}]}}), {("s.properties.a.anyOf[0].type", "NOT_SUPPORTED")}),
    "a broken negation": (described({"a": {"not": 3}}), {("s.properties.a.not", "TYPE_INVALID")}),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), REFUSED_SCHEMAS.values(), ids=REFUSED_SCHEMAS.keys())
def test_what_is_no_schema_of_a_payload_is_refused_at_its_path(schema: object, expected: set[tuple[str, str]]) -> None:
    assert schema_faults(schema) == expected


def test_every_keyword_of_the_dialect_is_admitted() -> None:
    everything = {
        "title": "t",
        "type": "string",
        "format": "date-time",
        "nullable": True,
        "enum": ["a"],
        "default": "a",
        "example": "a",
        "deprecated": True,
        "readOnly": True,
        "minLength": 0,
        "maxLength": 9,
        "pattern": "a",
        "allOf": [{}],
        "anyOf": [{}],
        "oneOf": [{}],
        "not": {"enum": ["b"]},
        "x-anything": 1,
        "x-kubernetes-preserve-unknown-fields": True,
    }

    assert schema_faults(described({"a": everything})) == set()


TEXT: Final = {"type": "string"}
REFUSED_PAYLOADS: Final[dict[str, tuple[Json, object, set[tuple[str, str]]]]] = {
    "type": ({"type": "integer"}, "x", {(".a", "TYPE_INVALID")}),
    "true is no number": ({"type": "integer"}, True, {(".a", "TYPE_INVALID")}),
    "a fraction is no integer": ({"type": "integer"}, 1.5, {(".a", "TYPE_INVALID")}),
    "null": (TEXT, None, {(".a", "TYPE_INVALID")}),
    "enum": ({"enum": ["x", 1]}, True, {(".a", "NOT_SUPPORTED")}),
    "minimum": ({"minimum": 3}, 2, {(".a", "INVALID")}),
    "exclusive minimum": ({"minimum": 3, "exclusiveMinimum": True}, 3, {(".a", "INVALID")}),
    "maximum": ({"maximum": 3}, 4, {(".a", "INVALID")}),
    "multipleOf": ({"multipleOf": 5}, 7, {(".a", "INVALID")}),
    "multipleOf a fraction": ({"multipleOf": 0.1}, 0.35, {(".a", "INVALID")}),
    "minLength": ({"minLength": 2}, "x", {(".a", "INVALID")}),
    "maxLength": ({"maxLength": 2}, "xyz", {(".a", "TOO_LONG")}),
    "pattern": ({"pattern": "^[a-z]+$"}, "a1", {(".a", "INVALID")}),
    "format ipv4": ({"format": "ipv4"}, "1.2.3", {(".a", "INVALID")}),
    "format ipv6": ({"format": "ipv6"}, "fe80::1%a", {(".a", "INVALID")}),
    "format date-time": ({"format": "date-time"}, "2026-01-01", {(".a", "INVALID")}),
    "format int32": ({"format": "int32"}, 2**31, {(".a", "INVALID")}),
    "minItems": ({"minItems": 1}, [], {(".a", "INVALID")}),
    "maxItems": ({"maxItems": 1}, [1, 2], {(".a", "TOO_MANY")}),
    "uniqueItems": ({"uniqueItems": True}, [{"x": 1, "y": 2}, {"y": 2, "x": 1}], {(".a", "DUPLICATE")}),
    "items": ({"type": "array", "items": TEXT}, ["x", 1], {(".a[1]", "TYPE_INVALID")}),
    "required": ({"type": "object", "required": ["b", "c"]}, {}, {(".a.b", "REQUIRED"), (".a.c", "REQUIRED")}),
    "unknown field": (described({"b": TEXT}), {"x": 1, "y": 2}, {(".a.x", "FORBIDDEN"), (".a.y", "FORBIDDEN")}),
    "unknown field in a list": ({"type": "array", "items": described({"b": TEXT})}, [{"x": 1}], {(".a[0].x", "FORBIDDEN")}),
    "additionalProperties": ({"type": "object", "additionalProperties": TEXT}, {"x": 1}, {(".a.x", "TYPE_INVALID")}),
    "minProperties": ({"minProperties": 1}, {}, {(".a", "INVALID")}),
    "maxProperties": ({"maxProperties": 1}, {"x": 1, "y": 2}, {(".a", "TOO_MANY")}),
    "allOf": ({"allOf": [{"minimum": 3}]}, 1, {(".a", "INVALID")}),
    "anyOf": ({"anyOf": [TEXT, {"type": "integer"}]}, [], {(".a", "INVALID")}),
    "oneOf": ({"oneOf": [{"minimum": 1}, {"maximum": 9}]}, 5, {(".a", "INVALID")}),
    "not": ({"not": {"enum": ["x"]}}, "x", {(".a", "INVALID")}),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), REFUSED_PAYLOADS.values(), ids=REFUSED_PAYLOADS.keys())
def test_each_keyword_objects_at_the_path_of_the_value(
    schema: Json, value: object, expected: set[tuple[str, str]]
) -> None:
    assert told(described({"a": schema}), {"a": value}) == expected


ALLOWED_PAYLOADS: Final[dict[str, tuple[Json, object]]] = {
    "nullable": ({"type": "string", "nullable": True, "enum": ["x"]}, None),
    "an unknown format is a remark": ({"format": "hostname"}, "???"),
    "a number may be whole": ({"type": "number"}, 3),
    "multipleOf": ({"multipleOf": 0.1}, 0.3),
    "pattern finds, it need not match all": ({"pattern": "b"}, "abc"),
    "an open object": (described({"b": TEXT}, **{"x-kubernetes-preserve-unknown-fields": True}), {"x": 1}),
    "an object open on purpose": (described({"b": TEXT}, additionalProperties=True), {"x": 1}),
    "an object that names nothing": ({"type": "object"}, {"x": 1}),
    "uniqueItems": ({"uniqueItems": True}, [1, True, "1"]),
    "alternatives do not close an object": ({"type": "object", "anyOf": [{"properties": {"x": TEXT}}]}, {"y": 1}),
}


@pytest.mark.parametrize(("schema", "value"), ALLOWED_PAYLOADS.values(), ids=ALLOWED_PAYLOADS.keys())
def test_what_a_schema_leaves_open_is_allowed(schema: Json, value: object) -> None:
    assert told(described({"a": schema}), {"a": value}) == set()


def test_a_misspelt_field_is_told_what_may_be_meant() -> None:
    (fault,) = faults(described({"proxied": {"type": "boolean"}}), {"proxed": True})

    assert fault.field == "spec.options.proxed"
    assert "proxied" in fault.allowed


def test_a_missing_field_is_told_with_its_description() -> None:
    (fault,) = faults(described({"zoneID": TEXT}, required=["zoneID"]), {})

    assert (fault.field, fault.found, fault.allowed) == ("spec.options.zoneID", "nothing", "a text: The zoneID.")


def test_all_faults_of_a_payload_are_told_at_once_and_always_in_the_same_order() -> None:
    schema = described({"a": TEXT, "b": {"type": "integer"}, "c": {"enum": ["x"]}}, required=["d"])
    payload = {"zz": 1, "a": 1, "b": "x", "c": "y", "yy": 2}

    first = [str(each) for each in faults(schema, payload)]

    assert len(first) == 6
    assert first == [str(each) for each in faults(schema, payload)]


@pytest.mark.parametrize(
    "payload",
    [
        {"l": ["x"] * (WORK_LIMIT + 1)},
        {"l": [["x"] * 100] * 1_000},
        {"p": "a" * 3_000_000},
        {f"k{index}": 1 for index in range(50_000)},
    ],
    ids=["a long list", "many lists", "a long text", "many fields"],
)
def test_a_payload_that_would_take_long_is_refused_as_too_large(payload: Json) -> None:
    schema = described(
        {"l": {"type": "array", "items": {}}, "p": {"type": "string", "pattern": "(a?){40}b"}}, additionalProperties={}
    )

    (fault,) = faults(schema, payload)

    assert (fault.field, fault.reason.name) == ("spec.options", "TOO_LONG")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
keywords = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "pattern",
        "anyOf",
        "not",
        "additionalProperties",
        "minimum",
        "x",
    ]
)


@settings(deadline=None)
@given(schema=st.dictionaries(keywords, json_values, max_size=5), payload=json_values)
def test_no_schema_and_no_payload_is_a_crash(schema: Json, payload: object) -> None:
    if schema_faults(schema) == set():
        for fault in PayloadSchema(schema).judge(Field("p", payload)):
            assert fault.field.startswith("p")
            assert len(str(fault)) < 2_000
