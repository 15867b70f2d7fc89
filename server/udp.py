"""DNS over UDP: datagrams in, replies out.

Owns the sockets' reading and writing. Never looks into a packet.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final

import structlog

from server.counters import Counters
from server.matcher import Matcher

_BATCH: Final = 64
"""Datagrams taken at one wake-up, so that other work of the event loop gets its turn under a flood."""

_MOST_WAITING: Final = 50_000
"""More small datagrams than the receive buffer holds: the bound on what a stopping server still answers."""

_LARGEST_DATAGRAM_BYTES: Final = 65535

log = structlog.get_logger(__name__)


class UdpListener:
    """Answers on one bound, non-blocking socket, which it closes when it stops."""

    def __init__(self, sock: socket.socket, matcher: Matcher, counters: Counters) -> None:
        self._socket = sock
        self._answer = matcher.answer
        self._counters = counters

    def start(self) -> None:
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._on_readable)

    def stop(self) -> None:
        """Answer what has arrived already, then close."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        for _ in range(_MOST_WAITING):
            if not self._take():
                break
        self._socket.close()

    def _on_readable(self) -> None:
        for _ in range(_BATCH):
            if not self._take():
                return

    def _take(self) -> bool:
        """Answer one datagram; return False when none is waiting."""
        try:
            packet, peer = self._socket.recvfrom(_LARGEST_DATAGRAM_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:  # an ICMP error of an earlier reply is reported here
            self._counters.udp_errors += 1
            log.debug("udp receive failed", error=str(error))
            return True
        try:
            reply = self._answer(packet)
        except Exception:  # the socket edge: one packet's fault must not end the others
            log.exception("query failed", transport="udp", packet=packet[:512].hex())
            return True
        if reply is None:
            self._counters.dropped += 1
            return True
        self._counters.udp[reply[3] & 0xF] += 1
        try:
            self._socket.sendto(reply, peer)
        except OSError as error:  # unreachable, or no room to send: clients ask again
            self._counters.udp_errors += 1
            log.debug("udp send failed", error=str(error))
        return True
