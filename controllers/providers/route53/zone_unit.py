"""The ZoneUnit controller: gathers one ledger, has its hosted zone and record sets kept, and reports what became of them.

Owns the questions whether AWS is asked at all, how often, and what the ledger is told when it is not or does not answer. A deleting
ledger's provider finalizer goes when its class's deletion policy is fulfilled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

import structlog

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import RECONCILE_REQUEST
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnit, ZoneUnitStatus
from controllers.core.providercontract.conversion.zone_class import PENDING
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import Facts, Hold, ItemResult, ZoneResult
from controllers.ledger.standing import IDENTITY_REASONS, PASSED_ON, Stage, judge_class_of, stage_of
from controllers.ledger.view import LedgerView, gather_ledger
from controllers.providers.route53.announcer import Announcer
from controllers.providers.route53.binding import Route53Config
from controllers.providers.route53.class_rule import Terms, TermsRule
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Failure, Unavailable
from controllers.providers.route53.hosted_zone import Finding, ZoneKeeper
from controllers.providers.route53.identity import READY, Route53Identity, current
from controllers.providers.route53.memory import Memory, Token
from controllers.providers.route53.parameters import DeletionPolicy
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.state import Mark, Notes, read_mark, read_notes
from controllers.providers.route53.submission import Quarantine
from controllers.providers.route53.throttle import Throttles
from controllers.providers.route53.upkeep import PROGRAMMED, RecordKeeper, Results, in_rows, unobserved
from controllers.providers.route53.want import Want, Wants
from controllers.runtime.controller import Requeue
from kube.backoff import Backoff
from kube.object import ObjectKey
from zonemodel.name import Fqdn

_log = structlog.get_logger(__name__)

NOT_READY: Final = refused(
    Reason.PROVIDER_IDENTITY_NOT_READY,
    "The identity of the ZoneClass is not ready; Route 53 is left as it is until then.",
)
UNACCEPTED: Final = waiting(Reason.RECONCILING, "Route 53 is left as it is until the Zone is accepted.")
NO_HOSTED_ZONE: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "It waits for the hosted zone, see the conditions of the Zone."
)
CLASS_GONE: Final = "its ZoneClass is gone, and with it the word on deletion"
REASONS: Final = PASSED_ON | IDENTITY_REASONS
CARRIED: Final = REASONS | {Reason.ZONE_CLASS_NOT_RESOLVED}
"""Verdicts on a Zone that its items carry as they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one look brought: the zone's result, those of its items, and how long what was found out holds, in seconds."""

    zone: ZoneResult
    items: Results
    holds_s: float


