"""The update verb, and the path that every change to a stored object takes.

Owns optimistic concurrency, the isolation of status from the rest, the end of finalization, and that a change which
changes nothing writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from standalone.apiserver.admission import Operation
from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.conversion import decoded
from standalone.apiserver.metadata.generation import count_generation
from standalone.apiserver.metadata.identity import carry_over, version_of
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.shape import judge, shape
from standalone.apiserver.status import conflict, modified, not_found, version_missing, warning
from standalone.apiserver.target import Target, User
from standalone.apiserver.tracking import track
from standalone.schema.equality import same
from standalone.store.record import Record

JsonObject = dict[str, Any]
Edit = Callable[[JsonObject], JsonObject]


async def replace(api: Api, target: Target, obj: JsonObject, options: WriteOptions, user: User) -> Outcome:
    """PUT: make the stored object equal to `obj`, in whose metadata a resourceVersion may guard against lost updates.

    Raises ApiError.
    """

    def replaced(live: JsonObject) -> JsonObject:
        _check_uid(target, live, obj)
        if not api.kind(target.resource).unconditional_update and not _version(obj):
            raise version_missing(target.resource, target.name)
        return obj

    return await change(api, target, replaced, options, user)


async def change(
    api: Api, target: Target, edit: Edit, options: WriteOptions, user: User, *, applied: bool = False
) -> Outcome:
    """Run `edit` on the stored object and store what comes of it; answer 200.

    `edit` returns a new object that may share sub-trees with the one it gets. `applied`: it also took care of field
    ownership. Raises ApiError 404, 409, 422 and whatever `edit` raises.
    """
    async with api.store.locked(target.key) as record:
        if record is None:
            raise not_found(target.resource, target.name)
        size_bytes = max(options.body_bytes, len(record.body))
        made = await api.judged(
            target,
            size_bytes,
            lambda: _made(api, target, decoded(target.resource, record), edit, options, applied=applied),
        )
        warnings = made.warnings
        with warning(warnings):
            warnings += await api.admission.review(Operation.UPDATE, target, made.obj, made.live, options, user)
        if made.unchanged:
            return Outcome(200, made.live, record, tuple(warnings))
        if options.dry_run:
            return Outcome(200, made.obj, None, tuple(warnings))
        stored = await store_or_finish(api, target, made.obj)
    return Outcome(200, made.obj, stored, tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Made:
    """What an edit made of a stored object."""

    live: JsonObject
    obj: JsonObject
    unchanged: bool
    warnings: list[str]


def _made(api: Api, target: Target, live: JsonObject, edit: Edit, options: WriteOptions, *, applied: bool) -> _Made:
    """The object that comes of an edit, complete and judged. Raises ApiError and whatever `edit` raises."""
    proposed = dict(edit(live))
    warnings = shape(api, target, proposed, live, options)
    with warning(warnings):
        proposed = _continued(api, target, live, proposed)
        if not applied:
            track(api, target, live, proposed, options.manager, api.now())
        unchanged = same(proposed, live)
        if not unchanged:
            judge(api, target, proposed, live)
    return _Made(live, proposed, unchanged, warnings)


def _continued(api: Api, target: Target, live: JsonObject, proposed: JsonObject) -> JsonObject:
    """The proposed object with all that a client may not set as the stored one has it. Raises ApiError 400, 409."""
    _check_version(target, live, proposed)
    carry_over(target, live, proposed)
    proposed = isolate(target, live, proposed)
    api.kind(target.resource).prepare(api.writing(proposed, live, target.subresource))
    if target.resource.has_generation:
        count_generation(live, proposed, has_status=target.resource.has_status)
    return proposed


async def store_or_finish(api: Api, target: Target, obj: JsonObject) -> Record:
    """Store an object whose key the caller holds, or delete it when it is terminating and nothing holds it back."""
    metadata = obj["metadata"]
    holds = metadata.get("finalizers") or (obj.get("spec", {}).get("finalizers") if _is_namespace(target) else None)
    if "deletionTimestamp" in metadata and not holds:
        return await api.store.remove(target.key, obj)
    return await api.store.put(target.key, obj)


def isolate(target: Target, live: JsonObject, proposed: JsonObject) -> JsonObject:
    """Let `/status` change the status only, and everything else all but the status (api-concepts, "Status")."""
    if not target.resource.has_status:
        return proposed
    if target.subresource == "status":
        metadata = {name: value for name, value in live["metadata"].items() if name != "managedFields"}
        if "managedFields" in proposed["metadata"]:
            metadata["managedFields"] = proposed["metadata"]["managedFields"]
        base = {**live, "metadata": metadata}
        source = proposed
    else:
        base, source = dict(proposed), live
    base.pop("status", None)
    if "status" in source:
        base["status"] = source["status"]
    return base


def _check_version(target: Target, live: JsonObject, proposed: JsonObject) -> None:
    """Refuse a stale resourceVersion (409)."""
    version = version_of(proposed["metadata"])
    if version and version != live["metadata"]["resourceVersion"]:
        raise modified(target.resource, target.name)


def _check_uid(target: Target, live: JsonObject, obj: JsonObject) -> None:
    """Refuse to replace an object by what was read from an earlier one of its name (409)."""
    metadata, stored = obj.get("metadata"), live["metadata"]["uid"]
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    if uid and uid != stored:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored}"
        raise conflict(target.resource, target.name, why)


def _version(obj: JsonObject) -> str:
    metadata = obj.get("metadata")
    return version_of(metadata) if isinstance(metadata, dict) else ""


def _is_namespace(target: Target) -> bool:
    return target.resource.storage_key == ("", "namespaces")
