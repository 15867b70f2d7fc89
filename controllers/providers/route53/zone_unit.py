"""The ZoneUnit controller: gathers one ledger, has its hosted zone and record sets kept, and reports what became of them.

Owns the questions whether Route 53 is asked at all, and how often. A deleting ledger's provider finalizer goes when its class's deletion
policy is fulfilled.
"""

from __future__ import annotations

from typing import Final

from controllers.api.group import RECONCILE_REQUEST
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict
from controllers.api.zone_unit import ZoneUnit, ZoneUnitStatus
from controllers.core.providercontract.conversion.zone_class import PENDING
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import Hold
from controllers.ledger.standing import IDENTITY_REASONS, Stage, judge_class_of, stage_of
from controllers.ledger.view import LedgerView, gather_ledger
from controllers.ledger.zone_policy import DeletionPolicy
from controllers.providers.route53.binding import Patience
from controllers.providers.route53.class_rule import Terms, TermsRule
from controllers.providers.route53.hosted_zone import RETAINS
from controllers.providers.route53.look import (
    REASONS,
    UNACCEPTED,
    Look,
    Outcome,
    idle,
    is_ready,
    look_at,
    token_of,
)
from controllers.providers.route53.memory import Memory, Token
from controllers.providers.route53.operation import Means, Operator
from controllers.providers.route53.ownership.announcer import Announcer
from controllers.providers.route53.parameters import Parameters, class_parameters
from controllers.providers.route53.submission import Quarantine
from controllers.providers.route53.upkeep import NOT_READY
from controllers.runtime.controller import Requeue
from kube.object import ObjectKey

