"""How often a name server may be asked, over all zones and rounds of a process.

Owns the pace and nothing else: a server that belongs to somebody else is never asked faster than this, however many zones it has.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.probe.address import Address
from controllers.runtime.bucket import TokenBucket

QUERIES_PER_S: Final = 48.0
"""Fifty are allowed; timers that are late by a little must not make it more."""
BURST: Final = 1
WINDOW_S: Final = 1.0
IDLE_S: Final = 60.0
TIDY_AT: Final = 1024


@dataclass(slots=True)
class _Line:
    """Who waits for one server: when the last of them may send, and when the last messages were sent."""

    bucket: TokenBucket
    sent: deque[float]
    last_s: float = 0.0

    def full_s(self, now: float) -> float:
        """Return in how many seconds one more message may be sent as far as those of the last second are concerned."""
        return self.sent[0] + WINDOW_S - now if len(self.sent) == self.sent.maxlen else 0.0


class Pace:
    """Lets at most `per_s` messages a second go to each address, evenly; also when timers are late and many turns have come at once."""

    def __init__(self, per_s: float = QUERIES_PER_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._clock = clock
        self._lines: dict[Address, _Line] = {}

    async def wait_turn(self, server: Address) -> None:
        """Return when one more message may be sent to the server."""
        now = self._clock()
        line = self._lines.get(server)
        if line is None:
            if len(self._lines) >= TIDY_AT:
                self._tidy(now)
            most = max(int(self._per_s), 1)
            line = self._lines[server] = _Line(TokenBucket(self._per_s, BURST, now), deque(maxlen=most))
        delay_s = line.bucket.reserve(now)
        line.last_s = now + delay_s
        while delay_s > 0 or (delay_s := line.full_s(now)) > 0:
            await asyncio.sleep(delay_s)
            delay_s, now = 0.0, self._clock()
        line.sent.append(now)

    def _tidy(self, now: float) -> None:
        """Forget whom nobody has asked for so long that it may be asked at once again."""
        self._lines = {each: line for each, line in self._lines.items() if now - line.last_s < IDLE_S}
