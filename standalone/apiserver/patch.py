"""The patch verb: the four patch formats on top of create and update.

Owns the choice by content type. The formats themselves are in patch/ and fields/.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.create import create
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.status import (
    ApiError,
    apply_conflict,
    bad_request,
    conflict,
    invalid_options,
    unsupported_media_type,
)
from standalone.apiserver.target import Target, User
from standalone.apiserver.update import Edit, change
from standalone.fields.apply import ApplyConflict, ApplyError, server_side_apply
from standalone.patch import PatchError, json_patch, merge_patch, strategic_merge_patch
from standalone.resource import Resource
from standalone.schema.fault import forbidden, required

JsonObject = dict[str, Any]


class PatchType(StrEnum):
    """Patch formats by media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def accepted_types(resource: Resource) -> Sequence[PatchType]:
    """Custom resources have no strategic merge patch."""
    return [each for each in PatchType if each is not PatchType.STRATEGIC or not resource.custom]


def patch_type(resource: Resource, media_type: str) -> PatchType:
    """Raises ApiError 415 for a format the resource does not take."""
    accepted = accepted_types(resource)
    for each in accepted:
        if each.value == media_type:
            return each
    raise unsupported_media_type(accepted)


async def patch(api: Api, target: Target, kind: PatchType, content: Any, options: WriteOptions, user: User) -> Outcome:
    """Apply a decoded patch to the stored object; server-side apply creates it when it is absent. Raises ApiError."""
    _check_options(kind, options)
    try:
        if kind is PatchType.APPLY:
            return await _apply(api, target, content, options, user)
        return await change(api, target, _edit(target.resource, kind, content), options, user)
    except PatchError as error:
        raise ApiError(error.status_code, error.reason, error.message) from error


def _edit(resource: Resource, kind: PatchType, content: Any) -> Edit:
    if kind is PatchType.JSON:
        return lambda live: json_patch(live, content)
    if not isinstance(content, dict):
        raise bad_request("the body of a merge patch must be an object")
    if kind is PatchType.MERGE:
        return lambda live: merge_patch(live, content)
    return lambda live: strategic_merge_patch(live, content, resource)


async def _apply(api: Api, target: Target, applied: Any, options: WriteOptions, user: User) -> Outcome:
    """Server-side apply: creates what is absent, and otherwise merges by field ownership."""
    if not isinstance(applied, dict):
        raise bad_request("the body of an apply patch must be one object")
    try:
        while True:
            absent = api.store.get(target.key) is None and not target.subresource
            try:
                if absent:
                    _check_new(target, applied)
                    merged = await api.aside.run(
                        options.body_bytes, lambda: _merged(api, target, None, applied, options)
                    )
                    return await create(api, target, merged, options, user, applied=True)
                return await change(
                    api, target, lambda live: _merged(api, target, live, applied, options), options, user, applied=True
                )
            except ApiError as error:  # somebody else made or deleted it since it was looked for
                lost = "AlreadyExists" if absent else "NotFound"
                if error.reason != lost or target.subresource or absent is (api.store.get(target.key) is None):
                    raise
    except ApplyConflict as error:
        raise apply_conflict(error.message, error.causes) from error
    except ApplyError as error:
        raise ApiError(error.status_code, error.reason, error.message) from error


def _check_new(target: Target, applied: JsonObject) -> None:
    """Refuse to make anew what a configuration that names a uid says is there (409)."""
    metadata = applied.get("metadata")
    if isinstance(metadata, dict) and (uid := metadata.get("uid")):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(target.resource, target.name, why)


def _merged(
    api: Api, target: Target, live: JsonObject | None, applied: JsonObject, options: WriteOptions
) -> JsonObject:
    resource = target.resource
    return server_side_apply(
        live,
        applied,
        manager=options.manager,
        force=options.force,
        schema=api.registry.schema(resource),
        api_version=resource.api_version,
        kind=resource.kind,
        subresource=target.subresource,
        now=api.now(),
        has_status=resource.has_status,
    )


def _check_options(kind: PatchType, options: WriteOptions) -> None:
    """What PatchOptions must and may not say for a format (meta/v1 validation)."""
    if kind is PatchType.APPLY and not options.manager_given:
        raise invalid_options("PatchOptions", required("fieldManager", "is required for apply patch"))
    if kind is not PatchType.APPLY and options.force:
        raise invalid_options("PatchOptions", forbidden("force", "may not be specified for non-apply patch"))
