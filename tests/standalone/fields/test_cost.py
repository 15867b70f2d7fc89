"""The cost of a small change follows the change, not the object."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time
from typing import Any

from standalone.fields.apply import track_update
from standalone.patch import json_patch
from standalone.schema.structural import StructuralSchema

ITEMS = 1_000
LIMIT_S = 0.025
SCHEMA = StructuralSchema.parse(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "zone": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
                    "records": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name", "type"],
                        "items": {
                            "type": "object",
                            "required": ["name", "type"],
                            "properties": {
                                "name": {"type": "string", "maxLength": 255},
                                "type": {"type": "string", "enum": ["A", "TXT"]},
                                "ttl": {"type": "integer", "minimum": 1, "format": "int32"},
                                "values": {"type": "array", "items": {"type": "string", "maxLength": 4000}},
                                "claim": {"type": "object", "properties": {"name": {"type": "string"}}},
                            },
                            "x-kubernetes-validations": [{"rule": "self.ttl > 0"}],
                        },
                    },
                },
            }
        },
    }
)


def _large() -> dict[str, Any]:
    records = [
        {"name": f"n{number}", "type": "TXT", "ttl": 300, "values": ["v" * 150] * 4, "claim": {"name": f"c{number}"}}
        for number in range(ITEMS)
    ]
    made = {
        "apiVersion": "a/v1",
        "kind": "A",
        "metadata": {"name": "a", "uid": "u"},
        "spec": {"zone": "z", "records": records},
    }
    _track(None, made)
    return made


def _track(old: dict[str, Any] | None, new: dict[str, Any]) -> None:
    track_update(old, new, manager="m", schema=SCHEMA, api_version="a/v1", subresource="", now="2026-01-01T00:00:00Z")


def _write(new: dict[str, Any], old: dict[str, Any]) -> None:
    """What the server does with a changed object besides storing it."""
    assert SCHEMA.prune(new, old) == []
    SCHEMA.default(new, old)
    _track(old, new)
    assert SCHEMA.validate(new, old) == []


def _best_s(work: Callable[[], None]) -> float:
    times = []
    for _ in range(5):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def test_patching_one_item_of_a_large_object_is_cheap() -> None:
    live = _large()

    def patch() -> None:
        edited = json_patch(live, [{"op": "replace", "path": "/spec/records/500/ttl", "value": 60}])
        _write({**edited, "metadata": {**edited["metadata"]}}, live)

    assert _best_s(patch) < LIMIT_S


def test_replacing_a_large_object_with_one_change_is_cheap() -> None:
    live = _large()
    received = json.dumps(live)
    bodies = [json.loads(received) for _ in range(5)]
    for number, body in enumerate(bodies):
        body["spec"]["records"][number]["ttl"] = 60
    waiting = iter(bodies)
    assert _best_s(lambda: _write(next(waiting), live)) < LIMIT_S
