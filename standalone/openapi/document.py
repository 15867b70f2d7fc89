"""OpenAPI version 3: the index of `/openapi/v3` and one document per group version.

Owns the documents' frame and their hashes. A hash follows the resources alone, so an index costs no document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson

from standalone.discovery import version_info
from standalone.openapi.component import meta_components, own_schema, resource_components
from standalone.openapi.operation import resource_paths
from standalone.resource import Resource

_LAYOUT = "1"
"""Part of every hash: clients cache documents by hash for good, so it changes when the builders change."""


def v3_index(resources: Sequence[Resource]) -> dict[str, Any]:
    """The index of `GET /openapi/v3`: where each group version's document is, with a hash that allows caching."""
    paths = {}
    for group_version in sorted({resource.api_version for resource in resources}):
        path = _path(group_version)
        url = f"/openapi/v3/{path}?hash={v3_hash(group_version, resources)}"
        paths[path] = {"serverRelativeURL": url}
    return {"paths": paths}


def v3_hash(group_version: str, resources: Sequence[Resource]) -> str:
    """The hash of a group version's document: equal hashes mean equal documents."""
    identity = [
        [each.kind, each.list_kind, each.plural, each.namespaced, each.has_status, each.verbs, own_schema(each)]
        for each in _members(group_version, resources)
    ]
    digest = hashlib.sha512(_LAYOUT.encode())
    digest.update(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))
    return digest.hexdigest().upper()


def v3_document(group_version: str, resources: Sequence[Resource]) -> dict[str, Any] | None:
    """The document of `GET /openapi/v3/apis/GROUP/VERSION` (or `/api/v1`), or None when nothing has that version."""
    members = _members(group_version, resources)
    if not members:
        return None
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = dict(meta_components())
    for resource in members:
        paths.update(resource_paths(resource))
        schemas.update(resource_components(resource))
    return {
        "openapi": "3.0.0",
        "info": info(),
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def info() -> dict[str, str]:
    """The `info` object of both versions' documents."""
    return {"title": "Kubernetes", "version": version_info()["gitVersion"]}


def _members(group_version: str, resources: Sequence[Resource]) -> list[Resource]:
    return sorted((each for each in resources if each.api_version == group_version), key=lambda each: each.plural)


def _path(group_version: str) -> str:
    return f"apis/{group_version}" if "/" in group_version else f"api/{group_version}"