CLASS_GONE: Final = "its ZoneClass is gone, and with it the word on deletion"
LOST: Final = frozenset({Reason.ZONE_CLASS_NOT_RESOLVED, Reason.IDENTITY_NOT_RESOLVED})
"""Verdicts on a class that is being deleted together with its zones, as when their namespace goes."""


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(self, context: LedgerContext, rule: TermsRule, means: Means, patience: Patience) -> None:
        self._context = context
        self._rule = rule
        self._patience = patience
        self._reporter = Reporter(context, {Hold.PENDING: 0.0, Hold.OUTAGE: patience.outage_s})
        self._operator = Operator(context, self._reporter, means, patience)
        self._memories: dict[ObjectKey, Memory] = {}

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._reporter.forget_unit(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one hosted zone and its record sets to what the ledger says."""
        view = gather_ledger(self._context, key)
        main = view.main
        match stage_of(view, self._context.binding):
            case Stage.LEAVE:
                self._memories.pop(key, None)
                self._reporter.forget_zone(key)
                return None
            case Stage.CLEAN_UP if main is None:
                await self._let_go(view)
                return None
            case Stage.CLEAN_UP if main is not None and view.stored_class is not PENDING:
                return await self._clean_up(view, main)
            case Stage.MAINTAIN if main is not None:
                return await self._maintain(view, main)
        return Requeue(self._patience.observe_s)

    async def _maintain(self, view: LedgerView, main: ZoneUnit) -> Requeue:
        memory = self._memory(view.key)
        judgement = judge_class_of(view, main, self._context.binding, self._rule, REASONS)
        terms = judgement.parameters
        memory.terms = terms or memory.terms
        token = token_of(view, terms, judgement.verdict)
        if memory.is_current(token, self._statuses(view), self._context.now()):
            return Requeue(memory.wait_s(self._context.now()))
        memory.heed(main.meta.annotations.get(RECONCILE_REQUEST))
        look = look_at(view, main, memory, self._reporter.status_of)
        if terms is None:
            outcome = await self._without_terms(look, judgement.verdict, memory)
        elif not is_ready(terms.identity):
            outcome = idle(look, ACCEPTED, NOT_READY, self._patience.observe_s)
        else:
            await self._reporter.hold(view.parts)
            outcome = await self._operator.bring_up(look, terms, memory)
        await self._operator.report(look, outcome.zone, outcome.items)
        await self._reporter.release_spent(view.parts)
        return self._looked(view, memory, token, outcome)

    async def _without_terms(self, look: Look, verdict: Verdict, memory: Memory) -> Outcome:
        """Leave everything as it is, but for deletions when the class went together with what is to be deleted."""
        zone_id, terms = look.notes.hosted_zone_id, memory.terms
        if verdict.reason in LOST and terms is not None and zone_id is not None and look.leaving:
            return await self._operator.delete_records(look, zone_id, terms, verdict, memory)
        return idle(look, verdict, UNACCEPTED, self._patience.observe_s)

    async def _clean_up(self, view: LedgerView, main: ZoneUnit) -> Requeue | None:
        """Fulfil the deletion policy, then let the ledger go."""
        memory = self._memory(view.key)
        judgement = judge_class_of(view, main, self._context.binding, self._rule, REASONS)
        lost = judgement.verdict.reason in LOST
        terms = judgement.parameters or (memory.terms if lost else None)
        token = token_of(view, terms, judgement.verdict)
        if memory.is_current(token, self._statuses(view), self._context.now()):
            return Requeue(memory.wait_s(self._context.now()))
        look = look_at(view, main, memory, self._reporter.status_of)
        if terms is None and view.zone_class is None:
            # Nobody can say any more whether it is to be deleted, so it is not.
            if look.notes.hosted_zone_id is not None:
                Announcer(self._context.recorder, main.spec.zone).zone_retained(look.notes.hosted_zone_id, CLASS_GONE)
            await self._let_go(view)
            return None
        if terms is None and judgement.verdict.reason in IDENTITY_REASONS and self._retains(view):
            # Leaving a hosted zone takes no credential.
            if look.notes.hosted_zone_id is not None:
                Announcer(self._context.recorder, main.spec.zone).zone_retained(look.notes.hosted_zone_id, RETAINS)
            await self._let_go(view)
            return None
        outcome = await self._taken_down(look, terms, memory, lost=lost)
        if outcome is None:
            await self._let_go(view)
            return None
        await self._operator.report(look, outcome.zone, outcome.items)
        return self._looked(view, memory, token, outcome)

    async def _taken_down(self, look: Look, terms: Terms | None, memory: Memory, *, lost: bool) -> Outcome | None:
        if terms is None:
            return idle(look, ACCEPTED, UNACCEPTED, self._patience.observe_s)
        deletes = terms.parameters.zone_deletion_policy is DeletionPolicy.DELETE
        if deletes and not lost and not is_ready(terms.identity):
            return idle(look, ACCEPTED, NOT_READY, self._patience.observe_s)
        return await self._operator.take_down(look, terms, memory)

    def _retains(self, view: LedgerView) -> bool:
        """Say whether the class, of which only the identity is in doubt, has hosted zones left where they are."""
        zone_class = view.stored_class or view.zone_class
        if zone_class is None or isinstance(zone_class, Verdict):
            return False
        found = class_parameters(zone_class)
        return isinstance(found, Parameters) and found.zone_deletion_policy is DeletionPolicy.RETAIN

    async def _let_go(self, view: LedgerView) -> None:
        self._memories.pop(view.key, None)
        await self._reporter.let_go(view.key, view.parts)

    def _looked(self, view: LedgerView, memory: Memory, token: Token, outcome: Outcome) -> Requeue:
        again = self._reporter.look_again(view.key, self._patience.observe_s, outcome.holds_s)
        memory.looked(token, self._statuses(view), self._context.now() + again.after_s)
        return again

    def _statuses(self, view: LedgerView) -> tuple[ZoneUnitStatus, ...]:
        return tuple(self._reporter.status_of(part) for part in view.parts)

    def _memory(self, key: ObjectKey) -> Memory:
        if key not in self._memories:
            quarantine = Quarantine(self._patience.refusal_s, self._patience.retry_s, self._context.now)
            self._memories[key] = Memory(quarantine)
        return self._memories[key]
