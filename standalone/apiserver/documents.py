"""The documents that describe the API: discovery, version, health and OpenAPI, each made once per change of the registry.

Owns the paths of these documents and their caching. What is in them is the business of discovery and openapi/.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from standalone import discovery, openapi
from standalone.registry import Registry

JSON = "application/json"
TEXT = "text/plain"
_HEALTH_PATHS = frozenset({"/healthz", "/livez", "/readyz"})


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
        self._cache: dict[tuple[str, bool], Document | None] = {}

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path, or None when there is none."""
        if self._generation != self._registry.generation:
            self._cache.clear()
            self._generation = self._registry.generation
        path = path.rstrip("/") or "/"
        aggregated = path in ("/api", "/apis") and "as=APIGroupDiscoveryList" in accept and ";v=v2;" in f"{accept};"
        cache_key = (path, aggregated)
        if cache_key not in self._cache:
            found = self._make(path, aggregated)
            if found is None:
                return None  # unknown paths are not remembered: there is no end to them
            self._cache[cache_key] = found
        return self._cache[cache_key]

    def _make(self, path: str, aggregated: bool) -> Document | None:
        if path in _HEALTH_PATHS:
            return Document(b"ok", TEXT)
        if aggregated:
            described = discovery.aggregated_v2(self._registry.resources(), core=path == "/api")
            return Document(orjson.dumps(described), discovery.AGGREGATED_CONTENT_TYPE)
        content = self._content(path)
        return None if content is None else Document(orjson.dumps(content))

    def _content(self, path: str) -> dict[str, Any] | None:
        resources = self._registry.resources()
        fixed: dict[str, Callable[[], dict[str, Any]]] = {
            "/": lambda: {
                "paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
            },
            "/version": discovery.version_info,
            "/api": lambda: discovery.api_versions(resources),
            "/apis": lambda: discovery.legacy_groups(resources),
            "/openapi/v2": lambda: openapi.v2_document(resources),
            "/openapi/v3": lambda: openapi.v3_index(resources),
        }
        if path in fixed:
            return fixed[path]()
        if path.startswith("/openapi/v3/"):
            return openapi.v3_document(
                path.removeprefix("/openapi/v3/").removeprefix("apis/").removeprefix("api/"), resources
            )
        match path.removeprefix("/").split("/"):
            case ["api", version]:
                return discovery.resource_list(resources, version)
            case ["apis", group]:
                return discovery.api_group(resources, group)
            case ["apis", group, version]:
                return discovery.resource_list(resources, f"{group}/{version}")
        return None
