"""Messages that we send of our own accord: the request, the local address it comes from, and one reply over UDP.

Owns IDs and sockets of the way out. Never retries.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from server.address import Address
from server.wire import NOTIFY
from zonemodel.name import WireName

_CLASS_IN: Final = b"\x00\x01"


class Sources:
    """The local addresses that peers know us by: those that are listened on, as far as they are single ones."""

    def __init__(self, listen: Iterable[Address]) -> None:
        self._hosts = [each.host for each in listen if _is_one_address(each.host)]

    def for_peer(self, host: str) -> tuple[str, int] | None:
        """Return where to send from, None for whatever the system chooses."""
        peer = ip_address(host.partition("%")[0])
        for text in self._hosts:
            own = ip_address(text.partition("%")[0])
            if (own.version, own.is_loopback) == (peer.version, peer.is_loopback):
                return text, 0
        return None


def _is_one_address(host: str) -> bool:
    try:
        return not ip_address(host.partition("%")[0]).is_unspecified
    except ValueError:
        return False  # nobody can listen there either, which is told elsewhere


def request_message(opcode: int, apex: WireName, qtype: int) -> bytes:
    """Return a message that asks or tells about a zone, with an ID that nobody can guess."""
    flags = opcode << 3 | (0x04 if opcode == NOTIFY else 0)
    head = secrets.token_bytes(2) + bytes((flags, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    return head + apex + qtype.to_bytes(2, "big") + _CLASS_IN


class _Datagram(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.received: asyncio.Queue[bytes | OSError] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.received.put_nowait(data)

    def error_received(self, exc: Exception) -> None:
        self.received.put_nowait(exc if isinstance(exc, OSError) else OSError(str(exc)))


async def exchange_datagram(message: bytes, peer: Address, source: tuple[str, int] | None, timeout_s: float) -> bytes:
    """Return the first datagram of the peer that has the message's ID and is a reply; raises OSError or TimeoutError."""
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(
        _Datagram, local_addr=source, remote_addr=(peer.host, peer.port)
    )
    try:
        transport.sendto(message)
        async with asyncio.timeout(timeout_s):
            while True:
                received = await protocol.received.get()
                if isinstance(received, OSError):
                    raise received
                if received[:2] == message[:2] and len(received) >= 12 and received[2] & 0x80:
                    return received
    finally:
        transport.close()
