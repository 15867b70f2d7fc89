"""One query and what came of it, as observers see it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from server.transport import Transport

Endpoint = tuple[str, int]
"""A numeric address and a port."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """`reply` is None when there was none. `time_ns` is Unix time."""

    transport: Transport
    client: Endpoint
    server: Endpoint
    query: bytes
    reply: bytes | None
    time_ns: int = field(default_factory=time.time_ns)

    @property
    def size_bytes(self) -> int:
        return len(self.query) + (0 if self.reply is None else len(self.reply))


class Observer(Protocol):
    """Somebody who is told about every query, from within its handling: taking note must be quick and must not raise."""

    def note(self, exchange: Exchange) -> None: ...
