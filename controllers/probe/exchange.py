"""One question to one server: UDP first, TCP when the answer was cut, without EDNS for a server that does not know it.

Owns sockets, the time that one question may take, and the bounds on what is sent, on how many sockets are open at a time, and on what
one round may have of those and of the time. Each question has a source port and an ID of its own; messages that do not belong to it are
passed over. Sends queries only, never an update.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import dns.asyncbackend
import dns.asyncquery
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype

from controllers.probe.address import Address
from controllers.probe.answer import GARBAGE, NO_ROUTE, OVERDUE, SILENCE, Answer, Question
from controllers.probe.pace import Pace
from controllers.probe.slots import Slots
from controllers.runtime.metrics import DONE, PROVIDER_CALLS

EDNS_PAYLOAD_OCTETS: Final = 1232
WAITS: Final = (0.25, 0.25, 0.5)
"""How long each message for one question is waited for, as parts of the time that the question has: one that got lost is soon sent again,
and a server that is slow has the last for itself."""
TIMEOUT_S: Final = 5.0
CONCURRENT_LIMIT: Final = 256
"""So many sockets are open for questions at a time, over all zones and providers of a process."""
KEPT_PART: Final = 4
"""One of so many of those is kept for rounds that have none: as many as there are rounds at a time, over all providers."""
SHARE_LIMIT: Final = 64
"""So many questions of one round are under way at a time: a zone with many slow servers must not hold up all others."""
SHORT_OCTETS: Final = 4096
_BACKEND: Final[Any] = dns.asyncbackend.get_backend("asyncio")
_READER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dns-answer")
"""Reads longer messages beside the event loop: what a hostile server makes of 64 KiB takes a hundred times as long as an answer."""
_NO_ROUTE: Final = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL}
)
_ANSWERED: Final = frozenset({dns.rcode.NOERROR, dns.rcode.NXDOMAIN})
_NO_EDNS: Final = frozenset({dns.rcode.FORMERR, dns.rcode.NOTIMP})
_SLOTS: WeakKeyDictionary[asyncio.AbstractEventLoop, Slots] = WeakKeyDictionary()
_ASKING: ContextVar[object] = ContextVar("asking", default=None)
"""The round that a question is of: sockets are shared by rounds."""


class Exchange(Protocol):
    """Asks servers; a protocol, so that judging can be tried on servers that do not exist."""

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        """Return the server's message, or the Answer that says why there is none."""


class Share:
    """Asks by another exchange, no more than `limit` questions at a time and for no longer than `time_s`; use one for each round.

    What is not answered by then has not been answered at all. `overdue` says that there was such a question.
    """

    def __init__(self, exchange: Exchange, limit: int = SHARE_LIMIT, time_s: float | None = None) -> None:
        self._exchange = exchange
        self._free = asyncio.Semaphore(limit)
        self._loop = asyncio.get_running_loop()
        self._ends = self._loop.time() + time_s if time_s is not None else None
        self.overdue = False

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        """Return the server's message, or the Answer that says why there is none."""
        if self._ends is None or self._loop.time() < self._ends:
            try:
                async with asyncio.timeout_at(self._ends), self._free:
                    _ASKING.set(self)
                    return await self._exchange.ask(server, question, timeout_s, recursion=recursion)
            except TimeoutError:
                pass
        self.overdue = True
        return OVERDUE


