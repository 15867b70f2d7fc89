"""How often each AWS account is asked: one bucket per account, shared by everything that asks it.

Owns the waiting before a request. Never sends one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from controllers.runtime.bucket import TokenBucket

BURST: Final = 1
PENALTY_S: Final = 1.0


class Throttle:
    """Spaces requests evenly; after the service has complained, nobody asks before the time that it named."""

    def __init__(self, requests_per_s: float, clock: Callable[[], float]) -> None:
        self._bucket = TokenBucket(requests_per_s, BURST, clock())
        self._clock = clock
        self._quiet_until = 0.0

    async def slot(self) -> None:
        """Wait until the next request may be sent."""
        wait_s = self._bucket.reserve(self._clock())
        while True:
            wait_s = max(wait_s, self._quiet_until - self._clock())
            if wait_s <= 0:
                return
            await asyncio.sleep(wait_s)
            wait_s = 0.0

    def complain(self, retry_after_s: float | None) -> None:
        """Note that the service asks for less."""
        self._quiet_until = max(self._quiet_until, self._clock() + (retry_after_s or PENALTY_S))


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
