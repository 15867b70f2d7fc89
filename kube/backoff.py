"""Jittered exponential back-off as a value. Never sleeps."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays for attempt 0, 1, 2…: about `first_s`, then `base_s * 2**n`, never over `cap_s`.

    Each is drawn evenly from the upper half of its range, so that many waiters spread out.
    """

    first_s: float
    base_s: float
    cap_s: float

    def delay_s(self, attempt: int) -> float:
        """Seconds to wait before retrying after `attempt` earlier failures in a row."""
        longest_s = self.first_s if attempt <= 0 else self.base_s * 2.0 ** min(attempt - 1, 60)
        return min(longest_s, self.cap_s) * random.uniform(0.5, 1.0)