class NetworkExchange:
    """Asks over the network, each server no faster than `pace` allows."""

    def __init__(self, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()

    async def ask(
        self, server: Address, question: Question, timeout_s: float = TIMEOUT_S, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        """Return the server's message, or the Answer that says why there is none.

        `timeout_s` bounds what is waited for the server, not the wait for its turn. A UDP message that got lost is sent again, and again.
        """
        if not has_route(server):
            return NO_ROUTE
        reply: dns.message.Message | Answer = SILENCE
        use_edns = True
        for part in WAITS:
            try:
                query = _query(question, recursion=recursion, use_edns=use_edns)
            except dns.exception.DNSException:  # a name that a server told and that cannot be asked for
                return GARBAGE
            reply = await self._once(server, query, timeout_s * part)
            _count(reply)
            if isinstance(reply, dns.message.Message) and use_edns and reply.rcode() in _NO_EDNS:
                use_edns = False
            elif reply is not SILENCE:
                break
        return reply

    async def _once(
        self, server: Address, query: dns.message.Message, timeout_s: float
    ) -> dns.message.Message | Answer:
        try:
            return await self._over_udp_or_tcp(server, query, timeout_s)
        except dns.exception.Timeout:
            return SILENCE
        except OSError:
            return SILENCE
        except (dns.exception.DNSException, EOFError):
            return GARBAGE

    async def _over_udp_or_tcp(
        self, server: Address, query: dns.message.Message, timeout_s: float
    ) -> dns.message.Message:
        await self._pace.wait_turn(server)
        try:
            async with _slots().one(_ASKING.get()), _datagrams(server) as datagrams:
                return await dns.asyncquery.udp(
                    query,
                    server.host,
                    timeout_s,
                    server.port,
                    ignore_unexpected=True,
                    ignore_errors=True,
                    ignore_trailing=True,
                    raise_on_truncation=True,
                    sock=datagrams,
                )
        except dns.message.Truncated:
            await self._pace.wait_turn(server)
            async with _slots().one(_ASKING.get()), asyncio.timeout(timeout_s):
                wire = await _over_tcp(server, query.to_wire())
            return await _parsed(wire, query)


class _Datagrams(Protocol):
    """What is used of a socket here."""

    family: int

    async def sendto(self, what: bytes, destination: tuple[str, int], timeout: float | None) -> int: ...

    async def recvfrom(self, size: int, timeout: float | None) -> tuple[bytes, tuple[str, int]]: ...


class _ShortDatagrams:
    """Passes datagrams over that are much longer than anybody asked for: reading one takes as long as reading a hundred others."""

    def __init__(self, inner: _Datagrams) -> None:
        self._inner = inner
        self.family = inner.family

    async def sendto(self, what: bytes, destination: tuple[str, int], timeout: float | None) -> int:
        return await self._inner.sendto(what, destination, timeout)

    async def recvfrom(self, size: int, timeout: float | None) -> tuple[bytes, tuple[str, int]]:
        data, source = await self._inner.recvfrom(size, timeout)
        return (data if len(data) <= SHORT_OCTETS else b""), source


@asynccontextmanager
async def _datagrams(server: Address) -> AsyncIterator[Any]:  # what dns.asyncquery takes for a socket has no type
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    async with await _BACKEND.make_socket(family, socket.SOCK_DGRAM) as inner:
        yield _ShortDatagrams(inner)


async def _over_tcp(server: Address, query: bytes) -> bytes:
    """Return what a server answers, unread. Raises OSError, and EOFError when it ends too early."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    try:
        writer.write(len(query).to_bytes(2, "big") + query)
        size = int.from_bytes(await reader.readexactly(2), "big")
        return await reader.readexactly(size)
    finally:
        writer.close()


async def _parsed(wire: bytes, query: dns.message.Message) -> dns.message.Message:
    """Return the message that answers a query. Raises DNSException for any other."""
    read = partial(dns.message.from_wire, wire, ignore_trailing=True)
    reply = await asyncio.get_running_loop().run_in_executor(_READER, read) if len(wire) > SHORT_OCTETS else read()
    if not query.is_response(reply):
        raise dns.query.BadResponse
    return reply


def _slots() -> Slots:
    """Return what bounds the open sockets of this process, in which one event loop asks servers."""
    loop = asyncio.get_running_loop()
    found = _SLOTS.get(loop)
    if found is None:
        found = _SLOTS[loop] = Slots(CONCURRENT_LIMIT, CONCURRENT_LIMIT // KEPT_PART)
    return found


def has_route(server: Address) -> bool:
    """Say whether this host has a way to an address; sends nothing.

    A datagram without a way is lost without a word, and the server would be taken for silent.
    """
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((server.host, server.port))
    except OSError as error:
        return error.errno not in _NO_ROUTE
    return True


def _count(reply: dns.message.Message | Answer) -> None:
    """Count a question by what came of it: an answer, another RCODE than those of answers, or why there is no reply."""
    code = reply.outcome.value if isinstance(reply, Answer) else dns.rcode.to_text(reply.rcode())
    if isinstance(reply, dns.message.Message) and reply.rcode() in _ANSWERED:
        code = DONE
    PROVIDER_CALLS.labels("external", code).inc()


def _query(question: Question, *, recursion: bool, use_edns: bool) -> dns.message.Message:
    flags = dns.flags.RD if recursion else dns.flags.Flag(0)
    return dns.message.make_query(
        dns.name.from_text(f"{question.name}."),
        dns.rdatatype.RdataType(question.type),
        flags=flags,
        use_edns=0 if use_edns else False,
        payload=EDNS_PAYLOAD_OCTETS if use_edns else None,
    )
