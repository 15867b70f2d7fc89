"""DNS over UDP: datagrams in, replies out.

Owns the sockets' reading and writing, and what is done about a reply before it goes out. Never composes one.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Sized
from math import inf
from random import random
from time import perf_counter
from typing import Final

import structlog

from server.answer.rate_limit import Verdict
from server.config import Address
from server.listening.listen import IP_PKTINFO, is_wildcard
from server.listening.proxy import ProxyError, decode_proxy_header
from server.listening.service import Service
from server.observe.exchange import Endpoint, Exchange
from server.transport import Transport
from server.wire import rcode_of

BATCH: Final = 64
"""Datagrams taken at one wake-up, so that other work of the event loop gets its turn under a flood."""

TURN_S: Final = 0.002
"""How long a wake-up may last, where answers take longer than a look-up."""

MOST_WAITING: Final = 50_000
"""More small datagrams than the receive buffer holds: the bound on what a stopping server still answers."""

_LARGEST_DATAGRAM_BYTES: Final = 65535
_STRIDE: Final = 16
"""One query of so many is timed, where nothing asks for more."""

_ANCILLARY_BYTES: Final = 64
_MOST_ADDRESSES: Final = 1000

log = structlog.get_logger(__name__)


class UdpListener:
    """Answers on one bound, non-blocking socket, which it closes when it stops."""

    def __init__(self, sock: socket.socket, address: Address, service: Service) -> None:
        self._socket = sock
        self._address: Endpoint = (address.host, address.port)
        self._service = service
        self._answer = service.matcher.answer_datagram
        self._reply_to = self._reply_watched if service.proxies or service.observers else self._reply
        self._over: Sized = () if service.limiter is None else service.limiter.over
        self._by_rcode = service.counters.udp
        self._spread = 2 * (_STRIDE if service.limiter is None else service.limiter.stride) - 1
        self._gap = 1
        self._until_sample = self._gap

    def start(self) -> None:
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._take, BATCH, TURN_S)

    def stop(self) -> None:
        """Answer what has arrived already, then close.

        The socket is connected to itself before, so that nothing arrives any more: whoever asks from now on is told that nobody listens.
        """
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._close_to_newcomers()
        self._take(MOST_WAITING)
        self._socket.close()

    def tally(self) -> None:
        """Bring the service's counters up to date."""

    def _close_to_newcomers(self) -> None:
        try:
            self._socket.connect(self._own_address())
        except OSError as error:
            log.debug("udp socket cannot be closed to newcomers", error=str(error))

    def _own_address(self) -> tuple[str, int]:
        host, port = self._socket.getsockname()[:2]
        if is_wildcard(Address(host, port)):
            host = "127.0.0.1" if self._socket.family == socket.AF_INET else "::1"
        return host, port

    def _take(self, most: int, limit_s: float = inf) -> None:
        """Answer up to so many datagrams that have arrived, for about so long."""
        until_s = perf_counter() + limit_s
        receive, send, reply_to = self._socket.recvfrom, self._socket.sendto, self._reply_to
        for number in range(most):
            if number and perf_counter() > until_s:
                return
            try:
                packet, peer = receive(_LARGEST_DATAGRAM_BYTES)
            except BlockingIOError:
                return
            except OSError as error:  # an ICMP error of an earlier reply is reported here
                self._failed("udp receive failed", error)
                continue
            reply = reply_to(packet, peer)
            if reply is not None:
                try:
                    send(reply, peer)
                except OSError as error:  # unreachable, or no room to send: clients ask again
                    self._failed("udp send failed", error)

    def _reply(self, packet: bytes, peer: Endpoint) -> bytes | None:
        """Return what to send back, None for nothing."""
        client = peer[0]
        self._until_sample -= 1
        try:
            reply = self._answer(packet, client) if self._until_sample else self._sample(packet, client)
        except Exception:  # the socket edge: one packet's fault must not end the others
            log.exception("query failed", transport="udp", packet=packet[:512].hex())
            return None
        if self._over and reply is not None:
            reply = self._limited(packet, client, reply)
        if reply is None:
            self._service.counters.dropped += 1
            return None
        self._by_rcode[rcode_of(reply)] += 1
        return reply

    def _reply_watched(self, packet: bytes, peer: Endpoint) -> bytes | None:
        """The same where proxies may stand between, or somebody is told about it."""
        service = self._service
        if peer[0] in service.proxies:
            try:
                packet, peer = _from_proxy(packet, peer)
            except ProxyError:
                service.counters.proxy_errors += 1
                return None
        reply = self._reply(packet, peer)
        for observer in service.observers:
            observer.note(Exchange(Transport.UDP, (peer[0], peer[1]), self._address, packet, reply))
        return reply

    def _sample(self, packet: bytes, client: str) -> bytes | None:
        """Answer a query that stands for others: it is timed, and its reply counted for the limiter."""
        service, stands_for = self._service, self._gap
        self._gap = 1 + int(random() * self._spread)  # not foreseeable: no sender stays out of the count
        self._until_sample = self._gap
        started_s = perf_counter()
        reply = self._answer(packet, client)
        service.counters.durations[Transport.UDP].add(perf_counter() - started_s, stands_for)
        if service.limiter is not None and reply is not None:
            service.limiter.count(client, reply)
        return reply

    def _limited(self, packet: bytes, client: str, reply: bytes) -> bytes | None:
        """Return what is sent in place of a reply while some network is over its limit."""
        limiter, responder = self._service.limiter, self._service.matcher.responder
        if limiter is None or not limiter.is_over(client, reply) or responder.trusts(packet, client):
            return reply
        return responder.hold_back(packet, client) if limiter.verdict() is Verdict.HOLD_BACK else None

    def _failed(self, what: str, error: OSError) -> None:
        self._service.counters.udp_errors += 1
        log.debug(what, error=str(error))


