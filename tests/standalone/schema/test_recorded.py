"""What kube-apiserver's libraries said of generated schemas and objects, said again."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from standalone.schema.fault import SchemaError
from standalone.schema.structural import StructuralSchema
from tests.standalone.vector import vectors

HERE = Path(__file__).parent


@pytest.mark.parametrize("case", vectors(HERE / "validation_vectors.jsonl"))
def test_objects_are_shaped_and_judged_as_recorded(case: dict[str, Any]) -> None:
    schema = StructuralSchema.parse(case["schema"])
    new, old = case["object"], case["old"]
    if old is not None:
        schema.prune(old)
        schema.default(old)
    assert schema.prune(new) == case["dropped"]
    schema.default(new)
    assert new == case["shaped"]
    assert sorted({fault.message for fault in schema.validate(new, old)}) == case["messages"]


@pytest.mark.parametrize("case", vectors(HERE / "validation_vectors.jsonl"))
def test_an_object_judged_against_itself_has_no_faults(case: dict[str, Any]) -> None:
    schema = StructuralSchema.parse(case["schema"])
    shaped = case["shaped"]
    assert schema.validate(copy.deepcopy(shaped), shaped) == []


@pytest.mark.parametrize("case", vectors(HERE / "schema_vectors.jsonl"))
def test_schemas_are_refused_as_recorded(case: dict[str, Any]) -> None:
    try:
        StructuralSchema.parse(case["schema"], "schema")
        found = []
    except SchemaError as refused:
        found = sorted(fault.message for fault in refused.faults)
    assert bool(found) == bool(case["messages"])
    # The regular expression engine words its own complaints, and defaults are judged once the rest is in order.
    known = [text for text in found if "regular expression" not in text]
    assert set(known) <= set(case["messages"]) or set(case["messages"]) <= set(known)
