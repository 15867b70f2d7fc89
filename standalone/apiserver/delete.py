"""The delete and deletecollection verbs.

Owns preconditions, propagation policies and the two ways of a delete: at once, or by marking an object that finalizers
hold. Deleting what an object owned is the garbage collector's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from standalone.apiserver.admission import Operation
from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.conversion import decoded
from standalone.apiserver.kinds import namespace
from standalone.apiserver.option import Query, WriteOptions, dry_run
from standalone.apiserver.status import (
    ApiError,
    bad_request,
    forbidden,
    invalid_options,
    kind_conflict,
    not_found,
    success,
)
from standalone.apiserver.target import Target, User
from standalone.apiserver.turn import Turn
from standalone.schema.fault import invalid, not_supported
from standalone.store.record import Record

JsonObject = dict[str, Any]

FOREGROUND_FINALIZER = "foregroundDeletion"
ORPHAN_FINALIZER = "orphan"
KIND = "DeleteOptions"
_TYPES = {
    "preconditions": dict,
    "dryRun": list,
    "gracePeriodSeconds": int,
    "orphanDependents": bool,
    "propagationPolicy": str,
}


class Propagation(StrEnum):
    """What happens to the objects that the deleted one owns."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """meta/v1 DeleteOptions; `uid` and `version` are preconditions."""

    propagation: Propagation | None = None
    uid: str | None = None
    version: str | None = None
    dry_run: bool = False


def delete_options(body: Any, query: Query) -> DeleteOptions:
    """Read the options from the request body, or from the query when there is none. Raises ApiError 400 and 422."""
    if body is not None and not isinstance(body, dict):
        raise bad_request("the body of a delete must be DeleteOptions")
    given = _of_body(body) if body else _of_query(query)
    preconditions = given.get("preconditions") or {}
    return DeleteOptions(
        propagation=_propagation(given),
        uid=preconditions.get("uid"),
        version=preconditions.get("resourceVersion"),
        dry_run=dry_run([str(each) for each in given.get("dryRun") or ()], KIND),
    )


def _of_body(body: JsonObject) -> JsonObject:
    """The options of a body, in which nothing may be that is to be taken for something else. Raises ApiError 400."""
    if body.get("kind", KIND) != KIND:
        raise bad_request(f"the body of a delete must be {KIND}, found kind {body['kind']!r}")
    for name, expected in _TYPES.items():
        if body.get(name) is not None and type(body[name]) is not expected:
            raise bad_request(f"{KIND}.{name}: found {body[name]!r}, a value of type {expected.__name__} is required")
    return body


def _of_query(query: Query) -> JsonObject:
    given: JsonObject = {"dryRun": query.getall("dryRun", []), "propagationPolicy": query.get("propagationPolicy", "")}
    orphan = query.get("orphanDependents", "")
    return given | ({"orphanDependents": orphan in ("true", "1")} if orphan else {})


async def delete(api: Api, target: Target, options: DeleteOptions, user: User) -> Outcome:
    """Delete the object, or mark it when finalizers hold it. Raises ApiError 403, 404, 409."""
    if target.name in api.kind(target.resource).immortal:
        raise forbidden(target.resource, target.name, f"this {target.resource.singular} may not be deleted")
    async with api.store.locked(target.key) as record:
        if record is None:
            raise not_found(target.resource, target.name)
        live = decoded(target.resource, record)
        _check_preconditions(target, live, options)
        as_write = WriteOptions(manager="", dry_run=options.dry_run)
        warnings = tuple(await api.admission.review(Operation.DELETE, target, None, live, as_write, user))
        marked = _marked(api, target, live, options.propagation)
        if options.dry_run:
            return Outcome(200, marked or _success(target, live), None, warnings)
        if marked is None:
            await api.store.remove(target.key, live)
            return Outcome(200, _success(target, live), None, warnings)
        stored: Record = record if marked == live else await api.store.put(target.key, marked)
    return Outcome(200, marked, stored, warnings)


async def delete_collection(
    api: Api, target: Target, records: list[Record], options: DeleteOptions, user: User
) -> None:
    """Delete every record that is still there."""
    turn = Turn()
    for record in records:
        member = replace(target, namespace=record.key.namespace, name=record.key.name)
        try:
            await delete(api, member, options, user)
        except ApiError as error:
            if error.code != 404:
                raise
        await turn.pause()  # a dry run waits for nothing


def _propagation(given: Mapping[str, Any]) -> Propagation | None:
    value, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    if value and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        raise invalid_options(KIND, invalid("propagationPolicy", value, why))
    if value:
        try:
            return Propagation(value)
        except ValueError:
            policies = (Propagation.FOREGROUND, Propagation.BACKGROUND, Propagation.ORPHAN, "nil")
            raise invalid_options(KIND, not_supported("propagationPolicy", value, policies)) from None
    if orphan is None:
        return None
    return Propagation.ORPHAN if orphan else Propagation.BACKGROUND


def _check_preconditions(target: Target, live: JsonObject, options: DeleteOptions) -> None:
    metadata = live["metadata"]
    if options.uid is not None and options.uid != metadata["uid"]:
        why = f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']})"
        raise kind_conflict(
            target.resource, target.name, f"{why}. The object might have been deleted and then recreated"
        )
    version = metadata["resourceVersion"]
    if options.version is not None and options.version != version:
        why = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in record"
        )
        raise kind_conflict(target.resource, target.name, f"{why} ({version}). The object might have been modified")


def _marked(api: Api, target: Target, live: JsonObject, propagation: Propagation | None) -> JsonObject | None:
    """The object marked as terminating, or None when nothing holds it and it can go at once."""
    finalizers = _finalizers(target, live, propagation)
    is_namespace = target.resource.storage_key == ("", "namespaces")
    if not finalizers and not (is_namespace and live.get("spec", {}).get("finalizers")):
        return None
    metadata = {**live["metadata"], "finalizers": finalizers}
    if not finalizers:
        del metadata["finalizers"]
    if "deletionTimestamp" not in metadata:
        metadata |= {"deletionTimestamp": api.now(), "deletionGracePeriodSeconds": 0}
        if "generation" in metadata:
            metadata["generation"] += 1
    marked = {**live, "metadata": metadata}
    if is_namespace:
        marked["status"] = {**live.get("status", {}), "phase": namespace.TERMINATING}
    return marked


def _finalizers(target: Target, live: JsonObject, propagation: Propagation | None) -> list[str]:
    """The finalizers after a delete was asked for: the propagation policy adds and removes the collector's two."""
    present = list(live["metadata"].get("finalizers") or ())
    if propagation is None:
        return present
    kept = [name for name in present if name not in (FOREGROUND_FINALIZER, ORPHAN_FINALIZER)]
    if propagation is Propagation.FOREGROUND:
        kept.append(FOREGROUND_FINALIZER)
    elif propagation is Propagation.ORPHAN:
        kept.append(ORPHAN_FINALIZER)
    return kept


def _success(target: Target, live: JsonObject) -> JsonObject:
    return success(target.resource, target.name, live["metadata"]["uid"])
