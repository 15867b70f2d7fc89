"""Server-side apply.

Owns the order of its steps: merge what is applied, drop what is no longer applied and nobody else owns, refuse
conflicts. Entry point of this package together with `track_update`, which is for every other write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from standalone.fields.builtin import shape_for
from standalone.fields.compare import compare
from standalone.fields.conflict import ApplyConflict, Conflict, conflicts_from
from standalone.fields.declared import undeclared
from standalone.fields.extent import claimed
from standalone.fields.managed import Entry, ManagedFieldsError, ManagerId, Managers, applier, decode, encode
from standalone.fields.managed import updater as updater_id
from standalone.fields.merge import merge
from standalone.fields.ownership import (
    conflicts_with,
    managed_fields_of,
    ownable,
    reset_fields,
    without_managed_fields,
    yielded,
)
from standalone.fields.removal import drop_unapplied
from standalone.fields.shape import Shape
from standalone.fields.tracking import track_update, update_managers
from standalone.fields.trie import Trie, difference, has_path, recursive_difference
from standalone.schema.equality import same
from standalone.schema.structural import StructuralSchema

__all__ = ["ApplyConflict", "ApplyError", "server_side_apply", "track_update"]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL: Final = "kubectl"
_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_ANNOTATIONS_LIMIT_BYTES: Final = 256 * 1024


class ApplyError(Exception):
    """An applied configuration that cannot be merged; `status_code` and `reason` are those of the Status to answer."""

    def __init__(self, status_code: int, reason: str, message: str) -> None:
        self.status_code = status_code
        self.reason = reason
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class _Request:
    """One apply with all that stays the same over its steps."""

    shape: Shape
    live: dict[str, Any]
    applied: dict[str, Any]
    identity: ManagerId
    api_version: str
    excluded: Trie
    now: str


def server_side_apply(
    live: dict[str, Any] | None,
    applied: dict[str, Any],
    *,
    manager: str,
    force: bool,
    schema: StructuralSchema | None,
    api_version: str,
    kind: str,
    subresource: str,
    now: str,
    has_status: bool = True,
) -> dict[str, Any]:
    """Return the object that results from applying `applied` over `live`, with its managedFields.

    `live` is None when the object does not exist. The result shares unchanged sub-trees with both; neither is changed.
    It is not defaulted or validated. When nothing changes but ownership, times stay; when nothing changes at all the
    result equals `live`. Raises ApplyConflict (409) when another manager owns a field that would change, unless
    `force`, and ApplyError for a configuration that is not of this version, carries managedFields, or does not fit
    the schema.
    """
    _judge(applied, api_version, kind)
    shape = shape_for(schema, applied)
    _judge_shape(shape, applied)
    start = without_managed_fields(live or {})
    request = _Request(
        shape,
        start,
        applied,
        applier(manager, subresource),
        api_version,
        reset_fields(subresource, has_status=has_status),
        now,
    )
    managers = _managers_before(request, live)
    try:
        result, owners = _apply(request, managers, force=force)
    except ApplyConflict as refused:
        if manager != _KUBECTL or not _allowed_by_last_applied(request, refused.conflicts):
            raise
        result, owners = _apply(request, managers, force=True)
    if manager == _KUBECTL:
        result = _with_last_applied(result, applied)
    return _with_managed_fields(result, owners)


def _judge(applied: dict[str, Any], api_version: str, kind: str) -> None:
    if applied.get("apiVersion") != api_version:
        found = applied.get("apiVersion")
        raise ApplyError(
            400,
            "BadRequest",
            f"Incorrect version specified in apply patch. Specified patch version: {found}, expected: {api_version}",
        )
    if applied.get("kind") != kind:
        found = applied.get("kind") or ""
        raise ApplyError(400, "BadRequest", f"invalid object type: {api_version}, Kind={found}; expected: {kind}")
    if managed_fields_of(applied) is not None:
        raise ApplyError(400, "BadRequest", "metadata.managedFields must be nil")


def _judge_shape(shape: Shape, applied: dict[str, Any]) -> None:
    if faults := undeclared(shape, applied):
        listed = faults[0] if len(faults) == 1 else "errors:" + "".join(f"\n  {fault}" for fault in faults)
        raise ApplyError(500, "", f"failed to create typed patch object ({_described(applied)}): {listed}")


def _described(obj: dict[str, Any]) -> str:
    metadata = obj.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return f"{named.get('namespace') or ''}/{named.get('name') or ''}; {obj.get('apiVersion')}, Kind={obj.get('kind')}"


def _managers_before(request: _Request, live: dict[str, Any] | None) -> Managers:
    """Return the managers of the stored object; fields nobody owns yet go to a manager of their own."""
    try:
        managers = decode(managed_fields_of(live))
    except ManagedFieldsError as malformed:
        raise ApplyError(500, "", f"failed to decode managed fields: {malformed}") from malformed
    if managers or live is None:
        return managers
    identity = updater_id(_BEFORE_FIRST_APPLY, request.api_version, request.identity.subresource)
    return update_managers(
        managers, request.shape, {}, request.live, identity=identity, excluded=request.excluded, now=request.now
    )


def _apply(request: _Request, managers: Managers, *, force: bool) -> tuple[dict[str, Any], Managers]:
    merged = merge(request.shape, request.live, request.applied)
    last = managers.get(request.identity)
    claims = recursive_difference(claimed(request.shape, request.applied), request.excluded)
    with_claims = {**managers, request.identity: Entry(claims, request.api_version, last.time if last else "")}
    result = merged if last is None else drop_unapplied(request.shape, merged, last.fields, with_claims)
    changes = compare(request.shape, request.live, result).without(request.excluded)
    conflicts = conflicts_with(with_claims, changes, but=request.identity)
    if conflicts and not force:
        raise ApplyConflict(conflicts_from(conflicts))
    owners = yielded(with_claims, changes, conflicts, but=request.identity)
    return result, _own_entry(request, owners, changed=not same(request.live, result))


def _own_entry(request: _Request, managers: Managers, *, changed: bool) -> Managers:
    entry = managers.get(request.identity)
    if entry is None:
        return managers
    fields = ownable(entry.fields)
    rest = {identity: other for identity, other in managers.items() if identity != request.identity}
    if not fields:
        return rest
    return {**rest, request.identity: Entry(fields, request.api_version, request.now if changed else entry.time)}


def _allowed_by_last_applied(request: _Request, conflicts: tuple[Conflict, ...]) -> bool:
    """Return whether kubectl applied the conflicting fields itself, from the client, and nobody changed them since.

    Raises ApplyConflict with the conflicts that are left when only some of them are allowed.
    """
    last = _last_applied(request.live)
    if last is None or last.get("apiVersion") != request.api_version:
        return False
    changes = compare(request.shape, last, request.live)
    allowed = claimed(request.shape, last)
    for part in (changes.modified, changes.added, changes.removed):
        allowed = difference(allowed, part)
    left = tuple(conflict for conflict in conflicts if not has_path(allowed, conflict.path))
    if left:
        raise ApplyConflict(left)
    return True


def _last_applied(live: dict[str, Any]) -> dict[str, Any] | None:
    text = _annotations(live).get(LAST_APPLIED)
    if not isinstance(text, str) or not text:
        return None
    try:
        decoded = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None


def _annotations(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def _with_last_applied(result: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    """Keep the annotation of client-side apply in step where it exists, so that one can go back to it."""
    annotations = _annotations(result)
    if not annotations.get(LAST_APPLIED):
        return result
    metadata = {name: value for name, value in (applied.get("metadata") or {}).items() if name != "annotations"}
    if own := {name: text for name, text in _annotations(applied).items() if name != LAST_APPLIED}:
        metadata["annotations"] = own
    text = orjson.dumps({**applied, "metadata": metadata}, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    synced = {**annotations, LAST_APPLIED: text}
    if sum(len(name) + len(str(value)) for name, value in synced.items()) > _ANNOTATIONS_LIMIT_BYTES:
        del synced[LAST_APPLIED]
    return {**result, "metadata": {**result["metadata"], "annotations": synced}}


def _with_managed_fields(result: dict[str, Any], managers: Managers) -> dict[str, Any]:
    metadata = dict(result.get("metadata") or {})
    if managers:
        metadata["managedFields"] = encode(managers)
    return {**result, "metadata": metadata}
