"""One look at the records of a zone: observe, plan, submit, and the result of each item.

Owns that order, and what is remembered of refused changes. A listing that is not whole ends it before anything is planned.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnitStatus
from controllers.ledger.result import ItemResult, faulty
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.binding import Patience
from controllers.providers.cloudflare.client import CloudflareClient, RecordListing
from controllers.providers.cloudflare.desired import Item
from controllers.providers.cloudflare.failure import CloudflareError, NotFoundError
from controllers.providers.cloudflare.intent import Intents
from controllers.providers.cloudflare.memory import Refusal, ZoneMemory
from controllers.providers.cloudflare.observation import Observation
from controllers.providers.cloudflare.ownership.announcement import Announcer
from controllers.providers.cloudflare.ownership.desk import OwnershipDesk
from controllers.providers.cloudflare.plan import ItemPlan, Known, plan_item, refuse_blocked, refuse_shadowed
from controllers.providers.cloudflare.record import CloudflareRecord, is_id
from controllers.providers.cloudflare.schedule import schedule
from controllers.providers.cloudflare.submission import SUBMITTED, VANISHED, Note, Outcome, Submission
from controllers.providers.cloudflare.zone_fact import ZoneFact
from controllers.providers.cloudflare.zone_step import PROGRAMMED
from controllers.runtime.metrics import DRIFT_REPAIRS
from kube.object import ObjectKey

REQUEST_CHANGES: Final = 200
"""Changes that are put together in one request, so that its note in the ledger stays small; one item alone may have more."""

REFUSALS_AT_LAST: Final = 12
"""How many times as long as at first a refused change waits in the end: what is wrong once is mostly wrong for good, and is sent alone."""

ASKED_IN_A_LOOK: Final = 50
"""Records that are not listed and asked for one by one, so that many of them hold up neither the others nor the account."""

GONE: Final = ItemResult(refused(Reason.PROVIDER_CHANGE_PENDING, "Deleted."), gone=True)
UNKEPT: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "The change was made and Cloudflare shows something else; it is made again later."
)


STILL_LISTED: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "Cloudflare lists a record that it does not find; the change is tried again later."
)


UNASKED: Final = refused(
    Reason.PROVIDER_CHANGE_DEFERRED, "Cloudflare does not list its records and is asked for them in turn."
)


@dataclass(slots=True)
class RecordStep:
    """What came of the look; `unlisted` when the zone's records were not seen.

    `next_s` is when to look again; None as long as nothing is expected to change.
    """

    results: dict[ObjectKey, ItemResult] = field(default_factory=dict)
    intents: Intents = field(default_factory=Intents)
    failure: CloudflareError | None = None
    next_s: float | None = None
    unlisted: bool = False

    @property
    def remaining(self) -> bool:
        """Whether a deletion is not complete yet."""
        return any(not result.gone for result in self.results.values())


@dataclass(slots=True)
class RecordWork:
    """Looks at the records of one zone; `now` is the clock that refusals are remembered by."""

    client: CloudflareClient
    zone: ObjectKey
    fact: ZoneFact
    memory: ZoneMemory
    patience: Patience
    announcer: Announcer
    note: Note
    now: float
    desk: OwnershipDesk | None = None

    async def run(self, items: Sequence[Item], entries: Sequence[ZoneUnitStatus], intents: Intents) -> RecordStep:
        """Look at some items, which are all of the zone or all that are to be deleted. Raises KubeError from `note`."""
        known = {entry.key: entry for status in entries for entry in status.record_sets}
        try:
            listing = await self.client.records(self.fact.id)
            unlisted, unasked = await self._unlisted(items, known, listing)
        except CloudflareError as error:
            verdict = waiting(Reason.PROVIDER_UNAVAILABLE, f"The records are not known: {error.message}.")
            if error.outcome_known:
                verdict = refused(error.reason, f"{error.message}.")
            return RecordStep({item.key: ItemResult(verdict) for item in items}, intents, error, unlisted=True)
        found = Observation((*listing.records, *unlisted), listing.at)
        plans = await self._planned(items, known, intents, found, unasked)
        submission = Submission(self.client, self.fact.id, listing.at, intents, self.note)
        await self._submit(plans, submission)
        return self._concluded(plans, known, submission)

    async def _unlisted(
        self, items: Iterable[Item], known: dict[ObjectKey, UnitRecordSetStatus], listing: RecordListing
    ) -> tuple[list[CloudflareRecord], set[ObjectKey]]:
        """Return the records of leaving items that are there though the listing, which others may change between two pages, has them not.

        What is called gone is forgotten: it is asked for by its identifier before. The items that it is not the turn of are returned,
        too. Raises CloudflareError.
        """
        listed = {each.id for each in listing.records}
        unlisted: list[CloudflareRecord] = []
        unasked: set[ObjectKey] = set()
        asked = 0
        for item in items:
            missing = [each for each in recorded_ids(known.get(item.key)) if each not in listed]
            if not item.source.deletion_requested or not missing:
                continue
            if asked and asked + len(missing) > ASKED_IN_A_LOOK:
                unasked.add(item.key)
                continue
            asked += len(missing)
            for record_id in missing:
                with suppress(NotFoundError):
                    unlisted.append(await self.client.record(self.fact.id, record_id))
        return unlisted, unasked

    async def _planned(
        self,
        items: Sequence[Item],
        known: dict[ObjectKey, UnitRecordSetStatus],
        intents: Intents,
        found: Observation,
        unasked: Container[ObjectKey],
    ) -> list[ItemPlan]:
        grace = timedelta(seconds=self.patience.grace_s)

        def plan(item: Item, more: tuple[str, ...] = ()) -> ItemPlan:
            if item.key in unasked:
                return ItemPlan(item, verdict=UNASKED)
            ids = (*recorded_ids(known.get(item.key)), *more)
            return plan_item(item, Known(ids, intents.records.get(item.key)), found, grace)

        plans = [plan(item) for item in items]
        if self.desk is not None:
            plans = await self.desk.judge(plans, found, lambda before, more: plan(before.item, more))
        plans = [_within(each, self.fact.batch_limit) for each in refuse_blocked(refuse_shadowed(plans), found)]
        return await self.desk.publish(plans) if self.desk is not None else plans

    async def _submit(self, plans: Iterable[ItemPlan], submission: Submission) -> None:
        fresh, alone = [], []
        for plan in plans:
            refusal = self.memory.refusals.get(plan.item.key)
            if not plan.change:
                continue
            if refusal is None or refusal.change != plan.change:
                fresh.append(plan)
            elif self.now < refusal.until:
                submission.outcomes[plan.item.key] = Outcome(refusal.verdict)
            else:
                alone.append(plan)
        await submission.run(schedule(fresh, min(REQUEST_CHANGES, self.fact.batch_limit), alone=alone))

    def _concluded(
        self, plans: Sequence[ItemPlan], known: dict[ObjectKey, UnitRecordSetStatus], submission: Submission
    ) -> RecordStep:
        step = RecordStep(failure=submission.failure)
        refusals = {}
        for plan in plans:
            key = plan.item.key
            outcome = submission.outcomes.get(key)
            step.results[key] = _result(plan, outcome, recorded_ids(known.get(key)))
            if outcome is not None and outcome.done:
                self.announcer.record_changes(self.zone, plan)
                if _was_programmed(plan, known.get(key)):
                    DRIFT_REPAIRS.labels("cloudflare").inc()
            if plan.adopted:
                self.announcer.records_adopted(self.zone, plan)
            old = self.memory.refusals.get(key)
            again = old is not None and old.change == plan.change
            if outcome is not None and (outcome.refused or outcome.done):
                verdict = UNKEPT if outcome.done else outcome.verdict
                verdict = STILL_LISTED if verdict == VANISHED else verdict
                wait_s = self.patience.refusal_s
                if old is not None and again and outcome is not submission.full:
                    wait_s = min(2 * old.wait_s, REFUSALS_AT_LAST * self.patience.refusal_s)
                refusals[key] = Refusal(plan.change, verdict, wait_s, self.now + wait_s)
            elif old is not None and again:
                refusals[key] = old
        self.memory.refusals = refusals
        step.intents = submission.intents.without(_settled(plans, submission.intents))
        step.next_s = self._next_s(plans, submission, refusals.values())
        return step

    def _next_s(self, plans: Sequence[ItemPlan], submission: Submission, refusals: Iterable[Refusal]) -> float | None:
        due = [max(refusal.until - self.now, self.patience.confirm_s) for refusal in refusals]
        changed = any(outcome.verdict in (SUBMITTED, VANISHED) for outcome in submission.outcomes.values())
        if changed or any(plan.verdict is UNASKED for plan in plans):
            due.append(self.patience.confirm_s)
        if any(not plan.sure for plan in plans):
            due.append(self.patience.grace_s)
        if self.desk is not None and self.desk.failure is not None:
            due.append(self.patience.refusal_s)
        return min(due, default=None)


def _was_programmed(plan: ItemPlan, entry: UnitRecordSetStatus | None) -> bool:
    """Say whether an item that is to stay was as it should be before: what differs now is somebody else's doing."""
    source = plan.item.source
    if entry is None or source.deletion_requested or entry.observed_generation != source.observed_generation:
        return False
    found = find_condition(entry.conditions, ConditionType.PROGRAMMED)
    return found is not None and found.status is ConditionStatus.TRUE


