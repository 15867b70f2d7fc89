"""How often each AWS account is asked: one line per account, shared by everything that asks it.

Owns the waiting before a request. Never sends one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

PENALTY_S: Final = 1.0


class Throttle:
    """Spaces requests evenly; after the service has complained, nobody asks before the time that it named.

    Whoever waits does so in line, and takes a turn only when it has come: what is held back goes evenly, too.
    """

    def __init__(self, requests_per_s: float, clock: Callable[[], float]) -> None:
        self._interval_s = 1.0 / requests_per_s
        self._clock = clock
        self._free_at = clock()
        self._line = asyncio.Lock()

    async def slot(self) -> None:
        """Wait until the next request may be sent."""
        async with self._line:
            while (wait_s := self._free_at - self._clock()) > 0:  # noqa: ASYNC110 - a complaint lengthens it meanwhile
                await asyncio.sleep(wait_s)
            self._free_at = self._clock() + self._interval_s

    def complain(self, retry_after_s: float | None) -> None:
        """Note that the service asks for less."""
        self._free_at = max(self._free_at, self._clock() + (retry_after_s or PENALTY_S))


class Throttles:
    """The throttle of each account."""

    def __init__(self, requests_per_s: float, clock: Callable[[], float]) -> None:
        self._requests_per_s = requests_per_s
        self._clock = clock
        self._known: dict[str, Throttle] = {}

    def of(self, account: str) -> Throttle:
        """Return the throttle of an account."""
        if account not in self._known:
            self._known[account] = Throttle(self._requests_per_s, self._clock)
        return self._known[account]
