"""The rate limiter whose counts native threads and the event loop share.

Owns nothing but the way there.
"""

from __future__ import annotations

from server._native import Limiter
from server.answer.rate_limit import RateLimiter, Verdict
from server.config import RateLimit


class NativeRateLimiter(RateLimiter):
    """As RateLimiter; of the networks that one second sees, it forgets the quietest when they are more than it has places for."""

    def __init__(self, config: RateLimit) -> None:
        super().__init__(config)
        self.native = Limiter(
            config.responses_per_s,
            config.slip,
            self.stride,
            config.ipv4_prefix // 8,
            config.ipv6_prefix // 8,
            [(network.network_address.packed, network.prefixlen) for network in config.exempt],
        )
        self.over = self.native

    @property
    def dropped(self) -> int:
        return self.native.counts()[0]

    @property
    def held_back(self) -> int:
        return self.native.counts()[1]

    def tick(self) -> None:
        self.native.tick()

    def count(self, client: str, reply: bytes) -> None:
        self.native.count(client.partition("%")[0], reply)

    def is_over(self, client: str, reply: bytes) -> bool:
        return self.native.is_over(client.partition("%")[0], reply)

    def verdict(self) -> Verdict:
        return Verdict.HOLD_BACK if self.native.holds_back() else Verdict.DROP