def recorded_ids(entry: UnitRecordSetStatus | None) -> tuple[str, ...]:
    """Return the identifiers that an item's status holds."""
    data = entry.provider.data if entry is not None and entry.provider is not None else None
    ids = (data or {}).get("recordIDs")
    return tuple(each for each in ids if is_id(each)) if isinstance(ids, list) else ()


def _within(plan: ItemPlan, limit: int) -> ItemPlan:
    """Return the plan, refused when it could only be made in halves."""
    if plan.change.size <= limit:
        return plan
    message = f"The record set changes {plan.change.size} records at once; a batch of the zone's plan holds {limit}."
    return replace(plan, change=Change(), posted=(), verdict=refused(Reason.PROVIDER_INVALID_REQUEST, message))


def _result(plan: ItemPlan, outcome: Outcome | None, recorded: tuple[str, ...]) -> ItemResult:
    if plan.gone:
        return GONE
    ids = outcome.ids if outcome is not None else None
    if ids is None:
        # Identifiers that a listing does not show yet are kept; those that were recognised are added.
        ids = plan.own if plan.verdict is None and not plan.change else tuple(sorted({*recorded, *plan.own}))
    data = {"recordIDs": list(ids)} if ids else None
    if plan.item.fault and not plan.item.source.deletion_requested:
        return replace(faulty(plan.item.fault), data=data)
    verdict: Verdict = PROGRAMMED
    if plan.verdict is not None:
        verdict = plan.verdict
    elif outcome is not None:
        verdict = outcome.verdict
    return ItemResult(verdict, data=data)


def _settled(plans: Iterable[ItemPlan], intents: Intents) -> set[ObjectKey]:
    """Return the RecordSets whose notes have served: all is there, or all is gone, and nothing further can turn up."""
    keys = {plan.item.key: plan for plan in plans}
    return {
        key
        for key in intents.records
        if key not in keys
        or (keys[key].sure and not keys[key].change and (keys[key].verdict is None or keys[key].gone))
    }
