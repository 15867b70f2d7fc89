"""Validation of objects: messages, kinds of faults, ratcheting."""

from __future__ import annotations

from typing import Any

import pytest

from standalone.schema.fault import FaultKind
from standalone.schema.structural import StructuralSchema
from tests.standalone.schema.builder import messages, obj, root, schema

RECORDS = {
    "type": "array",
    "maxItems": 3,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "type"],
    "items": {
        "type": "object",
        "required": ["name", "type"],
        "properties": {
            "name": {"type": "string", "maxLength": 10},
            "type": {"type": "string", "enum": ["A", "TXT"]},
            "ttl": {"type": "integer", "minimum": 1},
        },
    },
}


@pytest.mark.parametrize(
    ("keywords", "value", "message"),
    [
        ({"type": "integer", "minimum": 1}, 0, "Invalid value: 0: spec.a in body should be greater than or equal to 1"),
        ({"type": "integer", "maximum": 9}, 10, "Invalid value: 10: spec.a in body should be less than or equal to 9"),
        (
            {"type": "integer", "maximum": 9, "exclusiveMaximum": True},
            9,
            "Invalid value: 9: spec.a in body should be less than 9",
        ),
        (
            {"type": "number", "maximum": 1e6},
            2.5e6,
            "Invalid value: 2.5e+06: spec.a in body should be less than or equal to 1e+06",
        ),
        ({"type": "integer", "multipleOf": 5}, 7, "Invalid value: 7: spec.a in body should be a multiple of 5"),
        ({"type": "string"}, 5, 'Invalid value: "integer": spec.a in body must be of type string: "integer"'),
        ({"type": "integer"}, True, 'Invalid value: "boolean": spec.a in body must be of type integer: "boolean"'),
        ({"type": "integer"}, 1.5, 'Invalid value: "number": spec.a in body must be of type integer: "number"'),
        ({"type": "object"}, [], 'Invalid value: "array": spec.a in body must be of type object: "array"'),
        ({"type": "string", "maxLength": 2}, "abc", "Too long: may not be more than 2 bytes"),
        ({"type": "string", "minLength": 2}, "é", 'Invalid value: "é": spec.a in body should be at least 2 chars long'),
        ({"type": "string", "pattern": "^a"}, "b", "Invalid value: \"b\": spec.a in body should match '^a'"),
        ({"type": "string", "enum": ["x", "y"]}, "z", 'Unsupported value: "z": supported values: "x", "y"'),
        ({"type": "integer", "enum": [1, 2]}, 3, 'Unsupported value: 3: supported values: "1", "2"'),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "string"}},
            ["a", "b"],
            "Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "array", "minItems": 2, "items": {"type": "string"}},
            ["a"],
            "Invalid value: 1: spec.a in body should have at least 2 items",
        ),
        (
            {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
            {},
            "Invalid value: 0: spec.a in body should have at least 1 properties",
        ),
        ({"type": "string", "format": "ipv4"}, "x", 'Invalid value: "x": spec.a in body must be of type ipv4: "x"'),
    ],
)
def test_a_value_out_of_bounds_is_told_in_kubernetes_words(keywords: Any, value: Any, message: str) -> None:
    told = messages(schema(a=keywords), obj(a=value))
    if isinstance(value, float) and value == 1.5:
        # A fraction also misses the range of its integer type.
        assert f"spec.a: {message}" in told
    else:
        assert told == [f"spec.a: {message}"]


@pytest.mark.parametrize(
    ("keywords", "value"),
    [
        ({"type": "integer"}, 2.0),
        ({"type": "number"}, 2),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, 5),
        ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"any": [1, None]}),
        ({"type": "string", "format": "nobody-knows"}, "x"),
        ({"type": "string", "maxLength": 2}, "éé"),
    ],
)
def test_what_kubernetes_accepts_is_accepted(keywords: Any, value: Any) -> None:
    assert messages(schema(a=keywords), obj(a=value)) == []


