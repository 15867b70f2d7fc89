"""The documents that describe the API: discovery, version, health and OpenAPI, each made once per change of the registry.

Owns the paths of these documents and their caching. What is in them is the business of discovery and openapi/.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from standalone import discovery, openapi
from standalone.registry import Registry
from standalone.resource import Resource

JSON = "application/json"
TEXT = "text/plain"
AGGREGATED = "as=APIGroupDiscoveryList"

_HEALTH_PATHS = ("/healthz", "/livez", "/readyz")
_FIXED: dict[str, Callable[[Sequence[Resource]], dict[str, Any]]] = {
    "/": lambda _: {"paths": sorted([*_HEALTH_PATHS, *_FIXED])},
    "/api": discovery.api_versions,
    "/apis": discovery.legacy_groups,
    "/openapi/v2": openapi.v2_document,
    "/openapi/v3": openapi.v3_index,
    "/version": lambda _: discovery.version_info(),
}


@dataclass(frozen=True, slots=True)
class Document:
    """An encoded document and its media type."""

    content: bytes
    content_type: str = JSON


class Documents:
    """The described state of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._cache: dict[tuple[str, str], Document] = {}

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path in the form a client accepts, or None when there is none."""
        if self._generation != self._registry.generation:
            self._cache.clear()
            self._generation = self._registry.generation
        path = path.rstrip("/") or "/"
        form = _form(path, accept)
        document = self._cache.get((path, form))
        if document is None:
            document = _make(path, form, self._registry.resources())
            if document is not None:  # unknown paths are not remembered: there is no end to them
                self._cache[path, form] = document
        return document


def _form(path: str, accept: str) -> str:
    """The media type of the answer, of those the path offers."""
    if (
        path in ("/api", "/apis")
        and AGGREGATED in accept
        and "v=v2;" in f"{accept.replace(' ', '').replace(',', ';')};"
    ):
        return discovery.AGGREGATED_CONTENT_TYPE
    if path == "/openapi/v2" and openapi.V2_PROTOBUF_ACCEPTED in accept:
        return openapi.V2_PROTOBUF_CONTENT_TYPE
    return TEXT if path in _HEALTH_PATHS else JSON


def _make(path: str, form: str, resources: Sequence[Resource]) -> Document | None:
    if form == TEXT:
        return Document(b"ok", form)
    if form == openapi.V2_PROTOBUF_CONTENT_TYPE:
        return Document(openapi.v2_protobuf(openapi.v2_document(resources)), form)
    if form == discovery.AGGREGATED_CONTENT_TYPE:
        return Document(orjson.dumps(discovery.aggregated_v2(resources, core=path == "/api")), form)
    content = _FIXED[path](resources) if path in _FIXED else _of_group_version(path, resources)
    return None if content is None else Document(orjson.dumps(content))


def _of_group_version(path: str, resources: Sequence[Resource]) -> dict[str, Any] | None:
    match path.removeprefix("/").split("/"):
        case ["api", version]:
            return discovery.resource_list(resources, version)
        case ["apis", group]:
            return discovery.api_group(resources, group)
        case ["apis", group, version]:
            return discovery.resource_list(resources, f"{group}/{version}")
        case ["openapi", "v3", "api", version]:
            return openapi.v3_document(version, resources)
        case ["openapi", "v3", "apis", group, version]:
            return openapi.v3_document(f"{group}/{version}", resources)
    return None
