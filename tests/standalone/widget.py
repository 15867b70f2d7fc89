"""A custom kind for tests, and where its objects are."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "color": {"type": "string", "default": "grey", "enum": ["grey", "red", "blue"]},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "weight": {"type": "integer"}},
                    },
                },
                "frozen": {
                    "type": "string",
                    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "frozen is immutable"}],
                },
            },
        },
        "status": {"type": "object", "properties": {"seen": {"type": "integer"}, "note": {"type": "string"}}},
    },
}


@dataclass(frozen=True, slots=True)
class Widgets:
    """The kind Widget in a group and namespace of one test."""

    group: str
    namespace: str
    plural: str = "widgets"
    version: str = "v1"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"

    @property
    def definition(self) -> dict[str, Any]:
        version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
        names = {"plural": self.plural, "kind": "Widget", "shortNames": ["wd"]}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{self.group}"},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": names,
                "versions": [{**version, "schema": {"openAPIV3Schema": copy.deepcopy(SCHEMA)}}],
            },
        }

    @property
    def definition_path(self) -> str:
        return f"{DEFINITIONS}/{self.plural}.{self.group}"

    @property
    def everywhere(self) -> str:
        """The collection over all namespaces."""
        return f"/apis/{self.api_version}/{self.plural}"

    @property
    def path(self) -> str:
        """The collection in the test's namespace."""
        return f"/apis/{self.api_version}/namespaces/{self.namespace}/{self.plural}"

    def at(self, name: str, subresource: str = "") -> str:
        return f"{self.path}/{name}/{subresource}".rstrip("/")

    def make(self, name: str, *, size: int = 1, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": self.api_version,
            "kind": "Widget",
            "metadata": {"name": name, **(metadata or {})},
            "spec": {"size": size, **spec},
        }


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACES = "/api/v1/namespaces"


def config_map(name: str, *, metadata: dict[str, Any] | None = None, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **(metadata or {})}, "data": data}


def config_maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"
