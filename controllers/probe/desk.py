"""The rounds of all zones: which is due when, and what the newest one of each zone said.

Owns scheduling. A zone has at most one round under way, and its newest round is all that is kept of it; whoever looks at a zone never waits
for servers. Zones whose servers keep us waiting have workers of their own, so that they hold up one another and nobody else; of those that
are not known to, no namespace takes the last workers if it has one already. The manager runs `controllers`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from controllers.probe.prober import Plan
from controllers.probe.round import Round
from controllers.runtime.controller import Controller, Requeue
from kube.object import ObjectKey

WORKERS: Final = 16
"""Of the quick zones, and as many of the slow ones."""
KEPT_WORKERS: Final = 4
"""So many of the quick ones are kept for namespaces that have none: a zone is slow only when its first round has shown it."""
PAUSE_S: Final = 1.0
AGAIN_S: Final = 5.0
"""A round in which some server was not heard is made again after this, and ever later while that goes on, till it is the interval."""
QUICK_S: Final = 30.0
"""A round that takes longer is broken off, and made by those who have the time; the zone stays with them for some rounds."""
CUT_OFF_S: Final = 8 * QUICK_S
"""What a round counts for that was broken off: nobody knows how long it would have taken."""


@dataclass(frozen=True, slots=True)
class Probed:
    """A round that has ended, and the plan that it carried out."""

    plan: Plan
    round: Round


@dataclass(slots=True)
class _Entry:
    plan: Plan
    probed: Probed | None = None
    ended_s: float = 0.0
    took_s: float = 0.0
    scope: asyncio.Timeout | None = None
    usual_s: float = 0.0
    """What a round takes; half of a long one is remembered by the next."""
    again_s: float = inf
    """How soon the next round follows one in which some server was not heard."""

    @property
    def slow(self) -> bool:
        return self.usual_s > QUICK_S


class ProbeDesk:
    """Probes each zone when its plan changes and whenever its interval has passed; `done` is told of each round.

    `name` is the provider's, for logs and metrics.
    """

    def __init__(
        self,
        name: str,
        probe: Callable[[Plan], Awaitable[Round]],
        done: Callable[[ObjectKey], None],
        clock: Callable[[], float],
    ) -> None:
        self._probe = probe
        self._done = done
        self._clock = clock
        self._entries: dict[ObjectKey, _Entry] = {}
        self._running: Counter[str] = Counter()
        """How many quick rounds of each namespace are under way."""
        self._parked: dict[str, dict[ObjectKey, None]] = {}
        """The zones that wait until rounds of others have ended, in order."""
        self._quick: Controller[ObjectKey] = Controller(f"{name}-probe", self._run_quickly, workers=WORKERS)
        self._slow: Controller[ObjectKey] = Controller(f"{name}-probe-slow", self._run_slowly, workers=WORKERS)

    @property
    def controllers(self) -> tuple[Controller[ObjectKey], ...]:
        return self._quick, self._slow

    def ask(self, zone: ObjectKey, plan: Plan) -> Probed | None:
        """Return the newest round of a zone, whatever plan it carried out; a round for this plan follows if it is due."""
        entry = self._entries.get(zone)
        if entry is None:
            entry = self._entries[zone] = _Entry(plan)
        entry.plan = plan
        self._schedule(zone, entry)
        return entry.probed

    def forget(self, zone: ObjectKey) -> None:
        """Drop a zone: it is not asked about any more, and a round that is under way is broken off."""
        entry = self._entries.pop(zone, None)
        if entry is not None and entry.scope is not None and not entry.scope.expired():
            entry.scope.reschedule(asyncio.get_running_loop().time())

    def _due_s(self, entry: _Entry) -> float:
        """Return in how many seconds the zone is to be probed; a changed plan waits only for as long as keeps rounds apart.

        A zone that takes longer than its interval rests for as long as it took: nobody's servers are to be asked all the time.
        """
        if entry.probed is None:
            return 0.0
        since_s = self._clock() - entry.ended_s
        same = entry.probed.plan == entry.plan
        return (max(min(entry.plan.interval_s, entry.again_s), entry.took_s) if same else PAUSE_S) - since_s

    def _schedule(self, zone: ObjectKey, entry: _Entry) -> None:
        workers = self._slow if entry.slow else self._quick
        workers.queue.add_after(zone, max(self._due_s(entry), 0.0))

    async def _run_quickly(self, zone: ObjectKey) -> Requeue | None:
        namespace = zone.namespace
        if self._running[namespace] and self._running.total() >= WORKERS - KEPT_WORKERS:
            self._parked.setdefault(namespace, {})[zone] = None
            return None
        self._running[namespace] += 1
        try:
            return await self._run(zone, QUICK_S)
        finally:
            self._running[namespace] -= 1
            self._unpark()

    def _unpark(self) -> None:
        """Let the next zone try, of the namespace with the fewest rounds under way."""
        self._running = +self._running
        if self._parked:
            namespace = min(self._parked, key=lambda each: self._running[each])
            zone = next(iter(self._parked[namespace]))
            del self._parked[namespace][zone]
            if not self._parked[namespace]:
                del self._parked[namespace]
            self._quick.enqueue(zone)

    async def _run_slowly(self, zone: ObjectKey) -> Requeue | None:
        return await self._run(zone, None)

    async def _run(self, zone: ObjectKey, limit_s: float | None) -> Requeue | None:
        entry = self._entries.get(zone)
        if entry is None or entry.slow is not (limit_s is None):
            return None  # the others have it
        due_s = self._due_s(entry)
        if due_s > 0:
            return Requeue(due_s)
        plan, began_s = entry.plan, self._clock()
        found = await self._carried_out(entry, plan, limit_s)
        if self._entries.get(zone) is not entry:
            return None
        if found is None:
            entry.usual_s = CUT_OFF_S
            self._schedule(zone, entry)
            return None
        entry.probed = Probed(plan, found)
        entry.ended_s = self._clock()
        entry.took_s = entry.ended_s - began_s
        entry.usual_s = max(entry.took_s, entry.usual_s / 2)
        entry.again_s = _again_s(entry) if found.unheard else inf
        self._done(zone)
        if entry.slow is (limit_s is None):
            return Requeue(max(self._due_s(entry), 0.0))
        self._schedule(zone, entry)
        return None

    async def _carried_out(self, entry: _Entry, plan: Plan, limit_s: float | None) -> Round | None:
        """Return the round for a plan, None when it was broken off: by the limit, or since the zone is forgotten."""
        try:
            async with asyncio.timeout(limit_s) as scope:
                entry.scope = scope
                return await self._probe(plan)
        except TimeoutError:
            if not scope.expired():
                raise
            return None
        finally:
            entry.scope = None


def _again_s(entry: _Entry) -> float:
    """Return how soon another round follows one more in which some server was not heard."""
    return AGAIN_S if entry.again_s == inf else min(2 * entry.again_s, entry.plan.interval_s)
