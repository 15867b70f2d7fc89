"""Small builders of schemas and objects for the tests of standalone.schema."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from standalone.schema.structural import StructuralSchema


def root(spec: Mapping[str, Any], **keywords: Any) -> dict[str, Any]:
    """An `openAPIV3Schema` whose `spec` is the given schema."""
    return {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": dict(spec),
        },
        **keywords,
    }


def schema(**properties: Any) -> StructuralSchema:
    """A schema whose `spec` has the given properties."""
    return StructuralSchema.parse(root({"type": "object", "properties": properties}))


def ruled(rule: Mapping[str, Any], **properties: Any) -> StructuralSchema:
    """A schema with one validation rule on `spec`."""
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": [dict(rule)]}
    return StructuralSchema.parse(root(spec))


def obj(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}


def messages(checked: StructuralSchema, new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """The faults of an object, which validation must leave as it is."""
    before = copy.deepcopy((new, old))
    found = [fault.message for fault in checked.validate(new, old)]
    assert (new, old) == before
    return found
