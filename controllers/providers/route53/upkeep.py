"""The record sets of one hosted zone: observed, compared, changed, and what is to be said of each.

Owns the order within one look: changes under way are waited for, then everything is observed, then one batch is sent, for which intents are
noted down before. Raises Failure when what the zone holds is not known; then nothing was sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.ledger.ownership import unclaimed_verdict
from controllers.ledger.result import ItemResult, faulty
from controllers.providers.route53.change import Change
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Failure, NotThere, Unavailable
from controllers.providers.route53.ownership.announcer import Announcer
from controllers.providers.route53.ownership.desk import Claims, OwnershipDesk
from controllers.providers.route53.plan import Decision, Step, plan
from controllers.providers.route53.record import Observed
from controllers.providers.route53.state import Mark, Notes
from controllers.providers.route53.submission import Quarantine, Queue, Submission, Surroundings, queue_up, submit
from controllers.providers.route53.want import Want, Wants
from controllers.runtime.metrics import DRIFT_REPAIRS
from kube.object import ObjectKey

Results = dict[ObjectKey, ItemResult]
Report = Callable[[Results, Notes], Awaitable[None]]
"""Writes what is so now to the ledger, intents above all, before something is sent."""

PROGRAMMED: Final = Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED)
NOT_READY: Final = refused(
    Reason.PROVIDER_IDENTITY_NOT_READY,
    "The identity of the ZoneClass is not ready; Route 53 is left as it is until then.",
)
SUBMITTED: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "Route 53 spreads the change to all of its name servers.")
SENDING: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "The change is about to be sent to Route 53.")
NEXT_BATCH: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "It does not fit in the present batch; it goes with a later one."
)
UNDER_WAY: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED,
    "It waits until the hosted zone's present change is on all name servers of Route 53.",
)
WITHDRAWING: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "It is deleted; the claim to it goes from the hosted zone."
)
NO_CLAIMS: Final = Claims()
FORGOTTEN: Final[Mapping[str, object]] = {}
"""The state of an entry that is to have none."""
NONE_STANDING: Final[Mapping[ObjectKey, ItemResult]] = {}


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What one look brought: results by item, the ledger's notes, and a failure that ended it after something was sent.

    `waits` when ownership in the zone has to become clear first, so that it is looked at again as after a refusal. `more` when nothing
    keeps the next batch from being sent.
    """

    results: Results
    notes: Notes
    failure: Failure | None = None
    waits: bool = False
    more: bool = False