def test_every_fault_of_an_object_is_listed_with_its_path() -> None:
    told = messages(
        schema(records=RECORDS, mode={"type": "string", "enum": ["on"]}),
        obj(mode="off", records=[{"name": "www", "type": "A", "ttl": 0}, {"name": 7}]),
    )
    assert told == [
        'spec.mode: Unsupported value: "off": supported values: "on"',
        "spec.records[0].ttl: Invalid value: 0: spec.records[0].ttl in body should be greater than or equal to 1",
        'spec.records[1].name: Invalid value: "integer": spec.records[1].name in body must be of type string: "integer"',
        "spec.records[1].type: Required value",
    ]


def test_a_cause_carries_reason_field_and_message() -> None:
    (fault,) = schema(a={"type": "string", "enum": ["x"]}).validate(obj(a="z"))
    assert fault.kind is FaultKind.NOT_SUPPORTED
    assert fault.cause == {
        "reason": "FieldValueNotSupported",
        "message": 'Unsupported value: "z": supported values: "x"',
        "field": "spec.a",
    }


def test_the_second_of_two_equal_keys_is_a_duplicate() -> None:
    twins = [{"name": "www", "type": "A"}, {"name": "www", "type": "A", "ttl": 5}]
    assert messages(schema(records=RECORDS), obj(records=twins)) == [
        'spec.records[1]: Duplicate value: {"name":"www","type":"A"}'
    ]


def test_equal_values_in_a_set_are_duplicates_but_true_is_not_one() -> None:
    keywords = {"type": "array", "x-kubernetes-list-type": "set", "items": {"x-kubernetes-int-or-string": True}}
    assert messages(schema(a=keywords), obj(a=["x", 1, "x", "1"])) == ['spec.a[2]: Duplicate value: "x"']


def test_duplicates_that_were_there_before_do_not_stop_an_update() -> None:
    twins = [{"name": "www", "type": "A"}, {"name": "www", "type": "A"}]
    checked = schema(records=RECORDS, other={"type": "string"})
    assert messages(checked, obj(records=twins, other="new"), obj(records=twins, other="old")) == []


def test_one_of_reports_the_closest_alternative() -> None:
    spec = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    checked = StructuralSchema.parse(root(spec))
    assert messages(checked, obj()) == [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        "spec.a: Required value",
    ]
    assert messages(checked, obj(a="1", b="2")) == [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'
    ]
    assert messages(checked, obj(a="1")) == []


def test_unchanged_faults_do_not_stop_an_update_and_new_ones_do() -> None:
    """Ratcheting: a schema may become stricter without making stored objects immutable."""
    checked = schema(records=RECORDS, note={"type": "string", "maxLength": 3})
    stored = obj(note="too long", records=[{"name": "a", "type": "NS"}, {"name": "b", "type": "A"}])
    edited = obj(note="too long", records=[{"name": "b", "type": "A", "ttl": 5}, {"name": "a", "type": "NS"}])
    assert messages(checked, edited, stored) == []
    edited["spec"]["records"][0]["ttl"] = 0
    assert messages(checked, edited, stored) == [
        "spec.records[0].ttl: Invalid value: 0: spec.records[0].ttl in body should be greater than or equal to 1"
    ]


def test_a_change_of_type_that_python_calls_equal_is_seen() -> None:
    checked = schema(a={"type": "integer"}, b={"type": "object", "additionalProperties": {"type": "boolean"}})
    told = messages(checked, obj(a=True, b={"x": 1}), obj(a=1, b={"x": True}))
    assert told == [
        'spec.a: Invalid value: "boolean": spec.a in body must be of type integer: "boolean"',
        'spec.b.x: Invalid value: "integer": spec.b.x in body must be of type boolean: "integer"',
    ]


def test_items_of_atomic_lists_are_judged_again_when_the_list_changes() -> None:
    checked = schema(a={"type": "array", "items": {"type": "string", "maxLength": 1}})
    assert messages(checked, obj(a=["long", "x"]), obj(a=["long"])) == [
        "spec.a[0]: Too long: may not be more than 1 byte"
    ]
    assert messages(checked, obj(a=["long"]), obj(a=["long"])) == []
