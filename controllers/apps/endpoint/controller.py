"""The endpoint controller: keeps the RecordSets of every EndpointRecordSet as its hostnames, targets and zones have it.

Owns event mapping, the order gather → decide → act, and EndpointRecordSet.status. Never asks a provider anything but by its
conversion API, never writes what it has not made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from controllers.api.condition import ConditionStatus, changed_conditions, find_condition, headline
from controllers.api.endpoint import (
    ADOPTION_ANNOTATION,
    ENDPOINT_RECORD_SETS,
    RESOLVED,
    RETIREMENT_ANNOTATION,
    EndpointProviderCapability,
    EndpointReason,
    EndpointRecordSet,
    EndpointRecordSetStatus,
)
from controllers.api.provider import Provider
from controllers.api.record_set import RecordSet
from controllers.api.zone import Zone
from controllers.apps.endpoint.act import Writer
from controllers.apps.endpoint.answer import Unconverted
from controllers.apps.endpoint.ask import TIMEOUT_S, Conversions
from controllers.apps.endpoint.choice import refusal_of
from controllers.apps.endpoint.inputs import (
    NAMESPACE_INDEX,
    OWNED_ZONE_INDEX,
    SUFFIX_INDEX,
    EndpointInformers,
    EndpointInputs,
    gather,
    owner_of,
)
from controllers.apps.endpoint.leftover import former_zones
from controllers.apps.endpoint.plan import (
    HostnamePlan,
    Question,
    Wanted,
    plan_hostname,
    question_in,
    question_of,
)
from controllers.apps.endpoint.retirement import Retirement
from controllers.apps.endpoint.status import status_of
from controllers.apps.surroundings import AppSurroundings, AttachedApp
from controllers.runtime.controller import Controller, Requeue
from controllers.runtime.event_map import EventMap
from controllers.runtime.recorder import EventType
from kube.errors import NotFound
from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.store import Change
from kube.timestamp import time_text

WORKERS: Final = 16
DENIED_AGAIN_S: Final = 60.0
REFUSED_AGAIN_S: Final = 60.0
REFUSED: Final = frozenset({EndpointReason.RECORD_SET_REJECTED, EndpointReason.RECORD_SET_NOT_OWNED})
"""Reasons that somebody else's change ends, of which no event tells."""
FAILED_AGAIN_S: Final = 600.0
ZONE_ANNOTATIONS: Final = (ADOPTION_ANNOTATION, RETIREMENT_ANNOTATION)


def attach(
    surroundings: AppSurroundings, *, namespace: str | None = None, timeout_s: float = TIMEOUT_S
) -> tuple[AttachedApp, EndpointInformers]:
    """Attach the app and tell its caches; `namespace` is where all RecordSets go, None sends each to its endpoint's own namespace."""
    informers = EndpointInformers.over(surroundings)

    @contextmanager
    def lead() -> Iterator[Sequence[Controller[Any]]]:
        app = EndpointController(surroundings, informers, namespace, timeout_s)
        try:
            yield (app.controller,)
        finally:
            app.close()

    return AttachedApp(lead, (informers.endpoints, informers.capabilities)), informers


