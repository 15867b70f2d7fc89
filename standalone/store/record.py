"""What the store keeps and what it announces: keys, records and events, all plain values.

Owns the JSON encoding of a stored object. Never interprets a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import orjson

_NO_LABELS: Mapping[str, str] = {}


class Key(NamedTuple):
    """Where an object lives: the group and plural it is stored under, its namespace ("" when cluster-scoped), its name."""

    group: str
    plural: str
    namespace: str
    name: str


class EventType(StrEnum):
    """The three kinds of change, in the words of the watch protocol."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Record:
    """One stored object at one resource version: its JSON bytes and the few facts that are asked for without decoding."""

    key: Key
    version: int
    body: bytes
    uid: str
    api_version: str
    labels: Mapping[str, str]
    owner_uids: tuple[str, ...]
    finalizers: tuple[str, ...]
    terminating: bool

    def object(self) -> dict[str, Any]:
        """Decode a fresh copy; the caller may change it."""
        decoded: dict[str, Any] = orjson.loads(self.body)
        return decoded


@dataclass(frozen=True, slots=True)
class Event:
    """A change in its place in the order. A deletion's record is the object's last state."""

    type: EventType
    record: Record
    previous: Record | None

    @property
    def version(self) -> int:
        return self.record.version

    @property
    def size_bytes(self) -> int:
        return len(self.record.body)


def record_of(key: Key, version: int, obj: Mapping[str, Any], body: bytes) -> Record:
    """Read the facts a record carries out of a decoded object whose encoding is `body`."""
    metadata: Mapping[str, Any] = obj.get("metadata") or {}
    owners = metadata.get("ownerReferences") or ()
    return Record(
        key=key,
        version=version,
        body=body,
        uid=metadata.get("uid", ""),
        api_version=obj.get("apiVersion", ""),
        labels=metadata.get("labels") or _NO_LABELS,
        owner_uids=tuple(owner["uid"] for owner in owners),
        finalizers=tuple(metadata.get("finalizers") or ()),
        terminating="deletionTimestamp" in metadata,
    )


def encode_at(key: Key, version: int, obj: dict[str, Any]) -> Record:
    """Stamp `metadata.resourceVersion` into `obj` and encode it.

    The stamp is why encoding waits until a change has its place in the order.
    """
    obj["metadata"]["resourceVersion"] = str(version)
    body = bytes(memoryview(orjson.dumps(obj)))  # an exact copy: the encoder's own result keeps its spare room
    return record_of(key, version, obj, body)


def decode(key: Key, version: int, body: bytes) -> Record:
    """Rebuild a record from what the disk holds."""
    return record_of(key, version, orjson.loads(body), body)
