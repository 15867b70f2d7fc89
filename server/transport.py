"""How a query came, and the messages of a reply that is more than one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
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


Reply = bytes | Streamed | None
"""One message, many, or silence."""