class WildcardUdpListener(UdpListener):
    """Answers on a socket for all addresses of the machine, from the address that was asked: clients take no other's replies."""

    def __init__(self, sock: socket.socket, address: Address, service: Service) -> None:
        super().__init__(sock, address, service)
        self._sources: dict[bytes, list[tuple[int, int, bytes]]] = {}

    def _take(self, most: int, limit_s: float = inf) -> None:
        until_s = perf_counter() + limit_s
        receive, send, reply_to = self._socket.recvmsg, self._socket.sendmsg, self._reply_to
        for number in range(most):
            if number and perf_counter() > until_s:
                return
            try:
                packet, ancillary, _, peer = receive(_LARGEST_DATAGRAM_BYTES, _ANCILLARY_BYTES)
            except BlockingIOError:
                return
            except OSError as error:
                self._failed("udp receive failed", error)
                continue
            reply = reply_to(packet, peer)
            if reply is not None:
                try:
                    send((reply,), self._source(ancillary), 0, peer)
                except OSError as error:
                    self._failed("udp send failed", error)

    def _source(self, ancillary: list[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
        """Return the ancillary data that send a reply from the address that a datagram was sent to, by any way."""
        if not ancillary:
            return []
        level, kind, told = ancillary[0]
        found = self._sources.get(told)
        if found is None:
            if len(self._sources) >= _MOST_ADDRESSES:
                self._sources.clear()
            found = self._sources[told] = [(level, kind, _from_there(level, kind, told))]
        return found


def udp_listener(sock: socket.socket, address: Address, service: Service) -> UdpListener:
    """Return the listener for a socket that `listen` opened on the address."""
    return (WildcardUdpListener if is_wildcard(address) else UdpListener)(sock, address, service)


def _from_there(level: int, kind: int, told: bytes) -> bytes:
    """Turn what was told about a datagram (ip(7), ipv6(7)) into the source of a reply; the way back is left to routing."""
    if (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO):
        return struct.pack("=I4s4x", 0, told[4:8])
    return struct.pack("=16sI", told[:16], 0)


def _from_proxy(packet: bytes, peer: Endpoint) -> tuple[bytes, Endpoint]:
    """Return the packet and the client that a proxy speaks for; raises ProxyError."""
    header = decode_proxy_header(packet)
    if header is None:
        raise ProxyError("the header is cut short")
    return packet[header.size :], header.client or peer
