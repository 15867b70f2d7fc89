"""One served resource of the embedded API, as the API machinery names it.

Owns the value that discovery, storage, printing and validation share. Never stores objects and never does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STANDARD_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """One `additionalPrinterColumns` entry (apiextensions.k8s.io/v1)."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """A group, version and plural with what the server has to know to serve it.

    `schema` is the `openAPIV3Schema` of the version with its root type, or None for kinds that take any content.
    `storage_group_key` is what versions of one kind share: objects are stored once under (group, plural).
    """

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_status: bool = False
    schema: Mapping[str, Any] | None = None
    printer_columns: tuple[PrinterColumn, ...] = ()
    verbs: tuple[str, ...] = STANDARD_VERBS
    custom: bool = False
    """True when a CustomResourceDefinition defines it; built-in kinds are False."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    storage_group: str | None = None
    """The group it is stored under when that is not its own: `events.k8s.io` Events are core Events."""
    has_generation: bool = False
    """True when `metadata.generation` counts changes outside metadata and status."""
    selectable_fields: tuple[str, ...] = ()
    """Dotted paths that field selectors may name beside `metadata.name` and `metadata.namespace`."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def storage_key(self) -> tuple[str, str]:
        return (self.group if self.storage_group is None else self.storage_group, self.plural)

    @property
    def group_resource(self) -> str:
        """The `plural.group` form that Status messages use, e.g. `zones.dns.appthrust.io`; bare plural for core."""
        return f"{self.plural}.{self.group}" if self.group else self.plural
