"""Objects in the version a client asked for.

Owns the step between the version an object was stored in and the one it is shown in. Versions of a custom resource
differ in their apiVersion only (conversion strategy None); Events have two groups whose fields have different names.
"""

from __future__ import annotations

from typing import Any

import orjson

from standalone.resource import Resource
from standalone.store.record import Record

JsonObject = dict[str, Any]

_TO_EVENTS_GROUP = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "involvedObject": "regarding",
    "lastTimestamp": "deprecatedLastTimestamp",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
}
_TO_CORE = {name: core_name for core_name, name in _TO_EVENTS_GROUP.items()}
_EVENT_FIELDS = {"v1": _TO_CORE, "events.k8s.io/v1": _TO_EVENTS_GROUP}


def decoded(resource: Resource, record: Record) -> JsonObject:
    """A fresh copy of the object in `resource`'s version."""
    obj = record.object()
    return obj if record.api_version == resource.api_version else converted(resource, obj)


def encoded(resource: Resource, record: Record) -> bytes:
    """The object's JSON in `resource`'s version."""
    if record.api_version == resource.api_version:
        return record.body
    return orjson.dumps(decoded(resource, record))


def converted(resource: Resource, obj: JsonObject) -> JsonObject:
    """`obj`, which is in another version, in that of `resource`."""
    names = _EVENT_FIELDS.get(resource.api_version, {}) if resource.kind == "Event" else {}
    shown = {names.get(name, name): value for name, value in obj.items()}
    return shown | {"apiVersion": resource.api_version}
