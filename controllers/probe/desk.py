"""The rounds of all zones: which is due when, and what the newest one of each zone said.

Owns scheduling. A zone has at most one round under way, and its newest round is all that is kept of it; whoever looks at a zone never waits
for servers. The manager runs `controller`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from controllers.probe.prober import Plan
from controllers.probe.round import Round
from controllers.runtime.controller import Controller, Requeue
from kube.object import ObjectKey

WORKERS: Final = 16
PAUSE_S: Final = 1.0


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
        self.controller: Controller[ObjectKey] = Controller(f"{name}-probe", self._run, workers=WORKERS)

    def ask(self, zone: ObjectKey, plan: Plan) -> Probed | None:
        """Return the newest round of a zone, whatever plan it carried out; a round for this plan follows if it is due."""
        entry = self._entries.get(zone)
        if entry is None:
            entry = self._entries[zone] = _Entry(plan)
        entry.plan = plan
        self.controller.queue.add_after(zone, max(self._due_s(entry), 0.0))
        return entry.probed

    def forget(self, zone: ObjectKey) -> None:
        """Drop a zone: it is not asked about any more."""
        self._entries.pop(zone, None)

    def _due_s(self, entry: _Entry) -> float:
        """Return in how many seconds the zone is to be probed; a changed plan waits only for as long as keeps rounds apart.

        A zone that takes longer than its interval rests for as long as it took: nobody's servers are to be asked all the time.
        """
        if entry.probed is None:
            return 0.0
        since_s = self._clock() - entry.ended_s
        same = entry.probed.plan == entry.plan
        return (max(entry.plan.interval_s, entry.took_s) if same else PAUSE_S) - since_s

    async def _run(self, zone: ObjectKey) -> Requeue | None:
        entry = self._entries.get(zone)
        if entry is None:
            return None
        due_s = self._due_s(entry)
        if due_s > 0:
            return Requeue(due_s)
        plan, began_s = entry.plan, self._clock()
        found = await self._probe(plan)
        if self._entries.get(zone) is not entry:
            return None
        entry.probed = Probed(plan, found)
        entry.ended_s = self._clock()
        entry.took_s = entry.ended_s - began_s
        self._done(zone)
        return Requeue(max(self._due_s(entry), 0.0))
