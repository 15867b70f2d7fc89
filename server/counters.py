"""Plain numbers that the data path counts up.

Owns nothing but the numbers; `metrics` gives them names.
"""

from __future__ import annotations

from dataclasses import dataclass, field


def _by_rcode() -> list[int]:
    return [0] * 16


@dataclass(slots=True)
class Counters:
    """Replies by transport and RCODE, packets that got no reply, and what went wrong at sockets."""

    udp: list[int] = field(default_factory=_by_rcode)
    tcp: list[int] = field(default_factory=_by_rcode)
    dropped: int = 0
    udp_errors: int = 0
    tcp_open: int = 0
    tcp_refused: int = 0
    tcp_closed_idle: int = 0
