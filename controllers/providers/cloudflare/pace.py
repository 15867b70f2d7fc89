"""How often one account's API may be called, and when it may be called again.

Owns a token bucket, kept as the time at which it will be full again, and the pause that the API asks for, for each account. Never
retries anything itself.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.providers.cloudflare.failure import TurnError

RATE_PER_S: Final = 3.5
BURST: Final = 150
"""Cloudflare lets a token have 1200 requests in five minutes; a little is left for people and other programs."""
WAIT_AT_MOST_S: Final = 5.0
PAUSE_S: Final = 10.0
"""Pause after a refusal that does not say how long."""


@dataclass(frozen=True, slots=True)
class PacePolicy:
    """Bounds of one account's calls."""

    rate_per_s: float = RATE_PER_S
    burst: int = BURST
    wait_at_most_s: float = WAIT_AT_MOST_S
    pause_s: float = PAUSE_S


class Pace:
    """One account's turn-taking."""

    def __init__(self, policy: PacePolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._clock = clock
        self._full_at = clock()
        self._closed_until = self._full_at

    async def take_turn(self) -> None:
        """Wait for a turn. Raises TurnError when it would come late; the turn is not taken then."""
        now, token_s = self._clock(), 1.0 / self._policy.rate_per_s
        empty_s = self._full_at + token_s - now - self._policy.burst * token_s
        wait_s = max(self._closed_until - now, empty_s, 0.0)
        if wait_s > self._policy.wait_at_most_s:
            raise TurnError("Cloudflare API takes no further request yet", retry_after_s=wait_s)
        self._full_at = max(self._full_at, now) + token_s
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    def pause(self, retry_after_s: float) -> float:
        """Note that the API asked for a pause; returns it with what keeps many waiters apart."""
        pause_s = (retry_after_s or self._policy.pause_s) * random.uniform(1.0, 1.2)
        self._closed_until = max(self._closed_until, self._clock() + pause_s)
        return pause_s


class Paces:
    """The pace of each account; accounts are few and live long."""

    def __init__(self, policy: PacePolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._clock = clock
        self._paces: dict[str, Pace] = {}

    def of(self, account: str) -> Pace:
        """Return the pace of an account, or of whatever else limits calls."""
        pace = self._paces.get(account)
        if pace is None:
            pace = self._paces[account] = Pace(self._policy, self._clock)
        return pace
