"""`DelayQueue`: the keys that need work, each at most once, with delays and per-key back-off.

Plain event-loop state without locks: use it from one loop. Never runs the work.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Hashable
from itertools import count
from typing import Final, Generic, TypeVar

from kube.backoff import Backoff

K = TypeVar("K", bound=Hashable)

RETRY: Final = Backoff(first_s=0.2, base_s=1.0, cap_s=300.0)


class DelayQueue(Generic[K]):
    """A key is ready, in work or idle; besides, one wake-up may be due later.

    Of several delays for one key the earliest counts. A key that is added while in work becomes ready again when its
    work is done, so that work never overlaps for one key and no addition is lost.
    """

    def __init__(self, retry: Backoff = RETRY) -> None:
        self._retry = retry
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._queued: set[K] = set()
        self._working: set[K] = set()
        self._again: set[K] = set()
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._sequence = count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = math.inf
        self._failures: dict[K, int] = {}

    def __len__(self) -> int:
        """Keys that want work now; those in work, and delays, do not count."""
        return len(self._queued) + len(self._again)

    @property
    def delayed(self) -> int:
        """Keys with a wake-up later on."""
        return len(self._due)

    @property
    def idle(self) -> bool:
        """Whether no key is ready or in work."""
        return not self._queued and not self._working

    def add(self, key: K) -> None:
        """Make the key ready now, or again when its present work is done."""
        if key in self._working:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, delay_s: float) -> None:
        """Make the key ready in `delay_s` seconds, unless it is due earlier anyway."""
        if delay_s <= 0:
            self.add(key)
            return
        due = asyncio.get_running_loop().time() + delay_s
        if due < self._due.get(key, math.inf):
            self._due[key] = due
            heapq.heappush(self._heap, (due, next(self._sequence), key))
            self._arm()

    def retry(self, key: K, *, at_least_s: float = 0.0, at_most_s: float = math.inf) -> float:
        """Count a failure and make the key ready after its back-off, kept within the bounds; returns the delay."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay_s = max(min(self._retry.delay_s(failures), at_most_s), at_least_s)
        self.add_after(key, delay_s)
        return delay_s

    def forget(self, key: K) -> None:
        """Reset the key's back-off."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """Failures since the last `forget`."""
        return self._failures.get(key, 0)

    async def get(self) -> K:
        """The next ready key, first come first served; it is in work until `done`."""
        key = await self._ready.get()
        self._queued.discard(key)
        self._working.add(key)
        return key

    def done(self, key: K, *, rest_s: float = 0.0) -> None:
        """End the key's work; it is not given again before it has rested for `rest_s` seconds."""
        if rest_s > 0:
            asyncio.get_running_loop().call_later(rest_s, self.done, key)
            return
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _arm(self) -> None:
        """Keep one timer for the earliest delay."""
        due = self._heap[0][0]
        # The time is kept here: for a time that has come already uvloop returns a handle that cannot tell it.
        if due < self._timer_due:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._timer_due = asyncio.get_running_loop().call_at(due, self._fire), due

    def _fire(self) -> None:
        self._timer, self._timer_due = None, math.inf
        now = asyncio.get_running_loop().time()
        while self._heap and self._heap[0][0] <= now:
            due, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == due:  # else an earlier delay has replaced this one
                del self._due[key]
                self.add(key)
        if self._heap:
            self._arm()
