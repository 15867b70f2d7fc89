"""Pruning and defaulting."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from standalone.schema.structural import StructuralSchema
from tests.standalone.schema.builder import obj, root, schema

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)
NESTED = schema(
    a={"type": "object", "properties": {"b": {"type": "string", "default": "x"}, "c": {"type": "integer"}}},
    b={"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
    c={"type": "object", "additionalProperties": {"type": "object", "properties": {"d": {"type": "string"}}}},
    d={
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
    },
)


def test_unknown_fields_are_dropped_and_named() -> None:
    given_object = obj(a={"b": "x", "zz": 1}, b=[{"a": 1, "nmae": 2}], c={"k": {"d": "x", "e": 1}}, zz={})
    assert NESTED.prune(given_object) == ["spec.a.zz", "spec.b[0].nmae", "spec.c.k.e", "spec.zz"]
    assert given_object["spec"] == {"a": {"b": "x"}, "b": [{"a": 1}], "c": {"k": {"d": "x"}}}


def test_preserved_fields_stay_but_specified_ones_in_them_are_pruned() -> None:
    given_object = obj(d={"any": {"thing": 1}, "a": {"b": "x", "zz": 1}})
    assert NESTED.prune(given_object) == ["spec.d.a.zz"]
    assert given_object["spec"]["d"] == {"any": {"thing": 1}, "a": {"b": "x"}}


def test_type_and_metadata_of_the_object_are_never_pruned() -> None:
    bare = StructuralSchema.parse({"type": "object", "properties": {"spec": {"type": "object"}}})
    given_object = {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "b"}}, "other": 1}
    assert bare.prune(given_object) == ["other"]
    assert given_object == {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "b"}}}


def test_embedded_resources_keep_their_type_and_metadata() -> None:
    embedded = schema(
        template={
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
        }
    )
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"a": "b", "c": 1}, "other": 1}
    given_object = obj(template=template)
    assert embedded.prune(given_object) == ["spec.template.other", "spec.template.spec.c"]


def test_defaults_fill_what_is_missing_and_only_below_what_is_there() -> None:
    given_object = obj(a={}, b=[{}, {"a": 2}])
    NESTED.default(given_object)
    assert given_object["spec"] == {"a": {"b": "x"}, "b": [{"a": 1}, {"a": 2}]}
    absent = obj()
    NESTED.default(absent)
    assert absent["spec"] == {}


def test_defaults_of_defaults_apply() -> None:
    chained = schema(a={"type": "object", "default": {}, "properties": {"b": {"type": "integer", "default": 5}}})
    given_object = obj()
    chained.default(given_object)
    assert given_object["spec"] == {"a": {"b": 5}}
    other = obj()
    chained.default(other)
    other["spec"]["a"]["b"] = 6
    assert given_object["spec"] == {"a": {"b": 5}}, "two objects must not share a default"


def test_nulls_give_way_to_defaults_or_disappear() -> None:
    nulls = schema(
        a={"type": "string", "default": "x"},
        b={"type": "string"},
        c={"type": "string", "nullable": True},
        d={"type": "string", "nullable": True, "default": "x"},
    )
    given_object = obj(a=None, b=None, c=None, d=None)
    nulls.default(given_object)
    assert given_object["spec"] == {"a": "x", "c": None, "d": None}


@given(JSON)
def test_shaping_twice_changes_nothing_more(spec: Any) -> None:
    given_object = {"spec": spec}
    NESTED.prune(given_object)
    NESTED.default(given_object)
    shaped = copy.deepcopy(given_object)
    assert NESTED.prune(given_object) == []
    NESTED.default(given_object)
    assert given_object == shaped


@given(JSON, JSON)
def test_shaping_against_the_stored_object_gives_the_same(stored: Any, edited: Any) -> None:
    """Skipping what is equal to an object already shaped is only a shortcut."""
    old = copy.deepcopy({"spec": {"a": stored, "b": [stored, edited], "d": stored}})
    NESTED.prune(old)
    NESTED.default(old)
    new = copy.deepcopy({"spec": {"a": edited, "b": [stored, stored, edited], "d": stored}})
    expected = copy.deepcopy(new)
    dropped = NESTED.prune(expected)
    NESTED.default(expected)
    assert NESTED.prune(new, old) == dropped
    NESTED.default(new, old)
    assert new == expected


def test_root_additional_types_parse() -> None:
    assert StructuralSchema.parse(root({"x-kubernetes-preserve-unknown-fields": True})).prune({"spec": {"a": 1}}) == []
