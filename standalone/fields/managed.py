"""Who owns which fields: metadata.managedFields decoded, and encoded again (meta/v1 ManagedFieldsEntry).

Owns the identity of managers, the order of entries and the bound on their number. Never compares objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from standalone.fields.trie import Trie, union

UPDATERS_LIMIT: Final = 10
_FIELDS_TYPE: Final = "FieldsV1"
_OLDEST_UPDATERS: Final = "ancient-changes"
APPLY: Final = "Apply"
UPDATE: Final = "Update"


class ManagerId(NamedTuple):
    """What makes two entries the same manager; appliers keep their identity across versions."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields of one manager; `time` is RFC 3339 or empty."""

    fields: Trie
    api_version: str
    time: str = ""


Managers = dict[ManagerId, Entry]


class ManagedFieldsError(ValueError):
    """Entries that cannot be decoded; the text says what was found."""


def applier(manager: str, subresource: str) -> ManagerId:
    return ManagerId(manager or "unknown", APPLY, "", subresource)


def updater(manager: str, api_version: str, subresource: str) -> ManagerId:
    return ManagerId(manager or "unknown", UPDATE, api_version, subresource)


def decode(entries: Any) -> Managers:
    """Return the managers of a `managedFields` list; raise ManagedFieldsError when it is malformed."""
    if entries is None:
        return {}
    if not isinstance(entries, list):
        raise ManagedFieldsError("managedFields must be a list")
    managers: Managers = {}
    for index, entry in enumerate(entries):
        identity = _identity(index, entry)
        fields = entry.get("fieldsV1") or {}
        if not isinstance(fields, dict):
            raise ManagedFieldsError(f"fieldsV1 of managed fields entry {index} must be an object")
        managers[identity] = Entry(fields, entry["apiVersion"], entry.get("time") or "")
    return managers


def _identity(index: int, entry: Any) -> ManagerId:
    if not isinstance(entry, Mapping):
        raise ManagedFieldsError(f"managed fields entry {index} must be an object")
    operation, api_version = entry.get("operation"), entry.get("apiVersion")
    if operation not in (APPLY, UPDATE):
        raise ManagedFieldsError("operation must be `Apply` or `Update`")
    if not api_version:
        raise ManagedFieldsError("apiVersion must not be empty")
    if not entry.get("fieldsType"):
        raise ManagedFieldsError(f"missing fieldsType in managed fields entry {index}")
    if entry["fieldsType"] != _FIELDS_TYPE:
        raise ManagedFieldsError(f'invalid fieldsType "{entry["fieldsType"]}" in managed fields entry {index}')
    subresource = entry.get("subresource") or ""
    known_version = "" if operation == APPLY else api_version
    return ManagerId(entry.get("manager") or "", operation, known_version, subresource)


def encode(managers: Managers) -> list[dict[str, Any]]:
    """Return the list form: appliers first, then by time, manager, version and subresource."""
    ordered = sorted(
        managers.items(),
        key=lambda pair: (pair[0].operation, pair[1].time, pair[0].manager, pair[1].api_version, pair[0].subresource),
    )
    return [_encoded(identity, entry) for identity, entry in ordered]


def _encoded(identity: ManagerId, entry: Entry) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": entry.api_version,
    }
    if entry.time:
        encoded["time"] = entry.time
    encoded |= {"fieldsType": _FIELDS_TYPE, "fieldsV1": entry.fields}
    if identity.subresource:
        encoded["subresource"] = identity.subresource
    return encoded


def bounded(managers: Managers) -> Managers:
    """Merge the oldest updaters of each version into one entry until at most UPDATERS_LIMIT are left."""
    updaters = [identity for identity in managers if identity.operation == UPDATE]
    surplus = len(updaters) - UPDATERS_LIMIT
    if surplus <= 0:
        return managers
    result = dict(managers)
    first_of_version: dict[str, ManagerId] = {}
    for identity in sorted(updaters, key=lambda each: (managers[each].time, each)):
        if surplus <= 0:
            break
        entry = result[identity]
        first = first_of_version.setdefault(entry.api_version, identity)
        if first == identity:
            continue
        bucket = ManagerId(_OLDEST_UPDATERS, UPDATE, entry.api_version)
        if bucket not in result:
            result[bucket] = result.pop(first)
        merged = union(entry.fields, result[bucket].fields)
        if identity != bucket:
            del result[identity]
        result[bucket] = replace(result[bucket], fields=merged, time=entry.time)
        surplus -= 1
    return result
