"""Field ownership of creates, updates and patches: whoever changes a field owns it.

Owns metadata.managedFields of every write that is not an apply. Never refuses a write.
"""

from __future__ import annotations

from typing import Any, Final

from standalone.fields.builtin import shape_for
from standalone.fields.compare import compare
from standalone.fields.managed import Entry, ManagedFieldsError, ManagerId, Managers, bounded, decode, encode, updater
from standalone.fields.ownership import (
    conflicts_with,
    managed_fields_of,
    ownable,
    reset_fields,
    without_managed_fields,
    yielded,
)
from standalone.fields.shape import Shape
from standalone.fields.trie import Trie, recursive_difference, union
from standalone.schema.structural import StructuralSchema

_RESET_REQUEST: Final[list[Any]] = [{}]
"""A client that sends this wants ownership to start anew; an empty list is no request."""


def track_update(
    old: dict[str, Any] | None,
    new: dict[str, Any],
    *,
    manager: str,
    schema: StructuralSchema | None,
    api_version: str,
    subresource: str,
    now: str,
    has_status: bool = True,
) -> None:
    """Set `new["metadata"]["managedFields"]`; nothing else of `new`, and nothing of `old`, is changed.

    `old` is the stored object, None on create; `now` is RFC 3339 in UTC. `has_status` says whether the kind has a status
    subresource, whose fields then belong to requests to it alone. An entry's time changes only when its manager changed
    something. Objects whose ownership was never tracked stay untracked until the first apply.
    """
    managers = _managers_before(old, new, is_subresource=bool(subresource))
    before = without_managed_fields(old or {})
    after = without_managed_fields(new)
    if managers or old is None:
        managers = update_managers(
            managers,
            shape_for(schema, new),
            before,
            after,
            identity=updater(manager, api_version, subresource),
            excluded=reset_fields(subresource, has_status=has_status),
            now=now,
        )
    _set_managed_fields(new, encode(bounded(managers)))


def update_managers(
    managers: Managers,
    shape: Shape,
    before: dict[str, Any],
    after: dict[str, Any],
    *,
    identity: ManagerId,
    excluded: Trie,
    now: str,
) -> Managers:
    """Return the managers after `identity` turned `before` into `after`."""
    changes = compare(shape, before, after).without(excluded)
    conflicts = conflicts_with(managers, changes, but=None)
    result = yielded(managers, changes, conflicts, but=None)
    taken = ownable(recursive_difference(changes.written, excluded))
    if taken:
        previous = result.get(identity)
        fields = taken if previous is None else union(taken, previous.fields)
        api_version = identity.api_version
        result[identity] = Entry(fields, api_version, now)
    return result


def _managers_before(old: dict[str, Any] | None, new: dict[str, Any], *, is_subresource: bool) -> Managers:
    """Ownership may be edited through the main resource; what a client drops or spoils is taken from the store."""
    if not is_subresource:
        requested = managed_fields_of(new)
        if requested == _RESET_REQUEST:
            return {}
        if managers := _decoded(requested):
            return managers
    return _decoded(managed_fields_of(old))


def _decoded(entries: Any) -> Managers:
    try:
        return decode(entries)
    except ManagedFieldsError:
        return {}


def _set_managed_fields(obj: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    metadata = obj.setdefault("metadata", {})
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
