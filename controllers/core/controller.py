"""The composer as a controller: one key is one zone, whatever of it changed.

Owns the event mapping and the order gather, compose, write, project. Never judges a claim itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from controllers.api.condition import Condition, ConditionStatus, changed_conditions, headline, status_ground
from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.provider import Provider
from controllers.api.reason import RECORD_SET_REASONS, ZONE_REASONS
from controllers.api.record_set import RecordSet, RecordSetStatus
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, RecordWithdrawal, RecordWithdrawalStatus
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver
from controllers.api.zone import Zone, ZoneStatus
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.apply import LedgerWriter
from controllers.core.collection import Collection
from controllers.core.compose import Composition, compose, fallen_short, without_unheld
from controllers.core.expectation import Expectations
from controllers.core.inputs import (
    CLASS_INDEX,
    PROVIDER_INDEX,
    CoreInformers,
    ZoneInputs,
    gather,
    zone_key_of,
)
from controllers.core.memory import ZoneMemory
from controllers.core.projection import Projected, project_record_set, project_zone, without_claims_of_providers
from controllers.core.providercontract.contract import Contracts
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.core.providercontract.conversion.desk import ConversionDesk, Converter
from controllers.core.question import questions
from controllers.core.withdrawal.informer import claim_key_of
from controllers.core.withdrawal.informer import zone_key_of as zone_key_of_withdrawal
from controllers.core.withdrawal.projector import changed_withdrawals, write_status_of
from controllers.core.withdrawal.reconciler import WaiverReconciler
from controllers.core.zone_rule import judge_surroundings, obstacle_of
from controllers.runtime import metrics
from controllers.runtime.controller import Controller, Requeue
from controllers.runtime.event_map import EventMap
from controllers.runtime.parallel import in_parallel
from controllers.runtime.recorder import EventRecorder, EventType
from controllers.runtime.refusal import Refusals
from kube.client import Client
from kube.errors import Invalid
from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.resource import ResourceRef
from kube.store import Change
from kube.timestamp import time_text, utc_now

PROVISIONAL_AFTER_S: Final = 1.0
CONTENDED_AFTER_S: Final = 0.2
REFUSED_AFTER_S: Final = 10.0
SETTLE_S: Final = 2.0
SLICE_S: Final = 0.02
T = TypeVar("T")

Claim = Zone | RecordSet | RecordWithdrawal
ClaimStatus = ZoneStatus | RecordSetStatus | RecordWithdrawalStatus


class Composer:
    """Composes zones and projects results; `controller` and `conversions` are what the manager runs.

    `converter` asks the conversion webhooks of Providers.
    """

    def __init__(
        self,
        client: Client,
        informers: CoreInformers,
        recorder: EventRecorder,
        *,
        converter: Converter | None = None,
        wall_clock: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._informers = informers
        self._recorder = recorder
        self._wall_clock = wall_clock
        self._clock = clock
        self._expectations = Expectations(clock)
        self._writer = LedgerWriter(client, self._expectations)
        self._memories: dict[ObjectKey, ZoneMemory] = {}
        self._provisional: dict[ObjectKey, dict[tuple[str, ObjectKey], float]] = {}
        self._contracts = Contracts()
        self._collection = Collection(clock)
        self._refusals: Refusals[tuple[str, ObjectKey]] = Refusals(clock)
        self.controller = Controller("core", self.reconcile, workers=4, settle_s=SETTLE_S)
        self.conversions = ConversionDesk(converter or ConversionClient(), self.controller.enqueue)
        followed = informers.withdrawals
        self._waivers = WaiverReconciler(client, followed, recorder, wall_clock) if followed is not None else None
        self._guarded = metrics.Tally(metrics.GUARD_HOLDS, metrics.GUARD_HELD_ZONES)
        self._events = EventMap()
        self._subscribe()

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()
        self._guarded.close()
        if self._waivers is not None:
            self._waivers.close()

    @property
    def controllers(self) -> tuple[Controller[ObjectKey], ...]:
        """Everything of core that runs while the manager leads."""
        return (self.controller,) if self._waivers is None else (self.controller, self._waivers.controller)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one zone's ledger and statuses to what its claims say."""
        inputs = gather(self._informers, self._contracts, key)
        if not self._expectations.are_met(key, inputs.units):
            return Requeue(PROVISIONAL_AFTER_S)
        memory = self._memories.setdefault(key, ZoneMemory())
        await self._judge_slowly(inputs, memory)
        if (asked := questions(inputs, memory)) is not None:
            inputs = replace(inputs, answers=self.conversions.ask(key, asked))
        composition = compose(inputs, memory)
        left_s = self._collection.left_s(key, composition.step)
        if left_s and not composition.held:
            composition = compose(replace(inputs, collecting=True), memory)
        self._guarded.note(key, composition.step is not None and composition.step.hold is not None)
        unheld = await self._writer.hold_claims(inputs, composition)
        composition = without_unheld(composition, unheld)
        if shortfalls := await self._writer.write_ledger(inputs, composition):
            composition = fallen_short(composition, shortfalls)
        started = self._clock()
        unreleased = await self._writer.release_claims(inputs, composition)
        self.controller.spare(key, self._clock() - started)
        again_s = await self._project(inputs, composition, memory)
        self._tidy(inputs, memory)
        contended_s = min((_patience_s(each) for each in (*unheld.values(), *unreleased.values())), default=0.0)
        waits_s = (left_s, again_s, contended_s)
        return min((Requeue(wait_s) for wait_s in waits_s if wait_s), key=lambda each: each.after_s, default=None)

    async def _judge_slowly(self, inputs: ZoneInputs, memory: ZoneMemory) -> None:
        """Judge the claims that are new, with pauses in which the process answers others; composing then finds them judged."""
        zone = inputs.zone
        if zone is None or zone.meta.deleting or not judge_surroundings(zone, inputs).accepted:
            return
        memory.rule_zone(zone, inputs)
        paused = time.perf_counter()
        for claim in inputs.record_sets:
            if not memory.knows(claim):
                memory.rule(claim, zone, inputs)
                if time.perf_counter() - paused > SLICE_S:
                    await asyncio.sleep(0)
                    paused = time.perf_counter()

    def _tidy(self, inputs: ZoneInputs, memory: ZoneMemory) -> None:
        memory.keep_only({claim.key for claim in inputs.record_sets})
        if inputs.zone is None and not inputs.record_sets and not inputs.units:
            self._memories.pop(inputs.key, None)
            self.conversions.forget(inputs.key)

    async def _project(self, inputs: ZoneInputs, composition: Composition, memory: ZoneMemory) -> float:
        """Write the statuses that changed; what is only on its way is written when it takes long.

        Returns when that is, or when one that was refused is tried again, 0 for never.
        """
        writes, written = [], []
        waiting: dict[tuple[str, ObjectKey], float] = {}
        held_s: list[float] = []
        since = self._provisional.get(inputs.key, {})
        now = self._clock()
        for ref, claim, projected in self._projections(inputs, composition, memory):
            mark = (ref.kind, claim.key)
            if projected.provisional:
                waiting[mark] = since.get(mark, now)
                left_s = waiting[mark] + PROVISIONAL_AFTER_S - now
                if left_s > 0:
                    held_s.append(left_s)
                    continue
            writes.append(self._write_status(ref, claim, projected, inputs))
            written.append(mark)
        if waiting:
            self._provisional[inputs.key] = waiting
        else:
            self._provisional.pop(inputs.key, None)
        await in_parallel(writes)
        refused_s = (due_s for mark in written if (due_s := self._refusals.left_s(mark)) is not None)
        return min((*held_s, *refused_s), default=0.0)

    def _projections(
        self, inputs: ZoneInputs, composition: Composition, memory: ZoneMemory
    ) -> Iterator[tuple[ResourceRef, Claim, Projected]]:
        """Yield the statuses that differ from what the claims carry."""
        now = time_text(self._wall_clock())
        ledger = composition.ledger
        if inputs.zone is not None:
            deleting = inputs.zone.meta.deleting
            remaining = [claim.key for claim in inputs.record_sets if deleting and claim.key in ledger.items]
            hold = composition.step.hold if composition.step is not None else None
            withdrawals = [claim.key for claim in inputs.withdrawals if deleting]
            projected = project_zone(
                inputs.zone,
                composition.zone_verdict,
                inputs.units,
                remaining,
                now,
                hold=hold,
                withdrawals=withdrawals,
                obstacle=obstacle_of(inputs) if deleting else "",
            )
            if projected.status != inputs.zone.status:
                yield ZONES, inputs.zone, projected
        for withdrawal, projected in changed_withdrawals(inputs, composition.inventory, now):
            yield RECORD_WITHDRAWALS, withdrawal, projected
        for claim in inputs.record_sets:
            verdict = composition.record_verdicts.get(claim.key)
            if verdict is None:
                continue
            item = ledger.items.get(claim.key)
            result = ledger.results.get(claim.key) if claim.key not in composition.fenced else None
            ground = (claim, verdict, item, result)
            if memory.is_settled(claim.key, ground):
                continue
            held = claim.key in composition.held
            projected = project_record_set(claim, inputs.key, verdict, item, result, now, held=held)
            if projected.status != claim.status:
                yield RECORD_SETS, claim, projected
            else:
                memory.settle(claim.key, ground)

    async def _write_status(self, ref: ResourceRef, claim: Claim, projected: Projected, inputs: ZoneInputs) -> None:
        status = projected.status
        if isinstance(status, RecordWithdrawalStatus):
            await write_status_of(self._client, ref, claim.meta, status)
        else:
            status = await self._write_what_is_taken(ref, claim.meta, status, claim.status, inputs.provider)
        about = ObjectReference.of(ref, claim.meta)
        related = _zone_reference(inputs.key) if ref is not ZONES else None
        for condition in changed_conditions(claim.status.conditions, status.conditions):
            self._recorder.event(about, _event_type(condition), condition.reason, headline(condition), related)

    async def _write_what_is_taken(
        self,
        ref: ResourceRef,
        meta: ObjectMeta,
        status: ZoneStatus | RecordSetStatus,
        before: ClaimStatus,
        provider: Provider | None,
    ) -> ZoneStatus | RecordSetStatus:
        """Write a status, without what its Provider does not know if that is refused; returns what stands there then."""
        key = (ref.kind, meta.key)

        def ground() -> object:
            return status_ground(meta, provider.meta if provider is not None else None, status)

        error = self._refusals.of(key, ground)
        if error is None:
            try:
                await self._writer.write_status(ref, meta, status)
            except Invalid as refusal:
                error = refusal
                self._refusals.note(key, ground(), refusal)
            else:
                return status
        reasons = ZONE_REASONS if ref is ZONES else RECORD_SET_REASONS
        told = without_claims_of_providers(status, reasons, error.message, before.conditions)
        if told == status:
            raise error
        if told != before:
            await self._writer.write_status(ref, meta, told)
        return told

    def _subscribe(self) -> None:
        informers, events = self._informers, self._events
        events.follow(informers.zones, keys_for_zone, self.controller)
        events.follow(informers.record_sets, keys_for_record_set, self.controller)
        events.follow(informers.zone_units, keys_for_zone_unit, self.controller)
        events.follow(informers.zone_classes, self._keys_for_zone_class, self.controller)
        events.follow(informers.providers, self._keys_for_provider, self.controller)
        events.follow(informers.namespaces, self._keys_for_namespace, self.controller)
        if informers.withdrawals is not None:
            events.follow(informers.withdrawals.claims, keys_for_withdrawal, self.controller)
            events.follow(informers.withdrawals.waivers, self._keys_for_waiver, self.controller)

    def _keys_for_zone_class(self, change: Change[ZoneClass]) -> Iterator[ObjectKey]:
        yield from self._informers.zones.keys_by_index(CLASS_INDEX, change.key)

    def _keys_for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        yield from self._informers.zones.keys_by_index(PROVIDER_INDEX, change.key.name)

    def _keys_for_waiver(self, change: Change[RecordWithdrawalWaiver]) -> Iterator[ObjectKey]:
        """The zones of the withdrawals that the waiver names; a change of its status concerns none."""
        followed = self._informers.withdrawals
        if followed is None or (change.old and change.new and change.old.meta.generation == change.new.meta.generation):
            return
        claims = [followed.claims.get(claim_key_of(waiver)) for waiver in _sides(change)]
        yield from {zone_key_of_withdrawal(claim) for claim in claims if claim is not None}

    def _keys_for_namespace(self, change: Change[ObjectMeta]) -> Iterator[ObjectKey]:
        old, new = change.old, change.new
        if old is not None and new is not None and (old.labels, old.deleting) == (new.labels, new.deleting):
            return
        namespace = change.key.name
        yield from (key for key, _ in self._informers.zones.items() if key.namespace == namespace)
        yield from {
            zone_key_of(claim) for key, claim in self._informers.record_sets.items() if key.namespace == namespace
        }
        if (followed := self._informers.withdrawals) is not None:
            claims = (claim for key, claim in followed.claims.items() if key.namespace == namespace)
            yield from {zone_key_of_withdrawal(claim) for claim in claims}


