"""The ZoneUnit controller: gathers one zone, has its snapshot published, and writes what became of it.

Owns the order of things within one look at a zone, the waiting times between two looks, and events. The contract with the composer
stands in `result`. A deleting ledger's provider finalizer goes when nothing of the zone is published any more; from then on, as
before, an item whose deletion is asked for is reported deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from controllers.api.condition import (
    Condition,
    ConditionStatus,
    ConditionType,
    changed_conditions,
    headline,
    merge_conditions,
)
from controllers.api.group import HOSTED_ZONES, PROVIDER_FINALIZER, ZONE_UNITS
from controllers.api.patch import Operation
from controllers.api.reason import Reason
from controllers.api.verdict import refused
from controllers.api.zone_unit import ZoneUnit, ZoneUnitStatus
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.echo import Echo
from controllers.providers.hosted.history import History
from controllers.providers.hosted.hosted_object import HostedObject
from controllers.providers.hosted.item import Items
from controllers.providers.hosted.judgement import judge_publication, judge_zone_result
from controllers.providers.hosted.publication import Publication, Publisher
from controllers.providers.hosted.result import Hold, ItemResult, ZoneResult, condition, settle
from controllers.providers.hosted.service_level import measure
from controllers.providers.hosted.standing import Course, Standing, judge_zone
from controllers.providers.hosted.status_patch import status_patch
from controllers.providers.hosted.view import HostedInformers, ZoneView, gather
from controllers.providers.hosted.writer import HostedWriter
from controllers.providers.hosted.zone_state import ZoneState
from controllers.runtime.controller import Requeue
from controllers.runtime.parallel import in_parallel
from controllers.runtime.recorder import EventRecorder, EventType
from kube.client import Client
from kube.errors import TooLarge
from kube.object import ObjectKey, ObjectReference
from kube.timestamp import time_text

CREATED: Final = "HostedZoneCreated"
DELETED: Final = "HostedZoneDeleted"
LOOK_AGAIN_S: Final = 5.0


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(
        self,
        client: Client,
        informers: HostedInformers,
        recorder: EventRecorder,
        config: HostedConfig,
        stored: StoredClasses,
        wall_clock: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._stored = stored
        self._informers = informers
        self._recorder = recorder
        self._config = config
        self._wall_clock = wall_clock
        self._clock = clock
        self._objects: Echo[HostedObject] = Echo(clock)
        self._statuses: Echo[ZoneUnitStatus] = Echo(clock)
        self._finalizers: Echo[bool] = Echo(clock)
        self._writer = HostedWriter(client)
        self._publisher = Publisher(self._writer, self._objects, wall_clock, clock)
        self._states: dict[ObjectKey, ZoneState] = {}
        patience = config.patience
        self._limits_s = {Hold.PENDING: patience.pending_s, Hold.OUTAGE: patience.outage_s}

    def forget_object(self, key: ObjectKey) -> None:
        """Note that a HostedZone has gone."""
        self._objects.forget(key)

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._statuses.forget(key)
        self._finalizers.forget(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one zone's snapshot and results to what its ledger, its class and the servers say."""
        view = gather(self._informers, self._config, self._stored, self._objects, key)
        standing = judge_zone(view, self._config)
        match standing.course:
            case Course.LEAVE:
                self._states.pop(key, None)
                return None
            case Course.WAIT:
                return Requeue(self._config.patience.resync_s)
            case Course.CLEAN_UP:
                return await self._clean_up(view)
        main = view.main
        assert main is not None, "judge_zone waits for it"
        return await self._maintain(view, main, standing)

    async def _maintain(self, view: ZoneView, main: ZoneUnit, standing: Standing) -> Requeue:
        state = self._states.setdefault(view.key, ZoneState())
        if standing.course is Course.SERVE or view.manifest is not None:
            await in_parallel(self._hold(part) for part in view.parts if not part.deleting)
        items = state.items.items_of(view.parts)
        publication = await self._published(view, main, standing, state, items)
        history = state.history or History()
        level = measure(view.live, publication.manifest, history, standing.min_ready_servers)
        now = self._clock()
        report_after_s = state.reporting.wait_s(now)  # a report of a moment ago may still take its share of the time
        if not report_after_s:
            results = judge_publication(items, publication, history, level, standing)
            zone = judge_zone_result(view.key, publication, history, level, standing)
            await self._report(view, state, items, zone, results)
        page_due_s = await self._publisher.collect(
            view, publication.manifest, state, level.reached, now, self._config.patience.page_s
        )
        await in_parallel(self._writer.release(part) for part in view.parts if _is_spent(part))
        history.compact(level.reached, view.pages)
        waits_s = (publication.wait_s, report_after_s, page_due_s)
        return Requeue(min(self._due_s(state, publication, waits_s, self._clock())))

    async def _published(
        self, view: ZoneView, main: ZoneUnit, standing: Standing, state: ZoneState, items: tuple[Items, ...]
    ) -> Publication:
        if standing.course is Course.YIELD:
            await self._publisher.withdraw(view, state)
            return Publication(view.manifest, None, standing.programmed)
        publication = await self._publisher.bring_up(view, main, standing, state, items)
        if publication.created:
            self._recorder.event(
                ObjectReference.of(ZONE_UNITS, main.meta),
                EventType.NORMAL,
                CREATED,
                f"The first snapshot of {main.spec.zone.domain_name} is published.",
                _hosted_zone(view.key),
            )
        return publication

    async def _report(
        self,
        view: ZoneView,
        state: ZoneState,
        items: Sequence[Items],
        zone: ZoneResult,
        results: Sequence[Sequence[ItemResult]],
    ) -> None:
        """Write the statuses that changed, and note what is held back."""
        now, moment = self._clock(), time_text(self._wall_clock())
        current = [self._status_of(part) for part in view.parts]
        release = state.released(self._limits_s, now)
        settlement = settle(view.parts, current, zone, items, results, release, moment)
        state.hold(settlement.held, now)
        changed = [
            (part, old, operations)
            for part, old in zip(view.parts, current, strict=True)
            if not _is_spent(part) and (operations := status_patch(old, settlement.statuses[part.spec.part]))
        ]
        await in_parallel(
            self._write_status(part, old, settlement.statuses[part.spec.part], operations)
            for part, old, operations in changed
        )
        if changed:
            state.reporting.did(now, self._clock())

    async def _write_status(
        self, part: ZoneUnit, old: ZoneUnitStatus, new: ZoneUnitStatus, operations: Sequence[Operation]
    ) -> None:
        try:
            version = await self._writer.write_status(part, operations)
        except TooLarge as error:
            new = _without_results(part, old, error.message, time_text(self._wall_clock()))
            operations = status_patch(old, new)
            version = await self._writer.write_status(part, operations) if operations else None
        if version is None:
            return
        self._statuses.remember(part.key, version, new)
        if new.zone is not None:
            before = old.zone.conditions if old.zone is not None else ()
            for each in changed_conditions(before, new.zone.conditions):
                self._announce(part, each)

    def _announce(self, part: ZoneUnit, each: Condition) -> None:
        kind = EventType.WARNING if each.status is ConditionStatus.FALSE else EventType.NORMAL
        about = ObjectReference.of(ZONE_UNITS, part.meta)
        self._recorder.event(about, kind, each.reason, headline(each), _hosted_zone(part.spec.zone.ref.key))

    def _status_of(self, part: ZoneUnit) -> ZoneUnitStatus:
        return self._statuses.latest(part.key, part.meta, part.status) or part.status

    async def _hold(self, part: ZoneUnit) -> None:
        if self._finalizers.latest(part.key, part.meta, PROVIDER_FINALIZER in part.meta.finalizers):
            return
        self._finalizers.remember(part.key, await self._writer.hold(part), True)

    async def _clean_up(self, view: ZoneView) -> Requeue | None:
        """Delete what is published; when it has gone, report the deletions and let the ledger go."""
        state = self._states.setdefault(view.key, ZoneState())
        if await self._publisher.withdraw(view, state):
            self._recorder.event(
                ObjectReference.of(ZONE_UNITS, view.parts[0].meta),
                EventType.NORMAL,
                DELETED,
                f"{view.parts[0].spec.zone.domain_name} is no longer published.",
                _hosted_zone(view.key),
            )
        if view.manifest is not None or view.pages:
            return Requeue(LOOK_AGAIN_S)
        self._states.pop(view.key, None)
        for part in view.parts:
            if not part.deleting:
                continue
            if part.spec.record_sets:
                old = self._status_of(part)
                gone = old.model_copy(update={"observed_generation": part.meta.generation, "record_sets": ()})
                if operations := status_patch(old, gone):
                    await self._write_status(part, old, gone, operations)
            if PROVIDER_FINALIZER in part.meta.finalizers:
                await self._writer.release(part)
        return None

    def _due_s(
        self, state: ZoneState, publication: Publication, waits_s: Iterable[float | None], now: float
    ) -> Iterator[float]:
        """Yield the waiting times after which the zone has to be looked at again; `waits_s` are those of work left undone.

        Work left undone is come back to whatever the clock says by now: nothing else remembers it.
        """
        patience = self._config.patience
        yield patience.resync_s
        yield from (wait_s for wait_s in waits_s if wait_s)
        pause_s = state.reporting.wait_s(now)
        yield from (max(since + self._limits_s[hold] - now, pause_s, 0.001) for hold, since in state.held_since.items())
        if publication.obstacle is not None:
            yield patience.refusal_s


def _without_results(part: ZoneUnit, old: ZoneUnitStatus, message: str, now: str) -> ZoneUnitStatus:
    """Return what can be said of a part whose results do not fit in the object with its spec."""
    verdict = refused(Reason.RECONCILE_ERROR, f"The results of this part do not fit in it: {message}")
    wanted = condition(ConditionType.PROGRAMMED, verdict, part.meta.generation)
    return old.model_copy(update={"conditions": merge_conditions(old.conditions, [wanted], now)})


def _is_spent(part: ZoneUnit) -> bool:
    """Say whether a further part is being deleted, empty, and waits for nobody but us."""
    return (
        part.spec.part != 0
        and part.deleting
        and not part.spec.record_sets
        and PROVIDER_FINALIZER in part.meta.finalizers
    )


def _hosted_zone(key: ObjectKey) -> ObjectReference:
    return ObjectReference(HOSTED_ZONES.api_version, HOSTED_ZONES.kind, key.namespace, key.name)
