"""Small builders and a seat at the API for the tests of standalone.fields."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from standalone.fields.apply import server_side_apply, track_update
from standalone.schema.structural import StructuralSchema

API_VERSION = "example.org/v1"
SCHEMA = StructuralSchema.parse(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "zone": {"type": "string"},
                    "ttl": {"type": "integer"},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "selector": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "additionalProperties": {"type": "string"},
                    },
                    "values": {"type": "array", "items": {"type": "string"}},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "records": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name", "type"],
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": {"type": "string"},
                                "type": {"type": "string", "default": "A"},
                                "ttl": {"type": "integer"},
                                "values": {"type": "array", "items": {"type": "string"}},
                            },
                        },
                    },
                    "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        },
    }
)


def obj(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": "Thing", "metadata": {"name": "a", "namespace": "n"}, "spec": spec}


def with_status(made: dict[str, Any], phase: str) -> dict[str, Any]:
    return {**made, "status": {"phase": phase}}


def apply(
    live: dict[str, Any] | None,
    applied: dict[str, Any],
    manager: str = "alice",
    *,
    force: bool = False,
    subresource: str = "",
    now: str = "2026-01-01T00:00:00Z",
    schema: StructuralSchema | None = SCHEMA,
) -> dict[str, Any]:
    """Apply, and hold that nothing given was changed."""
    before = copy.deepcopy((live, applied))
    result = server_side_apply(
        live,
        applied,
        manager=manager,
        force=force,
        schema=schema,
        api_version=applied["apiVersion"],
        kind=applied["kind"],
        subresource=subresource,
        now=now,
    )
    assert (live, applied) == before
    return stored(result)


def update(
    live: dict[str, Any] | None,
    new: dict[str, Any],
    manager: str = "alice",
    *,
    subresource: str = "",
    now: str = "2026-01-01T00:00:00Z",
    schema: StructuralSchema | None = SCHEMA,
    **options: Any,
) -> dict[str, Any]:
    """Store `new` over `live`, as a PUT does, and hold that only managedFields were touched."""
    before = copy.deepcopy(live)
    result = copy.deepcopy(new)
    track_update(
        live,
        result,
        manager=manager,
        schema=schema,
        api_version=new["apiVersion"],
        subresource=subresource,
        now=now,
        **options,
    )
    assert live == before
    assert content(result) == content(new)
    return stored(result)


def stored(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "metadata": {"uid": "uid-1", **made["metadata"]}}


def content(made: dict[str, Any]) -> dict[str, Any]:
    """An object without what the server itself writes."""
    metadata = {name: value for name, value in made["metadata"].items() if name not in ("uid", "managedFields")}
    return {**made, "metadata": metadata}


def owners(made: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """The fields of each manager, by manager and operation."""
    entries = made["metadata"].get("managedFields", [])
    return {(entry["manager"], entry["operation"]): entry["fieldsV1"] for entry in entries}


NAMES = st.sampled_from(["a", "b", "c"])
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "type": st.sampled_from(["A", "TXT"]),
            "ttl": st.integers(1, 3),
            "values": st.lists(NAMES, max_size=2),
        },
    ),
    max_size=3,
    unique_by=lambda record: (record["name"], record.get("type", "A")),
)
FREE = st.recursive(
    st.integers(0, 2) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)
SPECS = st.fixed_dictionaries(
    {"zone": NAMES},
    optional={
        "ttl": st.integers(1, 3),
        "labels": st.dictionaries(NAMES, NAMES, max_size=3),
        "selector": st.dictionaries(NAMES, NAMES, max_size=2),
        "values": st.lists(NAMES, max_size=2),
        "tags": st.lists(NAMES, max_size=3, unique=True),
        "records": RECORDS,
        "nested": st.fixed_dictionaries({}, optional={"a": NAMES, "b": NAMES}),
        "free": st.dictionaries(NAMES, FREE, max_size=2),
    },
)
OBJECTS = SPECS.map(lambda spec: obj(**spec))
