"""Asking Route 53 on behalf of one zone: its hosted zone, its record sets, and in the end their deletion.

Owns the order of the two, and what a failure is told as and for how long. Never decides whether Route 53 is to be asked.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import structlog

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import ZoneResult
from controllers.ledger.zone_policy import DeletionPolicy
from controllers.providers.route53.binding import Patience
from controllers.providers.route53.class_rule import Terms
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Failure, NotThere, Unavailable
from controllers.providers.route53.hosted_zone import Finding, ZoneKeeper
from controllers.providers.route53.identity.resource import Route53Identity
from controllers.providers.route53.look import (
    NO_HOSTED_ZONE,
    UNACCEPTED,
    Look,
    Outcome,
    item_acceptance,
    zone_result,
    zone_token,
)
from controllers.providers.route53.memory import Memory, SeenZone
from controllers.providers.route53.ownership.announcer import Announcer
from controllers.providers.route53.ownership.desk import OwnershipDesk, clear
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.state import Notes
from controllers.providers.route53.throttle import Throttles
from controllers.providers.route53.upkeep import RecordKeeper, Results, Upkeep, in_rows, told_to_claims, unobserved
from kube.backoff import Backoff
from zonemodel.name import Fqdn

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Means:
    """What AWS is asked with."""

    sessions: Sessions
    throttles: Throttles
    threads: Executor

    def account(self, identity: Route53Identity) -> Account:
        """Return the account of an identity."""
        chain = Chain(identity.key, identity.spec)
        return Account(chain, self.sessions, self.throttles.of(identity.spec.account_id), self.threads)


class Operator:
    """Asks Route 53 about zones. Failures become outcomes; KubeError is raised."""

    def __init__(self, context: LedgerContext, reporter: Reporter, means: Means, patience: Patience) -> None:
        self._context = context
        self._reporter = reporter
        self._means = means
        self._patience = patience
        self._retry: Final = Backoff(patience.retry_s, 2 * patience.retry_s, patience.retry_limit_s)

    async def bring_up(self, look: Look, terms: Terms, memory: Memory) -> Outcome:
        """Bring hosted zone and record sets to what the ledger says, one step further at least."""
        account, announcer = self._means.account(terms.identity), self._announcer(look)
        try:
            finding = await self._hosted_zone(look, terms, memory)
            if finding.zone is None:
                memory.failures = 0
                return self._without_zone(look, finding)

            async def report(results: Results, notes: Notes) -> None:
                await self.report(look, zone_result(finding, notes), results)

            desk = _desk(account, finding.zone.id, look, terms)
            keeper = RecordKeeper(account, announcer, memory.quarantine, look.standing, report, desk)
            upkeep = await keeper.bring_up(finding.zone.id, look.all_wants, look.marks, finding.notes)
        except Failure as failure:
            return self._failed(look, failure, terms, memory)
        return Outcome(zone_result(finding, upkeep.notes), upkeep.results, self._holds_s(upkeep, memory))

    async def delete_records(
        self, look: Look, zone_id: str, terms: Terms, accepted: Verdict, memory: Memory
    ) -> Outcome:
        """Delete the record sets that are to go, and nothing else, by the terms that the class had last."""
        account, announcer = self._means.account(terms.identity), self._announcer(look)
        others = unobserved(look.all_wants, look.marks, UNACCEPTED, item_acceptance(accepted), look.standing)

        async def report(results: Results, notes: Notes) -> None:
            raise AssertionError("a deletion has no intent to note")

        desk = _desk(account, zone_id, look, terms)
        keeper = RecordKeeper(account, announcer, memory.quarantine, look.standing, report, desk)
        try:
            upkeep = await keeper.bring_up(zone_id, look.leaving, look.marks, look.notes)
        except Failure as failure:
            outcome = self._failed(look, failure, terms, memory)
            return Outcome(ZoneResult(accepted, UNACCEPTED), others | outcome.items, outcome.holds_s)
        zone = ZoneResult(accepted, UNACCEPTED, ledger_state=upkeep.notes.dump())
        return Outcome(zone, others | upkeep.results, self._holds_s(upkeep, memory))

    async def take_down(self, look: Look, terms: Terms, memory: Memory) -> Outcome | None:
        """Delete the hosted zone if the policy says so; None when nothing is left to be done."""
        account = self._means.account(terms.identity)
        keeper = self._zone_keeper(look, account, self._announcer(look))
        try:
            await _clear(account, look, terms)
            finding = await keeper.take_down(terms.parameters.zone_deletion_policy, look.notes)
        except Failure as failure:
            return self._failed(look, failure, terms, memory)
        return None if finding.gone else self._without_zone(look, finding)

    async def report(self, look: Look, zone: ZoneResult, results: Results) -> None:
        """Write results to the ledger."""
        await self._reporter.report(look.view.key, look.view.parts, zone, look.wants, in_rows(look.wants, results))

    async def _hosted_zone(self, look: Look, terms: Terms, memory: Memory) -> Finding:
        """Bring the hosted zone up, unless that was done a short while ago and nothing says that it is otherwise now."""
        token = zone_token(look, terms)
        seen, now = memory.zone, self._context.now()
        if seen is not None and seen.token == token and now < seen.until and look.notes.zone_change is None:
            return Finding(look.notes, seen.zone)
        account, memory.zone = self._means.account(terms.identity), None
        finding = await self._zone_keeper(look, account, self._announcer(look)).bring_up(terms.parameters, look.notes)
        if finding.zone is not None and finding.notes.hosted_zone_id == look.notes.hosted_zone_id:
            memory.zone = SeenZone(finding.zone, token, now + self._patience.observe_s)
        return finding

    def _without_zone(self, look: Look, finding: Finding) -> Outcome:
        accepted, programmed = finding.accepted, finding.programmed
        marks = {} if finding.gone else look.marks  # what was in a hosted zone that is gone is gone too
        items = unobserved(look.all_wants, marks, NO_HOSTED_ZONE, item_acceptance(accepted))
        pending = programmed is not None and programmed.reason is Reason.PROVIDER_CHANGE_PENDING
        holds_s = self._patience.change_s if pending else self._patience.refusal_s
        return Outcome(zone_result(finding, finding.notes), items, holds_s)

    def _failed(self, look: Look, failure: Failure, terms: Terms, memory: Memory) -> Outcome:
        _log.warning(
            "route 53 could not be asked",
            zone=str(look.view.key),
            kind=type(failure).__name__,
            reason=failure.reason.value,
        )
        memory.zone = None
        verdict = told_to_claims(failure)
        claims = terms.parameters.ownership.owner is not None
        items = unobserved(look.all_wants, look.marks, verdict, standing=look.standing, may_be_ours=claims)
        return Outcome(ZoneResult(ACCEPTED, verdict), items, self._retry_s(failure, memory))

    def _holds_s(self, upkeep: Upkeep, memory: Memory) -> float:
        if upkeep.failure is not None:
            return self._retry_s(upkeep.failure, memory)
        memory.failures = 0
        if upkeep.notes.record_changes or upkeep.more:
            return self._patience.change_s
        waits_s = [self._patience.observe_s]
        if (due_s := memory.quarantine.due_s()) is not None:
            waits_s.append(max(due_s, self._patience.change_s))
        if upkeep.waits:
            waits_s.append(self._patience.refusal_s)
        return min(waits_s)

    def _retry_s(self, failure: Failure, memory: Memory) -> float:
        wait_s = self._retry.delay_s(memory.failures)
        memory.failures += 1
        least_s = failure.retry_after_s or 0.0 if isinstance(failure, Unavailable) else 0.0
        return max(wait_s, least_s)

    def _zone_keeper(self, look: Look, account: Account, announcer: Announcer) -> ZoneKeeper:
        async def save(notes: Notes) -> None:
            await self._reporter.note(look.main, notes.dump())

        return ZoneKeeper(account, look.main.spec.zone, announcer, save)

    def _announcer(self, look: Look) -> Announcer:
        return Announcer(self._context.recorder, look.main.spec.zone)


def _desk(account: Account, zone_id: str, look: Look, terms: Terms) -> OwnershipDesk | None:
    """Return what asks the hosted zone who owns its record sets, None where the class does not want it to tell."""
    owner = terms.parameters.ownership.owner
    if owner is None:
        return None
    living = {want.record_key for want in look.all_wants if not want.source.deletion_requested}
    return OwnershipDesk(account, zone_id, Fqdn(look.main.spec.zone.domain_name), owner, living)


async def _clear(account: Account, look: Look, terms: Terms) -> None:
    """Take what we say in the hosted zone out of its deletion's way. Raises Failure."""
    owner, zone_id = terms.parameters.ownership.owner, look.notes.hosted_zone_id
    deletes = terms.parameters.zone_deletion_policy is DeletionPolicy.DELETE and look.notes.zone_change is None
    if owner is None or zone_id is None or not deletes:
        return
    with suppress(NotThere):
        await clear(account, zone_id, Fqdn(look.main.spec.zone.domain_name), owner)