class EndpointController:
    """One leadership of the app."""

    def __init__(
        self, surroundings: AppSurroundings, informers: EndpointInformers, namespace: str | None, timeout_s: float
    ) -> None:
        self._surroundings = surroundings
        self._informers = informers
        self._namespace = namespace
        self._conversions = Conversions(surroundings.client, surroundings.clock, timeout_s=timeout_s)
        retirement = Retirement(surroundings)
        self._writer = Writer(surroundings.client, retirement)
        self.controller: Controller[ObjectKey] = Controller("endpoint", self.reconcile, workers=WORKERS, settle_s=1.0)
        self._events = EventMap()
        events, controller = self._events, self.controller
        events.follow(informers.endpoints, self._for_endpoint, controller)
        events.follow(informers.capabilities, self._for_capability, controller)
        events.follow(surroundings.providers, self._for_provider, controller)
        events.follow(surroundings.zones, self._for_zone, controller)
        events.follow(surroundings.record_sets, self._for_record_set, controller)
        events.follow(surroundings.namespaces, self._for_namespace, controller)
        events.follow(surroundings.withdrawals, retirement.note_seen, controller)

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Make the records of one endpoint as they have to be, and tell about it."""
        inputs = gather(self._surroundings, self._informers, key, self._namespace)
        if inputs.endpoint is None and key in self._informers.endpoints.undecodable:
            return None  # it is there but cannot be read, which is no reason to take anything away
        endpoint = inputs.staying
        plans, waits_s = await self._plan(endpoint, inputs) if endpoint is not None else ({}, [])
        plans, is_unfollowed = await self._writer.apply(inputs, plans)
        if is_unfollowed or any(plan.refusal is not None and plan.refusal.reason in REFUSED for plan in plans.values()):
            waits_s.append(REFUSED_AGAIN_S)
        if endpoint is not None:
            now = time_text(self._surroundings.wall_clock())
            await self._report(endpoint, status_of(endpoint, inputs, plans, now))
        return Requeue(min(waits_s)) if waits_s else None

    async def _plan(
        self, endpoint: EndpointRecordSet, inputs: EndpointInputs
    ) -> tuple[dict[str, HostnamePlan], list[float]]:
        """Return the plan of each hostname, and in how many seconds conversions are to be asked for again."""
        waits_s: list[float] = []

        async def plan(hostname: str) -> HostnamePlan:
            found = question_of(hostname, inputs)
            if not isinstance(found, Question):
                return found
            converted = await self._conversions.ask(found.api, found.given)
            if isinstance(converted, Unconverted):
                waits_s.append(self._wait_s(found, converted))
            return plan_hostname(found, converted, inputs)

        async def plan_with_former(hostname: str) -> HostnamePlan:
            return await self._with_former(await plan(hostname), inputs, waits_s)

        made = await asyncio.gather(*map(plan_with_former, endpoint.spec.hostnames))
        return {each.hostname: each for each in made}, waits_s

    async def _with_former(self, plan: HostnamePlan, inputs: EndpointInputs, waits_s: list[float]) -> HostnamePlan:
        """Plan the RecordSets of zones that a hostname comes from, too; while that cannot be told they stay as they are."""
        former: list[Wanted] = []
        for zone in former_zones(plan, inputs):
            found = question_in(zone, plan.hostname, inputs)
            if isinstance(found, Question):
                converted = await self._conversions.ask(found.api, found.given)
                if isinstance(converted, Unconverted):
                    waits_s.append(self._wait_s(found, converted))
                former += plan_hostname(found, converted, inputs).wanted
        return replace(plan, former=tuple(each for each in former if each.there is not None)) if former else plan

    def _wait_s(self, question: Question, converted: Unconverted) -> float:
        """Nothing tells when an API answers otherwise, so it is asked again after a while."""
        match converted.reason:
            case EndpointReason.CONVERSION_UNAVAILABLE:
                return self._conversions.wait_s(question.api)
            case EndpointReason.CONVERSION_FAILED:
                return FAILED_AGAIN_S
            case _:
                return DENIED_AGAIN_S

    async def _report(self, endpoint: EndpointRecordSet, status: EndpointRecordSetStatus) -> None:
        if status == endpoint.status:
            return
        try:
            await self._surroundings.client.patch_merge(
                ENDPOINT_RECORD_SETS,
                {"metadata": {"uid": endpoint.meta.uid}, "status": status.dump()},
                namespace=endpoint.meta.namespace,
                name=endpoint.meta.name,
                subresource="status",
            )
        except NotFound:
            return
        self._tell(endpoint, status)

    def _tell(self, endpoint: EndpointRecordSet, status: EndpointRecordSetStatus) -> None:
        """That all is well from the beginning is no news."""
        before = find_condition(endpoint.status.conditions, RESOLVED)
        for each in changed_conditions(endpoint.status.conditions, status.conditions):
            resolved = each.status is ConditionStatus.TRUE
            if resolved and before is None:
                continue
            kind = EventType.NORMAL if resolved else EventType.WARNING
            regarding = ObjectReference.of(ENDPOINT_RECORD_SETS, endpoint.meta)
            self._surroundings.recorder.event(regarding, kind, each.reason, headline(each))

    def _for_endpoint(self, change: Change[EndpointRecordSet]) -> Iterator[ObjectKey]:
        old, new = change.old, change.new
        if old is None or new is None or _said(old.meta) != _said(new.meta):
            yield change.key

    def _for_capability(self, change: Change[EndpointProviderCapability]) -> Iterator[ObjectKey]:
        yield from (key for key, _ in self._informers.endpoints.items())

    def _for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        old, new = change.old, change.new
        if old is None or new is None or old.spec != new.spec:
            yield from (key for key, _ in self._informers.endpoints.items())

    def _for_zone(self, change: Change[Zone]) -> Iterator[ObjectKey]:
        """Every endpoint with a hostname within the zone's domain; of a zone's status nothing but a refusal concerns them."""
        old, new = change.old, change.new
        if old is not None and new is not None and _said_of_zone(old) == _said_of_zone(new):
            return
        domains = {each.spec.domain_name for each in (old, new) if each is not None}
        for domain in domains:
            yield from self._informers.endpoints.keys_by_index(SUFFIX_INDEX, domain)
        if new is None or new.deleting:
            yield from self._owners_in(change.key)

    def _owners_in(self, zone: ObjectKey) -> Iterator[ObjectKey]:
        """Endpoints whose records are in a zone that is going, whether or not its domain still is the best one."""
        for record_set in self._surroundings.record_sets.by_index(OWNED_ZONE_INDEX, zone):
            owner = owner_of(record_set)
            if owner is not None:
                yield owner

    def _for_record_set(self, change: Change[RecordSet]) -> Iterator[ObjectKey]:
        owners = {owner_of(each) for each in (change.old, change.new) if each is not None}
        yield from (each for each in owners if each is not None)

    def _for_namespace(self, change: Change[ObjectMeta]) -> Iterator[ObjectKey]:
        old, new = change.old, change.new
        if old is not None and new is not None and old.labels == new.labels:
            return
        if self._namespace == change.key.name:
            yield from (key for key, _ in self._informers.endpoints.items())
        yield from self._informers.endpoints.keys_by_index(NAMESPACE_INDEX, change.key.name)


def _said(meta: ObjectMeta) -> tuple[object, ...]:
    return meta.uid, meta.generation, dict(meta.annotations), meta.deleting


def _said_of_zone(zone: Zone) -> tuple[object, ...]:
    annotations = [zone.meta.annotations.get(name) for name in ZONE_ANNOTATIONS]
    return zone.meta.uid, zone.spec, zone.deleting, annotations, refusal_of(zone)
