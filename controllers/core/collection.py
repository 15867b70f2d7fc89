"""How long guarded changes wait for others that belong to the same step.

Clients send a thousand deletions one after the other, and a guard that looked at each alone would hold none of them. Owns the times,
per zone; never decides what becomes of a step. Forgetting costs a pause, never a change.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.core.guard import GuardedChange, Step
from kube.object import ObjectKey

QUIET_S: Final = 0.5
LIMIT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Open:
    changes: frozenset[GuardedChange]
    since: float
    changed: float


class Collection:
    """The steps that are still being collected: one is whole when it stayed the same for a while, or took very long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[ObjectKey, _Open] = {}

    def left_s(self, zone: ObjectKey, step: Step | None) -> float:
        """Return how long the zone's step has to wait for others yet, 0 when it is whole or there is none."""
        if step is None:
            self._open.pop(zone, None)
            return 0.0
        now = self._clock()
        known = self._open.get(zone)
        if known is None:
            known = self._open[zone] = _Open(step.changes, now, now)
        elif known.changes != step.changes:
            known = self._open[zone] = _Open(step.changes, known.since, now)
        return max(0.0, min(known.changed + QUIET_S, known.since + LIMIT_S) - now)
