"""Serials by domain: a domain that passes from one zone to another, or comes back, goes on from where it was.

Secondaries and resolvers know a domain, not the object behind it. What is remembered is lost with the process, which is no harm once
the clock has caught up.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from zonemodel.snapshot import next_serial


class Serials:
    """The newest serial of each domain as long as the clock has not passed it."""

    def __init__(self, wall_clock: Callable[[], datetime]) -> None:
        self._wall_clock = wall_clock
        self._newest: dict[str, int] = {}

    def __len__(self) -> int:
        """How many domains are remembered."""
        return len(self._newest)

    def next(self, domain: str, previous: int | None) -> int:
        """Return the serial after `previous`, which is the zone's own last one, and after all that the domain has had."""
        now_s = int(self._wall_clock().timestamp())
        serial = next_serial(previous, now_s)
        newest = self._newest.pop(domain, None)
        if newest is not None:
            serial = next_serial(newest, serial)
        self._forget_before(now_s)
        self._newest[domain] = serial
        return serial

    def _forget_before(self, now_s: int) -> None:
        """Drop the entries in front, which are the oldest, up to one that the clock has not passed yet."""
        while self._newest:
            domain, serial = next(iter(self._newest.items()))
            if next_serial(serial, now_s) != now_s % 2**32:
                return
            del self._newest[domain]