class RecordKeeper:
    """Looks after the record sets of one ledger; `report` writes results to it at once.

    `standing` are the results that say Programmed and are of the present generation: they hold until something else is known.
    """

    def __init__(
        self,
        account: Account,
        announcer: Announcer,
        quarantine: Quarantine,
        standing: Results,
        report: Report,
        desk: OwnershipDesk | None = None,
    ) -> None:
        """`desk` is asked who owns what; None where the zone is not to tell it."""
        self._account = account
        self._desk = desk
        self._standing = standing
        self._announcer = announcer
        self._quarantine = quarantine
        self._report = report

    async def bring_up(
        self, zone_id: str, wants: Sequence[Want], marks: Mapping[ObjectKey, Mark], notes: Notes
    ) -> Upkeep:
        """Bring the record sets to what the ledger says, one batch further at least."""
        pending = await self._still_pending(notes.record_changes)
        notes = replace(notes, record_changes=pending)
        if pending:
            return Upkeep({want.key: self._meanwhile(want, marks.get(want.key), pending) for want in wants}, notes)
        observed = await self._account.records(zone_id)
        self._announce_arrivals(marks)
        decisions = await self._decided(zone_id, wants, marks, observed)
        self._announce_decisions(decisions, marks)
        results = {key: _settled(decision) for key, decision in decisions.items()}
        around = Surroundings(observed)
        queue = self._queue_up(decisions, results, around)
        claims = self._claims(queue, decisions, results)
        queue = queue.without(claims.faults)
        if any(_is_new_intent(decisions[change.item]) for change in queue.changes):
            await self._report(results | _intents(queue, decisions), notes)
        queue = await self._claimed(claims, queue, decisions, results)
        if not queue.batch:
            return self._upkeep(results, notes)
        submission = await submit(self._account, zone_id, queue)
        self._quarantine.take_in(queue.changes, submission, around)
        results |= self._outcomes(queue, decisions, submission)
        upkeep = self._upkeep(results, replace(notes, record_changes=submission.change_ids), submission.failure)
        return replace(upkeep, more=bool(queue.later) and not submission.accepted)

    async def _decided(
        self, zone_id: str, wants: Sequence[Want], marks: Mapping[ObjectKey, Mark], observed: Observed
    ) -> dict[ObjectKey, Decision]:
        decisions = plan(zone_id, wants, marks, observed)
        if self._desk is None:
            return decisions
        return await self._desk.judge(
            decisions, observed, lambda more: plan(zone_id, wants, {**marks, **more}, observed)
        )

    def _claims(self, queue: Queue, decisions: dict[ObjectKey, Decision], results: Results) -> Claims:
        """Return what is to be said of the record sets; those that are gone are not let go before."""
        if self._desk is None:
            return NO_CLAIMS
        claims = self._desk.claims(decisions, {change.item for change in queue.changes})
        for key, error in claims.faults.items():
            results[key] = _result(unclaimed_verdict(error), decisions[key].held)
        for key in claims.gone:
            if decisions[key].step is Step.GONE:
                results[key] = _result(WITHDRAWING, decisions[key].held)
        return claims

    async def _claimed(
        self, claims: Claims, queue: Queue, decisions: Mapping[ObjectKey, Decision], results: Results
    ) -> Queue:
        """Have the zone say whose the record sets are; returns what may be sent after that."""
        if self._desk is None or not claims:
            return queue
        objection = await self._desk.publish(claims)
        gone = [key for key in claims.gone if decisions[key].step is Step.GONE]
        if objection is None:
            results |= {key: _settled(decisions[key]) for key in gone}
            return queue
        results |= {key: _result(objection, decisions[key].held) for key in gone}
        results |= {
            change.item: _result(objection, decisions[change.item].sending)
            for change in queue.changes
            if change.item in claims.added
        }
        return queue.without(claims.added)

    def _upkeep(self, results: Results, notes: Notes, failure: Failure | None = None) -> Upkeep:
        desk = self._desk
        if desk is None:
            return Upkeep(results, notes, failure)
        return Upkeep(results, notes, failure or desk.failure, desk.waits)

    def _queue_up(self, decisions: Mapping[ObjectKey, Decision], results: Results, around: Surroundings) -> Queue:
        changes: list[Change] = []
        for key, decision in decisions.items():
            if not decision.changes:
                continue
            refusal = self._quarantine.objection(key, decision.changes, around)
            if refusal is None:
                changes += decision.changes
                results[key] = _result(NEXT_BATCH, decision.held)
            else:
                results[key] = _result(refused(refusal.reason, refusal.message), decision.held)
        self._quarantine.keep_only(key for key, decision in decisions.items() if decision.changes)
        return queue_up(changes)

    def _outcomes(self, queue: Queue, decisions: Mapping[ObjectKey, Decision], submission: Submission) -> Results:
        results: Results = {}
        for change in queue.changes:
            decision, change_id = decisions[change.item], submission.accepted.get(change.item)
            refusal = submission.refused.get(change.item)
            if change_id is not None:
                done = decision.done
                assert done is not None, "what is written has a mark"
                results[change.item] = _result(SUBMITTED, replace(done, change=change_id))
                self._announcer.record_submitted(change.item, change.action.value, change_id)
                if change.item in self._standing:
                    DRIFT_REPAIRS.labels("route53").inc()
            elif refusal is not None:
                results[change.item] = _result(refused(refusal.reason, refusal.message), decision.held)
            elif submission.failure is not None:
                results[change.item] = _result(_verdict(submission.failure), decision.sending)
        return results

    def _announce_arrivals(self, marks: Mapping[ObjectKey, Mark]) -> None:
        for key, mark in marks.items():
            if mark.change is not None:
                self._announcer.record_in_sync(key, mark.change)

    def _announce_decisions(self, decisions: Mapping[ObjectKey, Decision], marks: Mapping[ObjectKey, Mark]) -> None:
        for key, decision in decisions.items():
            if decision.step is Step.ADOPT:
                self._announcer.record_adopted(key)
            elif decision.left_behind:
                self._announcer.record_retained(key)

    def _meanwhile(self, want: Want, mark: Mark | None, pending: tuple[str, ...]) -> ItemResult:
        """Return the result of an item while changes are under way; what is noted of it stays."""
        if mark is not None and mark.change in pending:
            return ItemResult(SUBMITTED)
        if want.source.deletion_requested:
            return ItemResult(UNDER_WAY, gone=mark is None and self._desk is None)
        if want.fault:
            return faulty(want.fault)
        return self._standing.get(want.key) or ItemResult(UNDER_WAY)

    async def _still_pending(self, changes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the changes that are not known to be done: nothing is begun before all are, so the first on its way is asked about."""
        for at, each in enumerate(changes):
            if await self._is_pending(each):
                return changes[at:]
        return ()

    async def _is_pending(self, change_id: str) -> bool:
        try:
            return await self._account.is_pending(change_id)
        except NotThere:  # Route 53 forgets changes in time
            return False


def told_to_claims(failure: Failure) -> Verdict:
    """Return a failure as Zones and RecordSets are told of it: what is wrong with an identity stands in its own status alone."""
    return (
        NOT_READY if failure.reason is Reason.PROVIDER_IDENTITY_NOT_READY else refused(failure.reason, failure.message)
    )


def unobserved(
    wants: Iterable[Want],
    marks: Mapping[ObjectKey, Mark],
    verdict: Verdict,
    accepted: Verdict = ACCEPTED,
    standing: Mapping[ObjectKey, ItemResult] = NONE_STANDING,
    *,
    may_be_ours: bool = False,
) -> Results:
    """Return results while the hosted zone cannot be looked at: what never was ours is gone as soon as it is to be deleted.

    With `may_be_ours` the zone itself might tell that something is, though the ledger knows nothing of it.
    """
    results: Results = {}
    for want in wants:
        if want.source.deletion_requested and want.key not in marks:
            results[want.key] = ItemResult(verdict, gone=not may_be_ours)
        elif want.fault and not want.source.deletion_requested:
            results[want.key] = faulty(want.fault)
        else:
            kept = standing.get(want.key)
            results[want.key] = ItemResult(kept.programmed if kept is not None else verdict, accepted)
    return results


def in_rows(wants: Iterable[Wants], results: Mapping[ObjectKey, ItemResult]) -> list[list[ItemResult]]:
    """Return results part by part, as reports are made."""
    return [[results[want.key] for want in row] for row in wants]


def _settled(decision: Decision) -> ItemResult:
    """Return the result of a decision that nothing has to be sent for."""
    match decision.step:
        case Step.NOTHING | Step.ADOPT:
            return _result(PROGRAMMED, decision.done)
        case Step.GONE:
            return ItemResult(PROGRAMMED, gone=True)
    if decision.want.fault and decision.verdict is None and not decision.changes:
        return replace(faulty(decision.want.fault), state=_state(decision.held))
    return _result(decision.verdict or NEXT_BATCH, decision.held)


def _is_new_intent(decision: Decision) -> bool:
    """Say whether something is about to be created that is not noted down yet."""
    return decision.sending is not None and decision.sending.intent is not None and decision.sending != decision.held


def _intents(queue: Queue, decisions: Mapping[ObjectKey, Decision]) -> Results:
    return {change.item: _result(SENDING, decisions[change.item].sending) for change in queue.changes}


def _result(verdict: Verdict, mark: Mark | None) -> ItemResult:
    return ItemResult(verdict, state=_state(mark))


def _state(mark: Mark | None) -> Mapping[str, object]:
    return mark.dump() if mark is not None else FORGOTTEN


def _verdict(failure: Failure) -> Verdict:
    if isinstance(failure, Unavailable) and failure.outcome_unknown:
        return waiting(failure.reason, "Whether Route 53 took the change is not known; it is read back first.")
    return told_to_claims(failure)
