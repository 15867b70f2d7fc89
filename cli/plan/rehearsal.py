"""What an API would make of manifests, without asking it to: `dns-api apply` on a copy of what the API holds.

Owns the order of judgement: field ownership, schema, admission, as in the API. Never writes to an API; what admission looks up is what
has been taken so far.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cli.api.refusal import faults as told_by
from cli.objects.document import Document, Fault
from cli.objects.submission import FIELD_MANAGER, Settings, subject
from cli.plan.judgement import Judge, admission_faults, joined
from controllers.api.group import NAMESPACES, PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.provider import Provider, parse_provider
from controllers.api.record_set import parse_record_set
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, parse_record_withdrawal
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS, parse_record_withdrawal_waiver
from controllers.api.zone import Zone, parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import parse_zone_unit
from controllers.core.admission.handler import Admission
from controllers.core.plan import FieldChange, World, field_changes
from kube.errors import Cause, Conflict
from kube.object import ObjectKey, ObjectMeta
from kube.resource import ResourceRef
from standalone.apiserver.metadata.generation import count_generation
from standalone.fields.apply import ApplyConflict, ApplyError, server_side_apply
from standalone.schema.structural import StructuralSchema

Manifest = dict[str, Any]
Objects = dict[ResourceRef, dict[ObjectKey, Manifest]]

PARSERS: Final[Mapping[ResourceRef, Callable[[Mapping[str, Any]], Any]]] = {
    NAMESPACES: ObjectMeta.parse,
    PROVIDERS: parse_provider,
    ZONE_CLASSES: parse_zone_class,
    ZONES: parse_zone,
    RECORD_SETS: parse_record_set,
    RECORD_WITHDRAWALS: parse_record_withdrawal,
    RECORD_WITHDRAWAL_WAIVERS: parse_record_withdrawal_waiver,
    ZONE_UNITS: parse_zone_unit,
}
"""The kinds that a plan knows, in the order in which they are applied."""

_REFS: Final = {(ref.api_version.rpartition("/")[0], ref.kind): ref for ref in PARSERS}


@dataclass(frozen=True, slots=True)
class Taken:
    """A manifest that the API would take; `changes` are empty when the object is like that already."""

    document: Document
    ref: ResourceRef
    key: ObjectKey
    created: bool
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """A manifest of a kind that has no part in zones."""

    document: Document


@dataclass(slots=True)
class _Parsed:
    """Objects of the kinds that a plan knows, parsed."""

    of: dict[ResourceRef, dict[ObjectKey, Any]] = field(default_factory=lambda: {ref: {} for ref in PARSERS})

    def world(self) -> World:
        of = self.of
        return World(
            providers=dict(of[PROVIDERS]),
            zone_classes=dict(of[ZONE_CLASSES]),
            zones=dict(of[ZONES]),
            record_sets=dict(of[RECORD_SETS]),
            zone_units=dict(of[ZONE_UNITS]),
            namespaces=dict(of[NAMESPACES]),
            withdrawals=dict(of[RECORD_WITHDRAWALS]),
            waivers=dict(of[RECORD_WITHDRAWAL_WAIVERS]),
        )


class Rehearsal:
    """One run of manifests over the objects of an API; `before` and `after` are the worlds on both sides of it.

    `unreadable` tells of the objects, by kind, that are in the API and cannot be parsed: for controllers, too, they are not there.
    """

    def __init__(self, objects: Objects, settings: Settings, now: str) -> None:
        """Take the objects as the API lists them; `now` (RFC 3339) is when new ones are created."""
        self._objects = {ref: dict(objects.get(ref, {})) for ref in PARSERS}
        self._settings = settings
        self._now = now
        self._parsed = _Parsed()
        self.unreadable: list[tuple[ResourceRef, str]] = []
        for ref, found in self._objects.items():
            for key, obj in found.items():
                self._parse(ref, key, obj)
        self.before = self._parsed.world()
        self._judges = {ref: Judge.of(ref) for ref in PARSERS}
        self._hooks = {hook.resource: hook for hook in Admission(self).hooks() if hook.subresource is None}
        self._places: dict[tuple[ResourceRef, ObjectKey], str] = {}

    @property
    def after(self) -> World:
        """The world with everything that has been taken."""
        return self._parsed.world()

    async def run(self, documents: Sequence[Document]) -> list[Taken | Left | Fault]:
        """Return what becomes of each manifest, in the order of application."""
        return [await self._take(document) for document in sorted(documents, key=lambda each: each.stage)]

    async def provider(self, name: str) -> Provider | None:
        """Look a Provider up, as admission does."""
        found: Provider | None = self._parsed.of[PROVIDERS].get(ObjectKey("", name))
        return found

    async def zone(self, key: ObjectKey) -> Zone | None:
        """Look a Zone up, as admission does."""
        found: Zone | None = self._parsed.of[ZONES].get(key)
        return found

    async def _take(self, document: Document) -> Taken | Left | Fault:
        ref = _REFS.get((document.api_version.rpartition("/")[0], document.kind))
        if ref is None:
            return Left(document)
        content = copy.deepcopy(document.content)
        name = subject(ref, content["metadata"]["name"])
        objections = self._place(ref, content["metadata"])
        if objections:
            return Fault(document.place, tuple(objections), name)
        key = ObjectKey.parse(content)
        first = self._places.setdefault((ref, key), document.place)
        if first != document.place:
            return Fault(document.place, (f"describes the same object as {first}: keep one of them",), name)
        live = self._objects[ref].get(key)
        objections, obj = await self._judge(ref, content, live)
        if objections or obj is None:
            return Fault(document.place, tuple(objections), name)
        changes = tuple(_changes(live or {}, obj))
        if changes or live is None:
            self._objects[ref][key] = obj
            if not self._parse(ref, key, obj):
                return Fault(document.place, (self.unreadable.pop()[1],), name)
        return Taken(document, ref, key, live is None, changes)

    def _place(self, ref: ResourceRef, metadata: Manifest) -> list[str]:
        """Settle the namespace of a manifest; return what stands against it."""
        if not ref.namespaced:
            found = metadata.pop("namespace", None)
            return [f"metadata.namespace: {ref.kind} has no namespace, leave it out"] if found else []
        settings = self._settings
        namespace = metadata["namespace"] = metadata.get("namespace") or settings.namespace
        if settings.only_namespace and namespace != settings.namespace:
            return [f"metadata.namespace: found {namespace!r}, --namespace allows {settings.namespace!r} only"]
        meta: ObjectMeta | None = self._parsed.of[NAMESPACES].get(ObjectKey("", namespace))
        if meta is None:
            return [f"metadata.namespace: found {namespace!r}, which does not exist"]
        if meta.deleting and ObjectKey(namespace, metadata["name"]) not in self._objects[ref]:
            return [f"metadata.namespace: found {namespace!r}, which is being deleted"]
        return []

    async def _judge(
        self, ref: ResourceRef, content: Manifest, live: Manifest | None
    ) -> tuple[list[str], Manifest | None]:
        """Return every objection to a manifest, and the object that it would make."""
        judge, hook = self._judges[ref], self._hooks.get(ref)
        try:
            obj = self._applied(ref, content, live, judge.schema)
        except ApplyConflict as conflict:
            causes = tuple(Cause(each["field"], each["reason"], each["message"]) for each in conflict.causes)
            return list(told_by(Conflict(conflict.message, causes=causes))), None
        except ApplyError as error:
            # The API goes no further than this; the values are worth a word all the same.
            undeclared = judge.undeclared(content) or [error.message]
            return joined(undeclared, await admission_faults(hook, content, live)), None
        found = joined(judge.shape(obj, live), judge.faults(obj, live))
        return joined(found, await admission_faults(hook, obj, live)), obj

    def _applied(
        self, ref: ResourceRef, content: Manifest, live: Manifest | None, schema: StructuralSchema | None
    ) -> Manifest:
        obj = copy.deepcopy(
            server_side_apply(
                live,
                content,
                manager=FIELD_MANAGER,
                force=self._settings.force,
                schema=schema,
                api_version=ref.api_version,
                kind=ref.kind,
                subresource="",
                now=self._now,
            )
        )
        obj.pop("status", None)
        if live is None:
            obj["metadata"] |= {"creationTimestamp": self._now, "generation": 1}
        else:
            count_generation(live, obj, has_status=True)
            obj |= {"status": live["status"]} if "status" in live else {}
        return obj

    def _parse(self, ref: ResourceRef, key: ObjectKey, obj: Manifest) -> bool:
        try:
            self._parsed.of[ref][key] = PARSERS[ref](obj)
        except ValueError as error:
            self.unreadable.append((ref, f"{ref.kind} {key} cannot be read: {' '.join(str(error).split())}"))
            return False
        return True


def _changes(live: Manifest, obj: Manifest) -> Iterator[FieldChange]:
    yield from field_changes(live.get("spec"), obj.get("spec"), "spec")
    for name in ("labels", "annotations"):
        before, after = (each.get("metadata", {}).get(name) for each in (live, obj))
        yield from field_changes(before, after, f"metadata.{name}")