def keys_for_zone(change: Change[Zone]) -> Iterator[ObjectKey]:
    """The zone itself."""
    yield change.key


def keys_for_record_set(change: Change[RecordSet]) -> Iterator[ObjectKey]:
    """The zones that the claim names, before and after the change."""
    yield from {zone_key_of(claim) for claim in _sides(change)}


def keys_for_withdrawal(change: Change[RecordWithdrawal]) -> Iterator[ObjectKey]:
    """The zones that the withdrawal names, before and after the change."""
    yield from {zone_key_of_withdrawal(claim) for claim in _sides(change)}


def keys_for_zone_unit(change: Change[ZoneUnit]) -> Iterator[ObjectKey]:
    """The zone that the part belongs to."""
    yield from {unit.spec.zone.ref.key for unit in _sides(change)}


def _sides(change: Change[T]) -> list[T]:
    return [side for side in (change.old, change.new) if side is not None]


def _patience_s(refusal: str) -> float:
    """Return when a finalizer is tried again: soon when the claim only changed meanwhile."""
    return REFUSED_AFTER_S if refusal else CONTENDED_AFTER_S


def _zone_reference(zone: ObjectKey) -> ObjectReference:
    return ObjectReference(ZONES.api_version, ZONES.kind, zone.namespace, zone.name)


def _event_type(condition: Condition) -> EventType:
    return EventType.NORMAL if condition.status is not ConditionStatus.FALSE else EventType.WARNING
