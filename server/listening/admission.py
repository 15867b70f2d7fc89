"""Which connections a server keeps open, over all its listeners: so many in all, so many for one client, so many octets together.

Owns the count. When all places are taken, the connection that has been silent longest makes room for a new one, so that nobody can keep
others out by holding connections. When those that hold much hold too much together, that of them goes which got on longest ago.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from typing import Final, Protocol

import structlog

from server.config import Limits
from server.counters import Counters

_LEAST_SILENCE_S: Final = 1.0
"""How long a connection must have been silent to be closed for another one."""

HEAVY_BYTES: Final = 4096
"""What a connection may hold without being reckoned among those that hold much."""

log = structlog.get_logger(__name__)


class Held(Protocol):
    """An open connection. `last_progress_s`, of the event loop's clock, is when it last did something useful."""

    last_progress_s: float

    @property
    def held_bytes(self) -> int:
        """How much it holds of what was asked and is not answered, or was answered and is not taken."""

    def evict(self) -> None:
        """Close at once."""


class Admission:
    """The open connections in the order in which they were last of use."""

    def __init__(self, limits: Limits, counters: Counters) -> None:
        self._limits = limits
        self._counters = counters
        self._places = _places(limits.tcp_connections)
        self._heavy: dict[Held, int] = {}
        self._heavy_bytes = 0
        self._open: dict[Held, str] = {}
        self._per_client: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, connection: Held) -> bool:
        """Take a place, if need be that of another one; return whether there is one."""
        if len(self._open) >= self._places and not self._make_room():
            self._counters.tcp_refused += 1
            return False
        self._open[connection] = ""
        self._counters.tcp_open += 1
        self._counters.tcp_opened += 1
        return True

    def belongs_to(self, connection: Held, client: str) -> bool:
        """Note whose connection it is, once; return whether the client may have one more."""
        if self._per_client[client] >= self._limits.tcp_connections_per_client:
            self._counters.tcp_refused += 1
            return False
        self._open[connection] = client
        self._per_client[client] += 1
        return True

    def touch(self, connection: Held) -> None:
        """The connection has just been of use."""
        client = self._open.pop(connection, None)
        if client is not None:
            self._open[connection] = client
            if connection in self._heavy:
                self._heavy[connection] = self._heavy.pop(connection)

    def weigh(self, connection: Held) -> None:
        """Note how much the connection holds now; one that holds less since nobody looked does not go for it."""
        if connection not in self._open:
            return
        self._note(connection)
        while self._heavy_bytes > self._limits.tcp_held_bytes:
            first, noted_bytes = next(iter(self._heavy.items()))
            if self._note(first) >= noted_bytes:
                self._evict(first)

    def _note(self, connection: Held) -> int:
        size_bytes = connection.held_bytes
        self._heavy_bytes -= self._heavy.get(connection, 0)
        if size_bytes > HEAVY_BYTES:
            self._heavy_bytes += size_bytes
            self._heavy[connection] = size_bytes
        else:
            self._heavy.pop(connection, None)
        return size_bytes

    def leave(self, connection: Held) -> None:
        """Give the place back; nothing happens for a connection that has none."""
        client = self._open.pop(connection, None)
        if client is None:
            return
        self._heavy_bytes -= self._heavy.pop(connection, 0)
        self._counters.tcp_open -= 1
        if client:
            self._per_client[client] -= 1
            if not self._per_client[client]:
                del self._per_client[client]

    def _make_room(self) -> bool:
        silent = next(iter(self._open), None)
        if silent is None or asyncio.get_running_loop().time() - silent.last_progress_s < _LEAST_SILENCE_S:
            return False
        self._evict(silent)
        return True

    def _evict(self, connection: Held) -> None:
        self._counters.tcp_evicted += 1
        self.leave(connection)
        connection.evict()


def _places(wanted: int) -> int:
    """Return how many connections there is room for: files, other sockets and the health endpoints need descriptors, too."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    places = min(wanted, max(descriptors * 3 // 4, 1))
    if places < wanted:
        log.warning("file descriptors limit connections", connections=places, wanted=wanted, descriptors=descriptors)
    return places
