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
from controllers.ledger.result import ItemResult, faulty
from controllers.providers.route53.announcer import Announcer
from controllers.providers.route53.change import Change
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Failure, NotThere, Unavailable
from controllers.providers.route53.plan import Decision, Step, plan
from controllers.providers.route53.state import Mark, Notes
from controllers.providers.route53.submission import Quarantine, Queue, Submission, queue_up, submit
from controllers.providers.route53.want import Want, Wants
from controllers.runtime.metrics import DRIFT_REPAIRS
from kube.object import ObjectKey

Results = dict[ObjectKey, ItemResult]
Report = Callable[[Results, Notes], Awaitable[None]]
"""Writes what is so now to the ledger, intents above all, before something is sent."""

PROGRAMMED: Final = Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED)
SUBMITTED: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "Route 53 spreads the change to all of its name servers.")
SENDING: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "The change is about to be sent to Route 53.")
NEXT_BATCH: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "It does not fit in the present batch; it goes with a later one."
)
UNDER_WAY: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED,
    "It waits until the hosted zone's present change is on all name servers of Route 53.",
)
FORGOTTEN: Final[Mapping[str, object]] = {}
"""The state of an entry that is to have none."""
NONE_STANDING: Final[Mapping[ObjectKey, ItemResult]] = {}


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What one look brought: results by item, the ledger's notes, and a failure that ended it after something was sent."""

    results: Results
    notes: Notes
    failure: Failure | None = None


class RecordKeeper:
    """Looks after the record sets of one ledger; `report` writes results to it at once.

    `standing` are the results that say Programmed and are of the present generation: they hold until something else is known.
    """

    def __init__(
        self, account: Account, announcer: Announcer, quarantine: Quarantine, standing: Results, report: Report
    ) -> None:
        self._account = account
        self._standing = standing
        self._announcer = announcer
        self._quarantine = quarantine
        self._report = report

    async def bring_up(
        self, zone_id: str, wants: Sequence[Want], marks: Mapping[ObjectKey, Mark], notes: Notes
    ) -> Upkeep:
        """Bring the record sets to what the ledger says, one batch further at least."""
        pending = tuple([each for each in notes.record_changes if await self._is_pending(each)])
        notes = replace(notes, record_changes=pending)
        if pending:
            return Upkeep({want.key: self._meanwhile(want, marks.get(want.key), pending) for want in wants}, notes)
        observed = await self._account.records(zone_id)
        self._announce_arrivals(marks)
        decisions = plan(zone_id, wants, marks, observed)
        self._announce_decisions(decisions, marks)
        results = {key: _settled(decision) for key, decision in decisions.items()}
        queue = self._queue_up(decisions, results)
        if not queue.batch:
            return Upkeep(results, notes)
        if any(_is_new_intent(decisions[change.item]) for change in queue.changes):
            await self._report(results | _intents(queue, decisions), notes)
        submission = await submit(self._account, zone_id, queue)
        self._quarantine.take_in(queue.changes, submission)
        results |= self._outcomes(queue, decisions, submission)
        notes = replace(notes, record_changes=submission.change_ids)
        return Upkeep(results, notes, submission.failure)

    def _queue_up(self, decisions: Mapping[ObjectKey, Decision], results: Results) -> Queue:
        changes: list[Change] = []
        for key, decision in decisions.items():
            if not decision.changes:
                continue
            refusal = self._quarantine.objection(key, decision.changes)
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
                if change.item in self._standing and not decision.want.source.deletion_requested:
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
            return ItemResult(UNDER_WAY, gone=mark is None)
        if want.fault:
            return faulty(want.fault)
        return self._standing.get(want.key) or ItemResult(UNDER_WAY)

    async def _is_pending(self, change_id: str) -> bool:
        try:
            return await self._account.is_pending(change_id)
        except NotThere:  # Route 53 forgets changes in time
            return False


def unobserved(
    wants: Iterable[Want],
    marks: Mapping[ObjectKey, Mark],
    verdict: Verdict,
    accepted: Verdict = ACCEPTED,
    standing: Mapping[ObjectKey, ItemResult] = NONE_STANDING,
) -> Results:
    """Return results while the hosted zone cannot be looked at: what never was ours is gone as soon as it is to be deleted."""
    results: Results = {}
    for want in wants:
        if want.source.deletion_requested and want.key not in marks:
            results[want.key] = ItemResult(verdict, gone=True)
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
    return refused(failure.reason, failure.message)
