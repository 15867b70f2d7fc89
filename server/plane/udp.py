"""DNS over UDP by a native thread for each socket; the event loop answers what the thread leaves.

Owns that hand-over. Never composes a reply.
"""

from __future__ import annotations

import asyncio
import socket
from math import inf
from operator import add
from time import perf_counter
from typing import Final

from server._native import Limiter, Tables, Worker
from server.config import Address
from server.listening.listen import is_wildcard
from server.listening.service import Service
from server.listening.udp import BATCH, MOST_WAITING, TURN_S, WildcardUdpListener
from server.observe.exchange import Endpoint
from server.transport import Transport

_NS_PER_S: Final = 1e9
_FEW: Final = 4
"""Queries taken from the thread at once, which have to be answered whatever the time is."""


class NativeUdpListener(WildcardUdpListener):
    """Answers on one bound socket from the start of its thread on; `place` is that of the thread's counts, from 1."""

    def __init__(
        self,
        sock: socket.socket,
        address: Address,
        service: Service,
        tables: Tables,
        limiter: Limiter | None,
        place: int,
    ) -> None:
        super().__init__(sock, address, service)
        self._tables = tables
        self._limiter = limiter
        self._place = place
        self._told = is_wildcard(address)
        self._worker: Worker | None = None

    def start(self) -> None:
        self._worker = self._tables.start_worker(self._socket.fileno(), self._place, self._told, self._limiter)
        asyncio.get_running_loop().add_reader(self._worker.fileno(), self._take, BATCH, TURN_S)

    def stop(self) -> None:
        if self._worker is not None:
            asyncio.get_running_loop().remove_reader(self._worker.fileno())
            self._close_to_newcomers()
            self._worker.stop()
            self._take(MOST_WAITING)
            self.tally()
        self._socket.close()

    def tally(self) -> None:
        if self._worker is None:
            return
        counters = self._service.counters
        by_rcode, durations, busy_ns, dropped, errors, shed = self._worker.take_counts()
        counters.udp[: len(by_rcode)] = map(add, counters.udp, by_rcode)
        timed = counters.durations[Transport.UDP]
        timed.buckets[:] = map(add, timed.buckets, durations)
        timed.sum_s += busy_ns / _NS_PER_S
        counters.dropped += dropped
        counters.udp_errors += errors
        counters.udp_shed += shed

    def _take(self, most: int, limit_s: float = inf) -> None:
        until_s = perf_counter() + limit_s
        for start in range(0, most, _FEW):
            if start and perf_counter() > until_s:
                return
            if self._worker is None or not (misses := self._worker.take(_FEW)):
                return
            for miss in misses:
                self._settle(*miss)

    def _settle(
        self, packet: bytes, host: str, port: int, flow: int, scope: int, told: tuple[int, int, bytes] | None
    ) -> None:
        reply = self._reply_to(packet, (host, port))
        if reply is None:
            return
        peer = (host, port) if self._socket.family == socket.AF_INET else (host, port, flow, scope)
        try:
            self._send(reply, peer, told)
        except OSError as error:
            self._failed("udp send failed", error)

    def _send(
        self, reply: bytes, peer: Endpoint | tuple[str, int, int, int], told: tuple[int, int, bytes] | None
    ) -> None:
        if told is None:
            self._socket.sendto(reply, peer)
        else:
            self._socket.sendmsg((reply,), self._source([told]), 0, peer)
