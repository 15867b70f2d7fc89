"""The step apply and update share: what a change takes from the managers that own the changed fields.

Owns conflicts between managers and the fields that are never owned. Never merges objects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from standalone.fields.compare import Changes
from standalone.fields.managed import ManagerId, Managers
from standalone.fields.trie import Trie, difference, intersection

_NEVER_OWNED: Final[Trie] = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        "f:name": {},
        "f:namespace": {},
        "f:creationTimestamp": {},
        "f:selfLink": {},
        "f:uid": {},
        "f:clusterName": {},
        "f:generation": {},
        "f:managedFields": {},
        "f:resourceVersion": {},
    },
}
_STATUS: Final[Trie] = {"f:status": {}}
_ALL_BUT_STATUS: Final[Trie] = {"f:metadata": {}, "f:spec": {}}


def reset_fields(subresource: str, *, has_status: bool) -> Trie:
    """Return the fields a request to this (sub)resource cannot set."""
    if subresource == "status":
        return _ALL_BUT_STATUS
    return _STATUS if has_status and not subresource else {}


def ownable(fields: Trie) -> Trie:
    """Leave out what identifies the object and what the server itself keeps."""
    return difference(fields, _NEVER_OWNED)


def conflicts_with(managers: Managers, changes: Changes, but: ManagerId | None) -> dict[ManagerId, Trie]:
    """Return what each manager other than `but` owns of the fields that were written."""
    written = changes.written
    found = {
        identity: intersection(entry.fields, written)
        for identity, entry in managers.items()
        if identity != but and written
    }
    return {identity: fields for identity, fields in found.items() if fields}


def yielded(managers: Managers, changes: Changes, conflicts: dict[ManagerId, Trie], but: ManagerId | None) -> Managers:
    """Return the managers after they lost the conflicting and the removed fields; those left with none are dropped."""
    result: Managers = {}
    for identity, entry in managers.items():
        fields = entry.fields
        if identity != but:
            fields = difference(difference(fields, conflicts.get(identity, {})), changes.removed)
        if fields:
            result[identity] = entry if fields is entry.fields else replace(entry, fields=fields)
    return result


def without_managed_fields(obj: dict[str, Any]) -> dict[str, Any]:
    """Return the object without metadata.managedFields, sharing all the rest."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


def managed_fields_of(obj: dict[str, Any] | None) -> Any:
    metadata = (obj or {}).get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, dict) else None
