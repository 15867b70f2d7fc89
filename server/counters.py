"""Plain numbers that the data path counts up.

Owns nothing but the numbers; `metrics` gives them names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from server.transport import Transport

DURATION_BUCKETS: Final = 24
"""Bucket n holds what took less than 2**n microseconds."""


RCODES: Final = 24
"""One more than the highest RCODE that this server gives, BADCOOKIE (IANA DNS parameters)."""


def _by_rcode() -> list[int]:
    return [0] * RCODES


@dataclass(slots=True)
class Durations:
    """How long queries took, in buckets, and all of them together."""

    buckets: list[int] = field(default_factory=lambda: [0] * (DURATION_BUCKETS + 1))
    sum_s: float = 0.0

    def add(self, duration_s: float, times: int) -> None:
        """Count a duration that stands for so many."""
        self.buckets[min(int(duration_s * 1e6).bit_length(), DURATION_BUCKETS)] += times
        self.sum_s += duration_s * times


@dataclass(slots=True)
class Counters:
    """Replies by transport and RCODE, packets that got no reply, and what went wrong at sockets."""

    udp: list[int] = field(default_factory=_by_rcode)
    tcp: list[int] = field(default_factory=_by_rcode)
    tls: list[int] = field(default_factory=_by_rcode)
    durations: dict[Transport, Durations] = field(default_factory=lambda: {each: Durations() for each in Transport})
    dropped: int = 0
    udp_errors: int = 0
    udp_shed: int = 0
    proxy_errors: int = 0
    tcp_open: int = 0
    tcp_opened: int = 0
    tcp_refused: int = 0
    tcp_evicted: int = 0
    tcp_closed_idle: int = 0
    tcp_closed_slow: int = 0
    tls_errors: int = 0

    def replies(self, transport: Transport) -> list[int]:
        """Return the replies of one transport by RCODE."""
        return (self.udp, self.tcp, self.tls)[transport]
