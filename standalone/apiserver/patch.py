"""The patch verb: the four patch formats on top of create and update.

Owns the choice by content type. The formats themselves are in patch/ and fields/.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from standalone.apiserver.api import Api, Outcome
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.status import ApiError, bad_request, unsupported_media_type
from standalone.apiserver.target import Target, User
from standalone.apiserver.update import Edit, change
from standalone.patch import PatchError, json_patch, merge_patch
from standalone.resource import Resource

JsonObject = dict[str, Any]


class PatchType(StrEnum):
    """Patch formats by media type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def accepted_types(resource: Resource) -> Sequence[PatchType]:
    """Custom resources have no strategic merge patch."""
    return [PatchType.JSON, PatchType.MERGE]


def patch_type(resource: Resource, media_type: str) -> PatchType:
    """Raises ApiError 415 for a format the resource does not take."""
    accepted = accepted_types(resource)
    for each in accepted:
        if each.value == media_type:
            return each
    raise unsupported_media_type(accepted)


async def patch(api: Api, target: Target, kind: PatchType, content: Any, options: WriteOptions, user: User) -> Outcome:
    """Apply a decoded patch to the stored object; server-side apply creates it when it is absent. Raises ApiError."""
    if options.force and kind is not PatchType.APPLY:
        raise ApiError(
            422,
            "Invalid",
            'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        )
    try:
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
    raise unsupported_media_type(accepted_types(resource))
