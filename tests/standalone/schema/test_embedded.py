"""Objects inside objects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standalone.schema.builder import messages, obj, schema

CHECKED = schema(
    template={
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}, []),
        ({"apiVersion": "v1", "kind": "Pod"}, []),
        ({}, ["spec.template.apiVersion: Required value", "spec.template.kind: Required value"]),
        ({"apiVersion": "", "kind": "Pod"}, ['spec.template.apiVersion: Invalid value: "": must not be empty']),
        ({"apiVersion": 1, "kind": "Pod"}, ["spec.template.apiVersion: Invalid value: 1: must be a string"]),
        (
            {"apiVersion": "a/b/c", "kind": "Pod"},
            ['spec.template.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b"}},
            ["spec.template.metadata.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ".."}},
            ["spec.template.metadata.name: Invalid value: \"..\": may not be '..'"],
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": 5},
            ["spec.template.metadata: Invalid value: 5: must be an object"],
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}},
            ["spec.template.metadata.labels: Invalid value: 1: the value of a must be a string"],
        ),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"finalizers": "x"}},
            ['spec.template.metadata.finalizers: Invalid value: "x": must be a list'],
        ),
    ],
)
def test_an_embedded_object_says_what_it_is(template: Any, said: list[str]) -> None:
    assert messages(CHECKED, obj(template=template)) == said


def test_unchanged_embedded_objects_are_not_judged_again() -> None:
    assert messages(CHECKED, obj(template={}), obj(template={})) == []