@dataclass(frozen=True, slots=True)
class Look:
    """What one look starts from."""

    view: LedgerView
    main: ZoneUnit
    wants: tuple[Wants, ...]
    notes: Notes
    marks: dict[ObjectKey, Mark]
    standing: Results

    @property
    def all_wants(self) -> list[Want]:
        return [want for row in self.wants for want in row]


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(
        self,
        context: LedgerContext,
        rule: TermsRule,
        config: Route53Config,
        sessions: Sessions,
        throttles: Throttles,
        threads: Executor,
    ) -> None:
        self._context = context
        self._rule = rule
        self._config = config
        self._patience = config.patience
        self._sessions = sessions
        self._throttles = throttles
        self._threads = threads
        self._reporter = Reporter(context, {Hold.PENDING: 0.0, Hold.OUTAGE: config.patience.outage_s})
        self._memories: dict[ObjectKey, Memory] = {}
        self._retry = Backoff(self._patience.retry_s, 2 * self._patience.retry_s, self._patience.retry_limit_s)

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._reporter.forget_unit(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one hosted zone and its record sets to what the ledger says."""
        view = gather_ledger(self._context, key)
        match stage_of(view, self._context.binding):
            case Stage.LEAVE:
                self._memories.pop(key, None)
                self._reporter.forget_zone(key)
                return None
            case Stage.WAIT:
                return Requeue(self._patience.observe_s)
            case Stage.CLEAN_UP:
                return await self._clean_up(view)
        main = view.main
        assert main is not None, "a ledger to be maintained has it"
        return await self._maintain(view, main)

    async def _maintain(self, view: LedgerView, main: ZoneUnit) -> Requeue:
        memory = self._memory(view.key)
        judgement = judge_class_of(view, main, self._context.binding, self._rule, REASONS)
        terms = judgement.parameters
        token = _token(view, terms, judgement.verdict)
        now = self._context.now()
        if memory.is_current(token, self._statuses(view), now):
            return Requeue(memory.wait_s(self._context.now()))
        look = self._look(view, main, memory)
        if terms is None:
            outcome = self._idle(look, judgement.verdict, UNACCEPTED)
        elif not _is_ready(terms.identity):
            outcome = self._idle(look, ACCEPTED, NOT_READY)
        else:
            await self._reporter.hold(view.parts)
            outcome = await self._operate(look, terms, memory)
        await self._report(look, outcome.zone, outcome.items)
        await self._reporter.release_spent(view.parts)
        return self._looked(view, memory, token, outcome)

    async def _operate(self, look: Look, terms: Terms, memory: Memory) -> Outcome:
        """Ask Route 53; a failure becomes what the ledger is told."""
        try:
            outcome = await self._ask(look, terms, memory)
        except Failure as failure:
            _log.warning(
                "route 53 could not be asked",
                zone=str(look.view.key),
                kind=type(failure).__name__,
                reason=failure.reason.value,
            )
            memory.failures += 1
            return self._failed(look, failure, memory.failures)
        memory.failures = 0
        return outcome

    async def _ask(self, look: Look, terms: Terms, memory: Memory) -> Outcome:
        account = self._account(terms.identity)
        announcer = Announcer(self._context.recorder, look.main.spec.zone)
        finding = await self._zone_keeper(look, account, announcer).bring_up(terms.parameters, look.notes)
        if finding.zone is None:
            return self._without_zone(look, finding)

        async def report(results: Results, notes: Notes) -> None:
            await self._report(look, _zone_result(finding, notes), results)

        keeper = RecordKeeper(account, announcer, memory.quarantine, look.standing, report)
        upkeep = await keeper.bring_up(finding.zone, look.all_wants, look.marks, finding.notes)
        if upkeep.failure is not None:
            memory.failures += 1
            holds_s = self._retry_s(upkeep.failure, memory.failures)
        elif upkeep.notes.record_changes:
            holds_s = self._patience.change_s
        else:
            due_s = memory.quarantine.due_s()
            holds_s = self._patience.observe_s if due_s is None else min(due_s, self._patience.observe_s)
        return Outcome(_zone_result(finding, upkeep.notes), upkeep.results, holds_s)

    def _without_zone(self, look: Look, finding: Finding) -> Outcome:
        accepted = finding.accepted
        items = unobserved(
            look.all_wants,
            look.marks,
            NO_HOSTED_ZONE,
            _item_acceptance(accepted),
            look.standing if accepted is ACCEPTED else {},
        )
        pending = finding.programmed is not None and finding.programmed.reason is Reason.PROVIDER_CHANGE_PENDING
        holds_s = self._patience.change_s if pending else self._patience.refusal_s
        return Outcome(_zone_result(finding, finding.notes), items, holds_s)

    def _idle(self, look: Look, accepted: Verdict, programmed: Verdict) -> Outcome:
        """Return what is told while Route 53 is not to be asked at all."""
        standing = {} if programmed is NOT_READY else look.standing
        items = unobserved(look.all_wants, look.marks, programmed, _item_acceptance(accepted), standing)
        return Outcome(ZoneResult(accepted, programmed), items, self._patience.observe_s)

    def _failed(self, look: Look, failure: Failure, failures: int) -> Outcome:
        verdict = refused(failure.reason, failure.message)
        items = unobserved(look.all_wants, look.marks, verdict, standing=look.standing)
        return Outcome(ZoneResult(ACCEPTED, verdict), items, self._retry_s(failure, failures))

    async def _clean_up(self, view: LedgerView) -> Requeue | None:
        """Fulfil the deletion policy, then let the ledger go."""
        main = view.main
        if main is None or view.stored_class is PENDING:
            if main is not None:
                return Requeue(self._patience.observe_s)
            await self._let_go(view)
            return None
        memory = self._memory(view.key)
        terms = judge_class_of(view, main, self._context.binding, self._rule, REASONS).parameters
        token = _token(view, terms, ACCEPTED)
        if memory.is_current(token, self._statuses(view), self._context.now()):
            return Requeue(memory.wait_s(self._context.now()))
        look = self._look(view, main, memory)
        announcer = Announcer(self._context.recorder, main.spec.zone)
        if view.zone_class is None:
            # Nobody can say any more whether it is to be deleted, so it is not.
            if look.notes.hosted_zone_id is not None:
                announcer.zone_retained(look.notes.hosted_zone_id, CLASS_GONE)
            await self._let_go(view)
            return None
        if terms is None:
            outcome = self._idle(look, ACCEPTED, UNACCEPTED)
        elif terms.parameters.zone_deletion_policy is DeletionPolicy.DELETE and not _is_ready(terms.identity):
            outcome = self._idle(look, ACCEPTED, NOT_READY)
        else:
            found = await self._take_down(look, terms, announcer, memory)
            if found is None:
                await self._let_go(view)
                return None
            outcome = found
        await self._report(look, outcome.zone, outcome.items)
        return self._looked(view, memory, token, outcome)

    async def _take_down(self, look: Look, terms: Terms, announcer: Announcer, memory: Memory) -> Outcome | None:
        """Delete the hosted zone if the policy says so; None when nothing is left to be done."""
        keeper = self._zone_keeper(look, self._account(terms.identity), announcer)
        try:
            finding = await keeper.take_down(terms.parameters.zone_deletion_policy, look.notes)
        except Failure as failure:
            memory.failures += 1
            return self._failed(look, failure, memory.failures)
        return None if finding.gone else self._without_zone(look, finding)

    async def _let_go(self, view: LedgerView) -> None:
        self._memories.pop(view.key, None)
        await self._reporter.let_go(view.key, view.parts)

    async def _report(self, look: Look, zone: ZoneResult, results: Results) -> None:
        await self._reporter.report(look.view.key, look.view.parts, zone, look.wants, in_rows(look.wants, results))

    def _look(self, view: LedgerView, main: ZoneUnit, memory: Memory) -> Look:
        status = self._reporter.status_of(main)
        entries = {entry.key: entry for part in view.parts for entry in self._reporter.status_of(part).record_sets}
        wants = memory.wants.wants_of(view.parts, Fqdn(main.spec.zone.domain_name))
        generations = {want.key: want.source.observed_generation for row in wants for want in row}
        return Look(
            view=view,
            main=main,
            wants=wants,
            notes=read_notes(status.provider.state if status.provider is not None else None),
            marks=dict(_marks(entries)),
            standing={
                key: ItemResult(PROGRAMMED)
                for key, entry in entries.items()
                if entry.observed_generation == generations.get(key) and _is_programmed(entry)
            },
        )

    def _zone_keeper(self, look: Look, account: Account, announcer: Announcer) -> ZoneKeeper:
        async def save(notes: Notes) -> None:
            await self._reporter.note(look.main, notes.dump())

        return ZoneKeeper(account, look.main.spec.zone, announcer, save)

    def _account(self, identity: Route53Identity) -> Account:
        throttle = self._throttles.of(identity.spec.account_id)
        return Account(Chain(identity.key, identity.spec), self._sessions, throttle, self._threads)

    def _memory(self, key: ObjectKey) -> Memory:
        if key not in self._memories:
            patience = self._patience
            quarantine = Quarantine(patience.refusal_s, patience.retry_s, self._context.now)
            self._memories[key] = Memory(quarantine)
        return self._memories[key]

    def _statuses(self, view: LedgerView) -> tuple[ZoneUnitStatus, ...]:
        return tuple(self._reporter.status_of(part) for part in view.parts)

    def _looked(self, view: LedgerView, memory: Memory, token: Token, outcome: Outcome) -> Requeue:
        again = self._reporter.look_again(view.key, self._patience.observe_s, outcome.holds_s)
        memory.looked(token, self._statuses(view), self._context.now() + again.after_s)
        return again

    def _retry_s(self, failure: Failure, failures: int) -> float:
        least_s = failure.retry_after_s or 0.0 if isinstance(failure, Unavailable) else 0.0
        return max(self._retry.delay_s(failures - 1), least_s)


def _token(view: LedgerView, terms: Terms | None, verdict: Verdict) -> Token:
    """Return everything outside of Route 53 that a look depends on."""
    units = tuple((part.key, part.meta.uid, part.meta.generation, part.deleting) for part in view.parts)
    request = view.parts[0].meta.annotations.get(RECONCILE_REQUEST)
    identity = (terms.identity.meta.uid, terms.identity.meta.generation, _is_ready(terms.identity)) if terms else None
    return units, request, terms.parameters if terms else None, identity, verdict


def _is_ready(identity: Route53Identity) -> bool:
    ready = current(identity, READY)
    return ready is not None and ready.status is ConditionStatus.TRUE


def _zone_result(finding: Finding, notes: Notes) -> ZoneResult:
    zone_id = notes.hosted_zone_id
    data: Facts = {"hostedZoneID": zone_id} if zone_id is not None else {}
    unaccepted = None if finding.accepted.accepted else UNACCEPTED
    return ZoneResult(
        accepted=finding.accepted,
        programmed=unaccepted or finding.programmed or PROGRAMMED,
        name_servers=finding.zone.name_servers if finding.zone is not None else None,
        data=data,
        ledger_state=notes.dump(),
    )


def _item_acceptance(zone: Verdict) -> Verdict:
    """Return what items are told when their zone is not accepted."""
    if zone.accepted:
        return ACCEPTED
    if zone.reason in CARRIED:
        return zone
    return refused(Reason.ZONE_NOT_ACCEPTED, f"The Zone is not accepted: {zone.reason}.")


def _marks(entries: Mapping[ObjectKey, UnitRecordSetStatus]) -> Iterator[tuple[ObjectKey, Mark]]:
    for key, entry in entries.items():
        mark = read_mark(entry.provider.state if entry.provider is not None else None)
        if mark is not None:
            yield key, mark


def _is_programmed(entry: UnitRecordSetStatus) -> bool:
    found = find_condition(entry.conditions, ConditionType.PROGRAMMED)
    return found is not None and found.status is ConditionStatus.TRUE
