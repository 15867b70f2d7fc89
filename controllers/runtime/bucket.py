"""`TokenBucket`: a bound on how often something happens, as arithmetic on a given clock value. Never sleeps."""

from __future__ import annotations


class TokenBucket:
    """Holds up to `burst` tokens and gains `rate_per_s` of them each second; full in the beginning."""

    __slots__ = ("_at", "_burst", "_rate_per_s", "_tokens")

    def __init__(self, rate_per_s: float, burst: int, now: float) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def try_take(self, now: float) -> bool:
        """Take a token if there is one."""
        self._fill(now)
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def reserve(self, now: float) -> float:
        """Take a token, in advance if need be; returns the seconds to wait before it may be used."""
        self._fill(now)
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._rate_per_s)

    def _fill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate_per_s)
        self._at = now
