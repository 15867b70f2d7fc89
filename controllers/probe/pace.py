"""How often a name server may be asked, over all zones and rounds of a process.

Owns the pace and nothing else: a server that belongs to somebody else is never asked faster than this, however many zones it has.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from controllers.probe.address import Address
from controllers.runtime.bucket import TokenBucket

QUERIES_PER_S: Final = 48.0
"""Fifty are allowed; timers that are late by a little must not make it more."""
BURST: Final = 1
IDLE_S: Final = 60.0
TIDY_AT: Final = 1024


class Pace:
    """Lets at most `per_s` messages a second go to each address."""

    def __init__(self, per_s: float = QUERIES_PER_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._clock = clock
        self._buckets: dict[Address, tuple[TokenBucket, float]] = {}

    async def wait_turn(self, server: Address) -> None:
        """Return when one more message may be sent to the server."""
        now = self._clock()
        known = self._buckets.get(server)
        bucket = known[0] if known is not None else TokenBucket(self._per_s, BURST, now)
        delay_s = bucket.reserve(now)
        self._buckets[server] = bucket, now + delay_s
        if len(self._buckets) > TIDY_AT:
            self._tidy(now)
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def _tidy(self, now: float) -> None:
        """Forget whom nobody has asked for so long that it may be asked at once again."""
        self._buckets = {each: kept for each, kept in self._buckets.items() if now - kept[1] < IDLE_S}
