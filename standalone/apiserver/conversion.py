"""Objects in the version a client asked for.

Owns the step between the version an object was stored in and the one it is shown in: custom resources change their
apiVersion only (conversion strategy None).
"""

from __future__ import annotations

from typing import Any

import orjson

from standalone.resource import Resource
from standalone.store.record import Record

JsonObject = dict[str, Any]


def decoded(resource: Resource, record: Record) -> JsonObject:
    """A fresh copy of the object in `resource`'s version."""
    obj = record.object()
    if record.api_version != resource.api_version:
        obj["apiVersion"] = resource.api_version
    return obj


def encoded(resource: Resource, record: Record) -> bytes:
    """The object's JSON in `resource`'s version."""
    if record.api_version == resource.api_version:
        return record.body
    return orjson.dumps(decoded(resource, record))
