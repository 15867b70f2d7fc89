"""The ZoneUnit controller: gathers one zone, has its snapshot published, and reports what became of it.

Owns the order of things within one look at a zone, the waiting times between two looks, and the events of publishing. A deleting ledger's
provider finalizer goes when nothing of the zone is published any more; from then on, as before, an item whose deletion is asked for is
reported deleted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from controllers.api.group import HOSTED_ZONES, ZONE_UNITS
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.context import LedgerContext
from controllers.ledger.echo import Echo
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import Hold
from controllers.probe.desk import ProbeDesk
from controllers.providers.hosted.binding import Patience
from controllers.providers.hosted.history import History
from controllers.providers.hosted.hosted_object import HostedObject
from controllers.providers.hosted.item import Items
from controllers.providers.hosted.judgement import judge_publication, judge_zone_result
from controllers.providers.hosted.publication import Publication, Publisher
from controllers.providers.hosted.service_level import measure
from controllers.providers.hosted.standing import Course, Standing, judge_zone
from controllers.providers.hosted.view import HostedInformers, ZoneView, gather
from controllers.providers.hosted.withdrawal import Published, WithdrawalWatch
from controllers.providers.hosted.writer import HostedWriter
from controllers.providers.hosted.zone_state import ZoneState
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventType
from kube.object import ObjectKey, ObjectReference

CREATED: Final = "HostedZoneCreated"
DELETED: Final = "HostedZoneDeleted"
LOOK_AGAIN_S: Final = 5.0


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(self, context: LedgerContext, informers: HostedInformers, patience: Patience, desk: ProbeDesk) -> None:
        self._context = context
        self._informers = informers
        self._patience = patience
        surroundings = context.surroundings
        self._objects: Echo[HostedObject] = Echo(surroundings.clock)
        writer = HostedWriter(surroundings.client)
        self._publisher = Publisher(writer, self._objects, surroundings.wall_clock, surroundings.clock)
        limits_s = {Hold.PENDING: patience.pending_s, Hold.OUTAGE: patience.outage_s}
        self._reporter = Reporter(context, limits_s, _hosted_zone)
        self._states: dict[ObjectKey, ZoneState] = {}
        self._withdrawals = WithdrawalWatch(desk)

    def forget_object(self, key: ObjectKey) -> None:
        """Note that a HostedZone has gone."""
        self._objects.forget(key)

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._reporter.forget_unit(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one zone's snapshot and results to what its ledger, its class and the servers say."""
        view = gather(self._context, self._informers, self._objects, key)
        standing = judge_zone(view, self._context.binding)
        match standing.course:
            case Course.LEAVE:
                self._states.pop(key, None)
                self._withdrawals.forget(view)
                self._reporter.forget_zone(key)
                return None
            case Course.WAIT:
                return Requeue(self._patience.resync_s)
            case Course.CLEAN_UP:
                return await self._clean_up(view)
        main = view.main
        assert main is not None, "judge_zone waits for it"
        return await self._maintain(view, main, standing)

    async def _maintain(self, view: ZoneView, main: ZoneUnit, standing: Standing) -> Requeue:
        state = self._states.setdefault(view.key, ZoneState())
        if standing.course is Course.SERVE or view.manifest is not None:
            await self._reporter.hold(view.parts)
        items = state.items.items_of(view.parts)
        publication = await self._published(view, main, standing, state, items)
        history = state.history or History()
        level = measure(view.live, publication.manifest, history, standing.min_ready_servers)
        if level.reached > state.reached:
            self._reporter.progressed(view.key)
        state.reached = level.reached
        now = self._context.now()
        report_after_s = self._reporter.wait_s(view.key)  # a former report may still take its share of the time
        if not report_after_s:
            results = judge_publication(items, publication, history, level, standing)
            zone = judge_zone_result(view.key, publication, history, level, standing)
            published = Published(standing.head, history, level)
            before = self._reporter.status_of(main).withdrawals
            now_time = self._context.surroundings.wall_clock()
            withdrawals = self._withdrawals.observe(view, main, published, before, now_time)
            zone = replace(zone, withdrawals=withdrawals)
            await self._reporter.report(view.key, view.parts, zone, items, results)
        page_due_s = await self._publisher.collect(
            view, publication.manifest, state, level.reached, now, self._patience.page_s
        )
        await self._reporter.release_spent(view.parts)
        history.compact(level.reached, view.pages)
        # Work left undone is come back to whatever the clock says by now: nothing else remembers it.
        refusal_s = self._patience.refusal_s if publication.obstacle is not None else None
        waits_s = (publication.wait_s, report_after_s, page_due_s, refusal_s)
        return self._reporter.look_again(view.key, self._patience.resync_s, *waits_s)

    async def _published(
        self, view: ZoneView, main: ZoneUnit, standing: Standing, state: ZoneState, items: tuple[Items, ...]
    ) -> Publication:
        if standing.course is Course.YIELD:
            await self._publisher.withdraw(view, state)
            return Publication(view.manifest, None, standing.programmed)
        publication = await self._publisher.bring_up(view, main, standing, state, items)
        if publication.created:
            self._announce(main, CREATED, f"The first snapshot of {main.spec.zone.domain_name} is published.")
        return publication

    async def _clean_up(self, view: ZoneView) -> Requeue | None:
        """Delete what is published; when it has gone, report the deletions and let the ledger go."""
        state = self._states.setdefault(view.key, ZoneState())
        if await self._publisher.withdraw(view, state):
            first = view.parts[0]
            self._announce(first, DELETED, f"{first.spec.zone.domain_name} is no longer published.")
        if view.manifest is not None or view.pages:
            return Requeue(LOOK_AGAIN_S)
        self._states.pop(view.key, None)
        self._withdrawals.forget(view)
        await self._reporter.let_go(view.key, view.parts)
        return None

    def _announce(self, part: ZoneUnit, reason: str, message: str) -> None:
        about, related = ObjectReference.of(ZONE_UNITS, part.meta), _hosted_zone(part.spec.zone.ref.key)
        self._context.recorder.event(about, EventType.NORMAL, reason, message, related)


def _hosted_zone(key: ObjectKey) -> ObjectReference:
    return ObjectReference(HOSTED_ZONES.api_version, HOSTED_ZONES.kind, key.namespace, key.name)
