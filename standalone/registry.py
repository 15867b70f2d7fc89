"""Which resources are served right now: the built-in ones and those of the established CustomResourceDefinitions.

Owns the lookup by group, version and plural, and one compiled schema per served version. Follows the stored
definitions; never changes them. Followed on the event loop, and read from threads, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from standalone.apiserver.kinds.builtin import BUILT_IN, CUSTOM_RESOURCE_DEFINITION
from standalone.apiserver.kinds.custom_resource import Definition, served_resources
from standalone.apiserver.kinds.decoding import with_bytes
from standalone.resource import Resource
from standalone.schema.structural import StructuralSchema
from standalone.store.record import Event, EventType

Coordinates = tuple[str, str, str]


class Registry:
    """The table of served resources. `generation` counts its changes, so that documents made from it can be cached."""

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        self.generation = 0
        self._definitions: dict[str, Definition] = {each["metadata"]["name"]: each for each in definitions}
        self._further: list[Resource] = []
        self._resources: dict[Coordinates, Resource] = {}
        self._schemas: dict[Coordinates, StructuralSchema | None] = {}
        self._rebuild()

    def lookup(self, group: str, version: str, plural: str) -> Resource | None:
        return self._resources.get((group, version, plural))

    def lookup_kind(self, api_version: str, kind: str) -> Resource | None:
        """The resource of an apiVersion and kind, e.g. of an owner reference."""
        return self._kinds.get((api_version, kind))

    def lookup_stored(self, group: str, plural: str) -> Resource | None:
        """A served resource that is stored under (group, plural), whichever version."""
        return self._stored.get((group, plural))

    def resources(self) -> tuple[Resource, ...]:
        return tuple(self._resources.values())

    def definition(self, resource: Resource) -> Definition | None:
        """The stored definition behind a custom resource."""
        return self._definitions.get(f"{resource.plural}.{resource.group}")

    def definitions_of_group(self, group: str) -> list[Definition]:
        return [each for each in tuple(self._definitions.values()) if each["spec"]["group"] == group]

    def schema(self, resource: Resource) -> StructuralSchema | None:
        """The compiled schema of a resource; None when it takes any content.

        A request that began before the definition changed may still ask for the earlier one, which is not kept for the later.
        """
        coordinates = (resource.group, resource.version, resource.plural)
        schemas = self._schemas
        if coordinates in schemas:
            return schemas[coordinates]
        declared = resource.schema if resource.custom else with_bytes(resource.schema)
        schema = StructuralSchema.parse(declared) if declared is not None else None
        served = self._resources.get(coordinates)
        if served is not None and served.schema == resource.schema:
            schemas[coordinates] = schema
        return schema

    def add(self, resource: Resource) -> None:
        """Serve a resource that neither is built in nor has a definition."""
        self._further.append(resource)
        self._rebuild()

    def follow(self, event: Event) -> None:
        """Take in a change to a stored definition; other events are ignored."""
        key = event.record.key
        if (key.group, key.plural) != CUSTOM_RESOURCE_DEFINITION.storage_key:
            return
        if event.type is EventType.DELETED:
            self._definitions.pop(key.name, None)
            self._rebuild()
            return
        before = self._definitions.get(key.name)
        definition = event.record.object()
        self._definitions[key.name] = definition
        if before is None or _serving(before) != _serving(definition):
            self._rebuild()

    def _rebuild(self) -> None:
        resources = [*BUILT_IN, *self._further]
        for name in sorted(self._definitions):
            resources.extend(served_resources(self._definitions[name]))
        before = self._resources
        self._resources = {(each.group, each.version, each.plural): each for each in resources}
        self._kinds = {(each.api_version, each.kind): each for each in resources}
        self._stored = {each.storage_key: each for each in reversed(resources)}
        self._schemas = {
            coordinates: schema
            for coordinates, schema in tuple(self._schemas.items())
            if coordinates in self._resources and before[coordinates].schema == self._resources[coordinates].schema
        }
        self.generation += 1


def _serving(definition: Definition) -> tuple[Any, ...]:
    """What a definition says about serving; the rest of its status changes without effect here."""
    status = definition.get("status", {})
    return (
        definition["spec"],
        status.get("acceptedNames"),
        [(each["type"], each["status"]) for each in status.get("conditions", ())],
        "deletionTimestamp" in definition["metadata"],
    )
