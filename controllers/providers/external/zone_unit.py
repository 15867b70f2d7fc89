"""The ZoneUnit controller: has a zone's servers asked, and reports what they said.

Owns the plan of what is asked, and the order of things within one look at a zone. It never writes DNS, so a deleting ledger is let go
at once: what stands in somebody else's zone was never ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.api.group import RECONCILE_REQUEST
from controllers.api.record_withdrawal_item import ClassBinding, UnitWithdrawalStatus
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import ZoneResult, plain_items
from controllers.ledger.sighting import sight, subject_of
from controllers.ledger.standing import Stage, judge_class_of, stage_of
from controllers.ledger.view import LedgerView, gather_ledger
from controllers.ledger.withdrawal import Sighting, observe_all
from controllers.probe.desk import Probed, ProbeDesk
from controllers.probe.prober import Plan
from controllers.probe.round import Round
from controllers.probe.subject import Subject
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.judgement import (
    UNGUIDED,
    Look,
    judge_items,
    judge_nothing,
    zone_result,
)
from controllers.providers.external.parameters import Settings
from controllers.runtime.controller import Requeue
from kube.object import ObjectKey
from zonemodel.name import Fqdn

LOOK_AGAIN_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a round was made for beside the names: a change of any of it asks for a round at once."""

    zone_class: ClassBinding | None
    request: str | None
    claims: frozenset[tuple[object, ...]]


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(self, context: LedgerContext, desk: ProbeDesk) -> None:
        self._context = context
        self._desk = desk
        self._reporter = Reporter(context)

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._reporter.forget_unit(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Report the newest round over the zone, and have the next one made when it is due."""
        view = gather_ledger(self._context, key)
        match stage_of(view, self._context.binding):
            case Stage.LEAVE:
                self._desk.forget(key)
                self._reporter.forget_zone(key)
                return None
            case Stage.WAIT:
                return Requeue(LOOK_AGAIN_S)
            case Stage.CLEAN_UP:
                self._desk.forget(key)
                await self._reporter.let_go(key, view.parts)
                return None
        main = view.main
        assert main is not None, "a ledger that is maintained has a part 0"
        await self._reporter.hold(view.parts)
        await self._report(view, main)
        await self._reporter.release_spent(view.parts)
        return self._reporter.look_again(key, LOOK_AGAIN_S)

    async def _report(self, view: LedgerView, main: ZoneUnit) -> None:
        judgement = judge_class_of(view, main, self._context.binding, judge_parameters)
        items = plain_items(view.parts)
        proof: Round | None = None
        if judgement.parameters is None:
            self._desk.forget(view.key)
            zone, results = ZoneResult(judgement.verdict, UNGUIDED), judge_nothing(items)
        else:
            plan = plan_of(view, main, judgement.parameters)
            probed = self._desk.ask(view.key, plan)
            asked = probed is not None and probed.plan.asks_the_same_servers(plan)
            look = Look(plan.domain, judgement.parameters, probed.round if probed is not None and asked else None)
            proof = probed.round if probed is not None and is_proof(probed, plan) else None
            zone, results = zone_result(look, judgement.verdict), judge_items(look, items)
        withdrawals = self._observe(view, main, proof)
        result = ZoneResult(
            zone.accepted, zone.programmed, zone.name_servers, zone.data, can_wait=True, withdrawals=withdrawals
        )
        await self._reporter.report(view.key, view.parts, result, items, results)

    def _observe(self, view: LedgerView, main: ZoneUnit, proof: Round | None) -> tuple[UnitWithdrawalStatus, ...]:
        """Return the results for withdrawals; `proof` is the newest round when it proves something."""
        sightings: dict[str, Sighting] = {}
        if proof is not None:
            found = {item.claim_uid: sight(item, proof) for item in main.spec.withdrawals if item.allowed}
            sightings = {uid: sighting for uid, sighting in found.items() if sighting is not None}
        before = self._reporter.status_of(main).withdrawals
        now = self._context.surroundings.wall_clock()
        return observe_all(main.spec.withdrawals, before, class_binding(view), sightings, now)


def is_proof(probed: Probed, plan: Plan) -> bool:
    """Say whether a round counts for withdrawals under a plan: under another class, or over other servers or another zone, it does not."""
    made, now = probed.plan.stamp, plan.stamp
    same_class = isinstance(made, Stamp) and isinstance(now, Stamp) and made.zone_class == now.zone_class
    return same_class and probed.plan.asks_the_same_servers(plan)


def plan_of(view: LedgerView, main: ZoneUnit, settings: Settings) -> Plan:
    """Return what is to be found out about a zone."""
    subjects = [Subject(item.name, item.type.code) for part in view.parts for item in part.spec.record_sets]
    subjects += [subject_of(item) for item in main.spec.withdrawals if item.allowed]
    claims: list[tuple[object, ...]] = [
        (item.key, item.observed_generation, item.deletion_requested)
        for part in view.parts
        for item in part.spec.record_sets
    ]
    claims += [(item.key, item.claim_uid, item.allowed) for item in main.spec.withdrawals]
    stamp = Stamp(class_binding(view), main.meta.annotations.get(RECONCILE_REQUEST), frozenset(claims))
    return Plan(
        Fqdn(main.spec.zone.domain_name),
        tuple(dict.fromkeys(subjects)),
        name_servers=settings.name_servers,
        resolvers=settings.resolvers,
        interval_s=settings.interval_s,
        timeout_s=settings.timeout_s,
        stamp=stamp,
    )


def class_binding(view: LedgerView) -> ClassBinding | None:
    """Return the class of a ledger as results name it."""
    meta = view.zone_class.meta if view.zone_class is not None else None
    return ClassBinding(uid=meta.uid, generation=meta.generation) if meta is not None else None
