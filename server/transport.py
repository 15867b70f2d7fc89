"""How a query came, and what a reply is that is not one message at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from enum import IntEnum


class Transport(IntEnum):
    """False for UDP alone: the one transport with short replies and senders that anybody can pretend to be."""

    UDP = 0
    TCP = 1
    TLS = 2


@dataclass(frozen=True, slots=True)
class Streamed:
    """A reply of many messages, for a stream only; other queries of the connection are answered while it is under way."""

    messages: AsyncGenerator[bytes]


@dataclass(frozen=True, slots=True)
class Later:
    """A reply of one message that takes so long that it is made beside the event loop, for a stream only.

    `make` may be called on any thread.
    """

    make: Callable[[], bytes]


Reply = bytes | Later | Streamed | None
"""One message, now or later, many, or silence."""
