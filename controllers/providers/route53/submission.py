"""Sending changes: one batch at a time, taken apart when it is refused, until what is wrong in it is alone.

Owns the order of calls and the memory of what was refused. What fails half-way leaves a record of what was accepted before, so that
nothing that was done is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from controllers.providers.route53.change import Action, Change, Unit, bind, halves, take_batch
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import BatchRejected, Failure, Fault
from controllers.providers.route53.record import Observed, Record, fingerprint
from kube.object import ObjectKey


@dataclass(slots=True)
class Submission:
    """What became of a batch: the change that each item is part of, what was refused, and the failure that ended it early.

    `full` is the refusal of a record set that is one too many: no further one is tried.
    """

    accepted: dict[ObjectKey, str] = field(default_factory=dict)
    refused: dict[ObjectKey, BatchRejected] = field(default_factory=dict)
    failure: Failure | None = None
    full: BatchRejected | None = None

    @property
    def change_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.accepted.values()))


@dataclass(frozen=True, slots=True)
class Queue:
    """The changes of the next batch, and those that wait for a later one."""

    batch: tuple[Unit, ...]
    later: tuple[Unit, ...]

    @property
    def changes(self) -> list[Change]:
        return [change for unit in self.batch for change in unit]

    def without(self, items: Container[ObjectKey]) -> Queue:
        """Return the queue without the units that some of these items have a part in."""
        left = tuple(unit for unit in self.batch if not any(change.item in items for change in unit))
        return Queue(left, self.later)


def queue_up(changes: Iterable[Change]) -> Queue:
    """Return what of the changes fits in one batch."""
    batch, later = take_batch(bind(changes))
    return Queue(tuple(batch), tuple(later))


async def submit(account: Account, zone_id: str, queue: Queue) -> Submission:
    """Send a batch. Never raises Failure: it stands in the submission, beside what was accepted before it."""
    submission = Submission()
    try:
        await _send(account, zone_id, list(queue.batch), submission)
    except Failure as failure:
        submission.failure = failure
    return submission


async def _send(account: Account, zone_id: str, units: Sequence[Unit], submission: Submission) -> None:
    changes = [change for unit in units for change in unit]
    if not changes:
        return
    if submission.full is not None and all(change.action is Action.CREATE for change in changes):
        submission.refused.update({change.item: submission.full for change in changes})
        return
    try:
        change_id = await account.change(zone_id, changes)
    except BatchRejected as refusal:
        parts = halves(units)
        if not parts:
            submission.refused.update({change.item: refusal for change in changes})
            submission.full = refusal if refusal.fault is Fault.FULL else submission.full
            return
        for part in parts:
            await _send(account, zone_id, part, submission)
        return
    submission.accepted.update({change.item: change_id for change in changes})


REFUSALS_AT_LAST: Final = 12
"""How many times as long as at first a refused change waits in the end."""

Subject = tuple[tuple[tuple[str, str], ...], frozenset[str], int]
"""What was refused: the changes of an item, the record sets beside them at their name, and how many a zone had that was full."""


@dataclass(frozen=True)
class Surroundings:
    """What a hosted zone holds, as far as it can be what a change is refused for."""

    observed: Observed

    def beside(self, changed: Record) -> frozenset[str]:
        """Return the fingerprints of the other record sets of a name."""
        return frozenset(
            fingerprint(each) for each in self._by_name.get(changed.key.name, ()) if each.key != changed.key
        )

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Record]]:
        found: dict[str, list[Record]] = {}
        for key, records in self.observed.items():
            found.setdefault(key.name, []).extend(records)
        return found


@dataclass(frozen=True, slots=True)
class _Refusal:
    subject: Subject
    refusal: BatchRejected
    wait_s: float
    until: float


class Quarantine:
    """Changes that were refused alone: the same ones are not sent again before their time, which gets longer each time.

    What is wrong once is mostly wrong for good, and many of them would take all that an account may ask. Where something else stands
    beside them than before, or a full zone has another number of record sets, they are sent at once: that may have been the reason.
    """

    def __init__(self, refusal_s: float, stale_s: float, clock: Callable[[], float]) -> None:
        self._refusal_s = refusal_s
        self._limit_s = REFUSALS_AT_LAST * refusal_s
        self._stale_s = stale_s
        self._clock = clock
        self._kept: dict[ObjectKey, _Refusal] = {}
        self._looked_at = clock()

    def release(self) -> None:
        """Have everything be tried once more; what is refused again waits as long as it would have."""
        self._kept = {key: replace(kept, until=self._clock()) for key, kept in self._kept.items()}

    def take_in(self, changes: Iterable[Change], submission: Submission, around: Surroundings) -> None:
        """Keep the changes that were refused, and forget those that were accepted."""
        refused: dict[ObjectKey, list[Change]] = {}
        for change in changes:
            if change.item in submission.refused:
                refused.setdefault(change.item, []).append(change)
            elif change.item in submission.accepted:
                self._kept.pop(change.item, None)
        for item, kept in refused.items():
            refusal, before = submission.refused[item], self._kept.get(item)
            subject = _subject(kept, around, refusal.fault)
            stale = refusal.fault is Fault.STALE
            wait_s, limit_s = (self._stale_s, self._refusal_s) if stale else (self._refusal_s, self._limit_s)
            if before is not None and (before.subject, before.refusal.fault) == (subject, refusal.fault):
                wait_s = min(2 * before.wait_s, limit_s)
            self._kept[item] = _Refusal(subject, refusal, wait_s, self._clock() + wait_s)

    def objection(self, item: ObjectKey, changes: Sequence[Change], around: Surroundings) -> BatchRejected | None:
        """Return why an item's changes are not to be sent now, None when they may be."""
        kept = self._kept.get(item)
        if kept is None:
            return None
        if kept.subject != _subject(changes, around, kept.refusal.fault):
            del self._kept[item]
            return None
        self._looked_at = self._clock()
        return kept.refusal if kept.until > self._looked_at else None

    def due_s(self) -> float | None:
        """Return when the next change may be tried again that was objected to, in seconds."""
        due = min((each.until for each in self._kept.values() if each.until > self._looked_at), default=None)
        return max(due - self._clock(), 0.0) if due is not None else None

    def keep_only(self, items: Iterable[ObjectKey]) -> None:
        """Drop what was kept of items that are gone or want nothing any more."""
        wanted = set(items)
        self._kept = {key: kept for key, kept in self._kept.items() if key in wanted}


def _subject(changes: Sequence[Change], around: Surroundings, fault: Fault) -> Subject:
    sent = tuple((change.action.value, fingerprint(change.record)) for change in changes)
    beside = frozenset[str]().union(*(around.beside(change.record) for change in changes))
    return sent, beside, len(around.observed) if fault is Fault.FULL else 0
