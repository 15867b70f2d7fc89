"""Which object a request is about, and the metadata that only the server sets.

Owns names, uid and timestamps on create, and what an update carries over from the stored object.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from standalone.apiserver.metadata.fieldtype import MetadataTypeError, known_only, text_of_nulls
from standalone.apiserver.status import bad_request, invalid
from standalone.apiserver.target import Target
from standalone.schema.fault import Fault, FaultKind

JsonObject = dict[str, Any]

_GENERATED_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: no words; nothing that reads as something else
_MAX_GENERATED_PREFIX = 58
_EMPTY: tuple[Any, ...] = (None, "", {}, [])


def type_metadata(target: Target, obj: JsonObject) -> list[str]:
    """Give `obj` a metadata of the right types without empty parts, in place; return the paths of unknown fields.

    The metadata is a new mapping: the one that was there stays as it is. Raises ApiError 400.
    """
    metadata = obj.get("metadata") or {}
    try:
        if not isinstance(metadata, dict):
            raise MetadataTypeError("metadata is not an object")
        metadata = dict(metadata)
        unknown = known_only(metadata)
    except MetadataTypeError as error:
        kind = target.resource.kind
        raise bad_request(
            f'{kind} in version "{target.resource.version}" cannot be handled as a {kind}: {error}'
        ) from error
    obj["metadata"] = {
        name: text_of_nulls(value) if name in ("labels", "annotations") else value
        for name, value in metadata.items()
        if value not in _EMPTY or name == "managedFields"
    }
    return unknown


def check_identity(target: Target, obj: JsonObject) -> JsonObject:
    """Hold apiVersion, kind and namespace against the URL and return the metadata. Raises ApiError 400, 422."""
    resource = target.resource
    if not resource.custom:
        for name, known in (("apiVersion", resource.api_version), ("kind", resource.kind)):
            obj[name] = obj.get(name) or known
    version, kind = obj.get("apiVersion") or "", obj.get("kind") or ""
    if not kind:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): Object 'Kind' is missing"
        )
    if version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        )
    if kind != resource.kind and resource.custom:
        name = obj["metadata"].get("name", "")
        raise invalid(
            replace(resource, kind=kind), name, [Fault(FaultKind.INVALID, "kind", kind, f"must be {resource.kind}")]
        )
    if kind != resource.kind:
        raise bad_request(f"the kind in the data ({kind}) does not match the expected kind ({resource.kind})")
    metadata: JsonObject = obj["metadata"]
    if resource.namespaced:
        if metadata.setdefault("namespace", target.namespace) != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    else:
        metadata.pop("namespace", None)
    return metadata


def prepare_create(target: Target, obj: JsonObject, now: str, is_taken: Callable[[str], bool]) -> str:
    """Give a new object its name and identity in place and return the name. Raises ApiError 400.

    A generated name is one that `is_taken` does not know.
    """
    metadata = check_identity(target, obj)
    if target.name:
        _check_name(target, metadata)
    elif version_of(metadata):
        raise bad_request("resourceVersion should not be set on objects to be created")
    prefix = metadata.get("generateName")
    if prefix and not metadata.get("name"):
        metadata["name"] = generated_name(prefix, is_taken)
    for name in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "generation"):
        metadata.pop(name, None)
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = now
    if target.resource.has_generation:
        metadata["generation"] = 1
    given: str = metadata.get("name", "")
    return given


def generated_name(prefix: str, is_taken: Callable[[str], bool]) -> str:
    """`generateName` with five random characters."""
    while True:
        name = prefix[:_MAX_GENERATED_PREFIX] + "".join(random.choices(_GENERATED_CHARACTERS, k=5))
        if not is_taken(name):
            return name


def version_of(metadata: JsonObject) -> str:
    """The resourceVersion that a client wants to have read; "" for none, of which 0 is another way to say it."""
    version: str = metadata.get("resourceVersion") or ""
    return "" if version == "0" else version


def _check_name(target: Target, metadata: JsonObject) -> None:
    """Hold the name against the URL: an object without a name was not read from there (400)."""
    name = metadata.get("name")
    if not name:
        why = "was undeterminable: name must be provided"
        raise bad_request(f"the name of the object ({target.name} based on URL) {why}")
    if name != target.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")


def carry_over(target: Target, live: JsonObject, proposed: JsonObject) -> None:
    """Put the fields that only the server sets from the stored object into an update, in place. Raises ApiError 400."""
    metadata = check_identity(target, proposed)
    stored = live["metadata"]
    _check_name(target, metadata)
    if not metadata.get("uid"):
        metadata["uid"] = stored["uid"]
    metadata["creationTimestamp"] = stored["creationTimestamp"]
    metadata.pop("selfLink", None)
    for name in ("generation", "resourceVersion"):
        metadata.pop(name, None)
    kept = ("generation", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds")
    for name in kept:
        if name in stored:
            metadata.setdefault(name, stored[name])
    marked = stored.get("deletionTimestamp", "")
    if _same_time(metadata.get("deletionTimestamp", ""), marked):
        metadata["deletionTimestamp"] = marked


def _same_time(text: str, other: str) -> bool:
    """Whether two texts are one time: clients that read times write them in forms of their own, such as with +00:00."""
    try:
        return text != other and datetime.fromisoformat(text) == datetime.fromisoformat(other)
    except ValueError:
        return False
