"""`Reporter`: answers ledgers. Writes what a provider found out into their statuses, and holds and releases their parts.

Owns the statuses and provider finalizers of the ledgers of one provider, the memory of its own writes until the caches show them, what
is held back and for how long, and the events of a Zone's conditions. Never judges anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from controllers.api.condition import (
    Condition,
    ConditionStatus,
    ConditionType,
    changed_conditions,
    headline,
    merge_conditions,
    status_ground,
)
from controllers.api.group import PROVIDER_FINALIZER, ZONE_UNITS
from controllers.api.patch import Operation, guard
from controllers.api.reason import Reason
from controllers.api.verdict import refused
from controllers.api.zone_unit import StateOnly, ZoneUnit, ZoneUnitStatus
from controllers.ledger.context import LedgerContext
from controllers.ledger.echo import Echo
from controllers.ledger.pace import Pace
from controllers.ledger.result import Facts, Hold, Item, ItemResult, ZoneResult, condition, settle
from controllers.ledger.status_patch import EMPTY, status_patch
from controllers.ledger.writer import UnitWriter
from controllers.runtime.controller import Requeue
from controllers.runtime.parallel import in_parallel
from controllers.runtime.recorder import EventType
from controllers.runtime.refusal import Refusals
from kube.errors import Invalid, TooLarge
from kube.object import ObjectKey, ObjectReference

SHARE: Final = 10
PAUSE_S: Final = 1.0
AT_ONCE: Final[Mapping[Hold, float]] = {Hold.PENDING: 0.0, Hold.OUTAGE: 5.0}
SHORTEST_S: Final = 0.001

Related = Callable[[ObjectKey], ObjectReference]


@dataclass(slots=True)
class _Memory:
    """What is remembered of one zone. Losing it costs work and patience, never correctness."""

    held_since: dict[Hold, float] = field(default_factory=dict)
    pace: Pace = field(default_factory=lambda: Pace(SHARE, PAUSE_S))


class Reporter:
    """Speaks for one provider; zones go by the key of their Zone.

    `limits_s` says how long results that are no more than "not yet" are held back. `related` names the object to look at for more
    about a zone, if there is one.
    """

    def __init__(
        self, context: LedgerContext, limits_s: Mapping[Hold, float] = AT_ONCE, related: Related | None = None
    ) -> None:
        self._context = context
        self._limits_s = limits_s
        self._related = related
        self._writer = UnitWriter(context.surroundings.client)
        self._statuses: Echo[ZoneUnitStatus] = Echo(context.surroundings.clock)
        self._finalizers: Echo[bool] = Echo(context.surroundings.clock)
        self._refusals: Refusals[ObjectKey] = Refusals(context.surroundings.clock)
        self._memories: dict[ObjectKey, _Memory] = {}

    def status_of(self, part: ZoneUnit) -> ZoneUnitStatus:
        """Return a part's status with our own writes in it that the cache has not shown yet."""
        return self._statuses.latest(part.key, part.meta, part.status) or part.status

    def wait_s(self, zone: ObjectKey) -> float:
        """Return how long the next report has to wait, 0 when it may be made now: large ledgers are not written all the time."""
        return self._memory(zone).pace.wait_s(self._context.now())

    def look_again(self, zone: ObjectKey, resync_s: float, *waits_s: float | None) -> Requeue:
        """Return when a zone has to be looked at again: for what is held back, for the provider's own waits, at the latest for resync.

        Of `waits_s` those that are None or 0 do not count. It is what `reconcile` returns after a report.
        """
        return Requeue(min((resync_s, *(wait_s for wait_s in waits_s if wait_s), *self._due_s(zone))))

    def progressed(self, zone: ObjectKey) -> None:
        """Note that the outside gets on with a zone's changes: how long an outage may last is counted from here again."""
        self._memory(zone).held_since.pop(Hold.OUTAGE, None)

    def forget_zone(self, zone: ObjectKey) -> None:
        """Drop what is remembered of a zone that is gone or not ours."""
        self._memories.pop(zone, None)

    def forget_unit(self, part: ObjectKey) -> None:
        """Drop what was written to a part that has gone."""
        self._statuses.forget(part)
        self._finalizers.forget(part)

    async def hold(self, parts: Iterable[ZoneUnit]) -> None:
        """Put the provider's finalizer on all parts that are not being deleted; to be done before anything is created."""
        await in_parallel(self._hold(part) for part in parts if not part.deleting)

    async def note(self, main: ZoneUnit, ledger_state: Facts) -> None:
        """Write part 0's `status.provider.state` at once, an intent before a request that must not be repeated.

        Raises Conflict, as any write does, when the ledger has moved on.
        """
        old = self.status_of(main)
        new = old.model_copy(update={"provider": StateOnly(state=dict(ledger_state)) if ledger_state else None})
        if operations := status_patch(old, new):
            # An intent that another manager noted and that our cache has not shown yet must not be written over.
            await self._write(main, old, new, operations, is_intent=True)

    async def report(
        self,
        zone: ObjectKey,
        parts: Sequence[ZoneUnit],
        result: ZoneResult,
        items: Sequence[Sequence[Item]],
        results: Sequence[Sequence[ItemResult]],
    ) -> None:
        """Write the statuses that changed; `items` and `results` go part by part, in the order of `parts`.

        Raises Invalid for one that the API refuses, and for a time without asking again when it would be the same once more.
        """
        memory, now = self._memory(zone), self._context.now()
        current = [self.status_of(part) for part in parts]
        release = {hold for hold, limit_s in self._limits_s.items() if limit_s <= 0}
        release |= {hold for hold, since in memory.held_since.items() if now - since >= self._limits_s[hold]}
        settlement = settle(parts, current, result, items, results, frozenset(release), self._context.now_text())
        memory.held_since = {hold: memory.held_since.get(hold, now) for hold in settlement.held}
        changed = [
            (part, old, operations)
            for part, old in zip(parts, current, strict=True)
            if not is_spent(part) and (operations := status_patch(old, settlement.statuses[part.spec.part]))
        ]
        await in_parallel(
            self._write(part, old, settlement.statuses[part.spec.part], operations) for part, old, operations in changed
        )
        if changed:
            memory.pace.did(now, self._context.now())

    async def release_spent(self, parts: Iterable[ZoneUnit]) -> None:
        """Let go of further parts that are being deleted, empty, and wait for nobody but us."""
        await in_parallel(self._writer.release(part) for part in parts if is_spent(part))

    async def let_go(self, zone: ObjectKey, parts: Iterable[ZoneUnit]) -> None:
        """Report the deletion of everything in the deleting parts and release them, once nothing is left outside."""
        self.forget_zone(zone)
        for part in parts:
            if not part.deleting:
                continue
            if part.spec.record_sets:
                old = self.status_of(part)
                gone = old.model_copy(update={"observed_generation": part.meta.generation, "record_sets": ()})
                if operations := status_patch(old, gone):
                    await self._write(part, old, gone, operations)
            if PROVIDER_FINALIZER in part.meta.finalizers:
                await self._writer.release(part)

    def _due_s(self, zone: ObjectKey) -> Iterator[float]:
        now, memory = self._context.now(), self._memory(zone)
        pause_s = memory.pace.wait_s(now)
        for hold, since in memory.held_since.items():
            yield max(since + self._limits_s[hold] - now, pause_s, SHORTEST_S)

    def _memory(self, zone: ObjectKey) -> _Memory:
        return self._memories.setdefault(zone, _Memory())

    async def _hold(self, part: ZoneUnit) -> None:
        if not self._finalizers.latest(part.key, part.meta, PROVIDER_FINALIZER in part.meta.finalizers):
            self._finalizers.remember(part.key, await self._writer.hold(part), True)

    async def _write(
        self,
        part: ZoneUnit,
        old: ZoneUnitStatus,
        new: ZoneUnitStatus,
        operations: Sequence[Operation],
        *,
        is_intent: bool = False,
    ) -> None:
        provider = self._context.provider()  # another one that comes during the request is a reason to try again

        def ground() -> object:
            return status_ground(part.meta, provider.meta if provider is not None else None, old, new)

        if (known := self._refusals.of(part.key, ground)) is not None:
            raise known
        if (
            is_intent or old == EMPTY
        ):  # an empty status is replaced as a whole: there must be none, whatever our cache shows
            operations = [guard(self._version_of(part)), *operations]
        try:
            version = await self._writer.write_status(part, operations)
        except TooLarge as error:
            new = _without_results(part, old, error.message, self._context.now_text())
            operations = status_patch(old, new)
            version = await self._writer.write_status(part, operations) if operations else None
        except Invalid as error:
            self._refusals.note(part.key, ground(), error)
            raise
        if version is None:
            return
        self._statuses.remember(part.key, version, new)
        if new.zone is not None:
            before = old.zone.conditions if old.zone is not None else ()
            for each in changed_conditions(before, new.zone.conditions):
                self._announce(part, each)

    def _version_of(self, part: ZoneUnit) -> str:
        """Return the newest version of a part that its cached or written status is of."""
        return self._finalizers.version(part.key, self._statuses.version(part.key, part.meta.resource_version))

    def _announce(self, part: ZoneUnit, each: Condition) -> None:
        kind = EventType.WARNING if each.status is ConditionStatus.FALSE else EventType.NORMAL
        about = ObjectReference.of(ZONE_UNITS, part.meta)
        related = self._related(part.spec.zone.ref.key) if self._related is not None else None
        self._context.recorder.event(about, kind, each.reason, headline(each), related)


def is_spent(part: ZoneUnit) -> bool:
    """Say whether a further part is being deleted, empty, and waits for nobody but us."""
    return (
        part.spec.part != 0
        and part.deleting
        and not part.spec.record_sets
        and PROVIDER_FINALIZER in part.meta.finalizers
    )


def _without_results(part: ZoneUnit, old: ZoneUnitStatus, message: str, now: str) -> ZoneUnitStatus:
    """Return what can be said of a part whose results do not fit in the object with its spec."""
    verdict = refused(Reason.RECONCILE_ERROR, f"The results of this part do not fit in it: {message}")
    wanted = condition(ConditionType.PROGRAMMED, verdict, part.meta.generation)
    return old.model_copy(update={"conditions": merge_conditions(old.conditions, [wanted], now)})
