"""One client's stream of DNS messages (RFC 7766), in the clear or in TLS, behind a proxy or not.

Owns framing, fairness towards other connections, and when the connection ends. Never composes a reply.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from time import perf_counter
from typing import Final, TypeVar, cast

import structlog

from server.listening.admission import HEAVY_BYTES
from server.listening.proxy import ProxyError, decode_proxy_header
from server.listening.service import Service
from server.listening.tls import TlsChannel
from server.observe.exchange import Endpoint, Exchange
from server.transport import Later, Reply, Streamed, Transport
from server.wire import rcode_of

_SHORTEST_MESSAGE_BYTES: Final = 12
_UNREAD_REPLIES_BYTES: Final = 128 * 1024
"""What may wait for a slow reader before its queries are left unread."""

_TURN: Final = 32
"""Queries of one connection that are answered before others get their turn."""

_TURN_S: Final = 0.002
"""How long such a turn may last, where answers take longer than a look-up."""

_MOST_STREAMS: Final = 8
"""Long replies that one connection may have under way."""

_FAREWELL_S: Final = 0.1
"""How long a connection of a stopping server must be silent before it is closed."""

log = structlog.get_logger(__name__)

Made = TypeVar("Made")


class Connection(asyncio.Protocol):
    """It is closed when it stays silent, or does not take its replies, for the idle time.

    `channel` is the TLS of the connection, None in the clear. `gone` is done when it has ended.
    """

    def __init__(self, service: Service, server: Endpoint, channel: TlsChannel | None) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.last_progress_s = loop.time()
        self._loop = loop
        self._service = service
        self._server = server
        self._channel = channel
        self._kind = Transport.TCP if channel is None else Transport.TLS
        self._replies = service.counters.replies(self._kind)
        self._durations = service.counters.durations[self._kind]
        self._transport: asyncio.Transport
        self._client: Endpoint = ("", 0)
        self._proxied = bytearray()
        self._awaits_proxy = False
        self._buffer = bytearray()
        self._is_at_end = False
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._is_reading = True
        self._has_backlog = False
        self._is_heavy = False
        self._streams: set[asyncio.Task[None]] = set()
        self._quiet_s = service.limits.tcp_idle_s
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # a stream; uvloop's class does not derive from it
        peer = self._transport.get_extra_info("peername")
        self._client = (peer[0], peer[1]) if peer else ("", 0)
        self._awaits_proxy = self._client[0] in self._service.proxies
        admission = self._service.admission
        if not admission.enter(self):
            self._transport.abort()
            return
        if not self._awaits_proxy and not admission.belongs_to(self, self._client[0]):
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=_UNREAD_REPLIES_BYTES)
        self._watch_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
        for stream in self._streams:
            stream.cancel()
        self._can_write.set()
        self._service.admission.leave(self)
        if not self.gone.done():
            self.gone.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self._awaits_proxy and (data := self._after_proxy_header(data)) == b"":
            return
        if self._channel is not None:
            try:
                data = self._channel.receive(data)
            except ssl.SSLError as error:
                self._service.counters.tls_errors += 1
                log.debug("tls failed", client=self._client[0], error=str(error))
                self._transport.write(self._channel.to_send())
                self._leave()
                return
            if answer := self._channel.to_send():
                self._transport.write(answer)
            self._is_at_end = self._channel.at_end
        self._buffer += data
        if self._has_backlog:
            self._weigh()
        else:
            self._answer_buffered()

    def eof_received(self) -> bool:
        """Nothing more will be asked: what was is still answered, then the connection is closed."""
        self._is_at_end = True
        if not self._has_backlog:
            self._go_on()
        return True

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()
        self._progress()
        self._go_on()

    def finish(self) -> None:
        """Close at the first moment of silence: what was asked before is still answered."""
        self._quiet_s = _FAREWELL_S
        self.last_progress_s = self._loop.time()  # a query may have arrived that has not been read yet
        self._watch_idle()

    def close(self) -> None:
        """Close once what has been written is sent, or is not taken for too long."""
        if self._transport.is_closing():
            return
        if self._channel is not None:
            self._transport.write(self._channel.farewell())
        self._leave()

    def _leave(self) -> None:
        self._transport.close()
        if self._idle is not None:
            self._idle.cancel()
        if not self.gone.done():
            self._idle = self._loop.call_later(self._quiet_s, self._transport.abort)

    def evict(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _after_proxy_header(self, data: bytes) -> bytes:
        """Return what follows the header that a proxy begins with, nothing as long as it is not whole."""
        self._proxied += data
        try:
            header = decode_proxy_header(bytes(self._proxied))
        except ProxyError as error:
            self._service.counters.proxy_errors += 1
            log.debug("proxy header is broken", proxy=self._client[0], error=str(error))
            self._transport.abort()
            return b""
        if header is None:
            return b""
        self._awaits_proxy = False
        self._client = header.client or self._client
        if not self._service.admission.belongs_to(self, self._client[0]):
            self._transport.abort()
            return b""
        return bytes(self._proxied[header.size :])

    @property
    def _is_held_up(self) -> bool:
        """Whether no more queries are taken: the client does not read, or has enough long replies under way."""
        return not self._can_write.is_set() or len(self._streams) >= _MOST_STREAMS

    def _answer_buffered(self) -> None:
        """Answer whole messages that have arrived, so many at a time."""
        buffer, start, replies = self._buffer, 0, bytearray()
        started_s, answered = perf_counter(), 0
        while answered < _TURN and len(replies) < _UNREAD_REPLIES_BYTES and not self._is_held_up:
            if answered and perf_counter() - started_s > _TURN_S:
                break
            if (end := _message_end(buffer, start)) is None:
                break
            message, start = bytes(buffer[start + 2 : end]), end
            if len(message) < _SHORTEST_MESSAGE_BYTES:
                self._is_at_end = True  # no DNS client sends this, and there is no ID to answer to
                start = len(buffer)
                break
            answered += 1
            reply = self._answer(message)
            if isinstance(reply, Streamed):
                self._begin(self._stream(reply))
            elif isinstance(reply, Later):
                self._begin(self._wait_for(message, reply))
            elif reply is not None:
                replies += len(reply).to_bytes(2, "big") + reply
        if answered:
            self._durations.add((perf_counter() - started_s) / answered, answered)
            self._progress()
        del buffer[:start]
        if replies:
            self._write(bytes(replies))
        self._go_on()

    def _go_on(self) -> None:
        """Take the next turn or the next segment, wait, or leave."""
        self._weigh()
        if self._has_backlog or self._transport.is_closing():
            return
        is_reading = False
        if not self._is_held_up:
            if _message_end(self._buffer, 0) is not None:
                self._has_backlog = True
                self._loop.call_soon(self._next_turn)
            elif self._is_at_end and not self._streams:
                self.close()
                return
            else:
                is_reading = True
        if is_reading is not self._is_reading:
            self._is_reading = is_reading
            (self._transport.resume_reading if is_reading else self._transport.pause_reading)()

    def _next_turn(self) -> None:
        self._has_backlog = False
        if not self._transport.is_closing():
            self._answer_buffered()

    def _answer(self, message: bytes) -> Reply:
        reply = self._made(message, self._service.matcher.answer, message, self._client[0], self._kind)
        if not isinstance(reply, Later | Streamed):
            self._count(message, reply)
        return reply

    def _made(self, message: bytes, make: Callable[..., Made], *arguments: object) -> Made | None:
        """Return what is made of a message, None for a fault; on any thread."""
        try:
            return make(*arguments)
        except Exception:  # the socket edge: one packet's fault must not end the others
            log.exception("query failed", transport=self._kind.name.lower(), packet=message[:512].hex())
            return None

    def _count(self, message: bytes, reply: bytes | None) -> None:
        service = self._service
        if reply is None:
            service.counters.dropped += 1
        else:
            self._replies[rcode_of(reply)] += 1
        if service.observers:
            exchange = Exchange(self._kind, self._client, self._server, message, reply)
            for observer in service.observers:
                observer.note(exchange)

    def _begin(self, sending: Coroutine[None, None, None]) -> None:
        """Send a long reply while other queries are answered."""
        task = self._loop.create_task(sending)
        self._streams.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._streams.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a long reply broke off", client=self._client[0], error=repr(task.exception()))
            self._transport.abort()  # what is missing must not look like the end
        else:
            self._go_on()

    async def _stream(self, streamed: Streamed) -> None:
        async with aclosing(streamed.messages) as messages:  # what makes them must not wait for the collector to end it
            async for message in messages:
                await self._can_write.wait()
                if self._transport.is_closing():
                    return
                self._write(len(message).to_bytes(2, "big") + message)
                self._replies[rcode_of(message)] += 1
                self._progress()
                self._weigh()

    async def _wait_for(self, message: bytes, later: Later) -> None:
        reply = await self._loop.run_in_executor(self._service.workshop, self._made, message, later.make)
        if self._transport.is_closing():
            return
        self._count(message, reply)
        if reply is not None:
            self._write(len(reply).to_bytes(2, "big") + reply)
            self._progress()

    def _write(self, octets: bytes) -> None:
        self._transport.write(octets if self._channel is None else self._channel.seal(octets))

    @property
    def held_bytes(self) -> int:
        size_bytes = len(self._buffer) + self._transport.get_write_buffer_size()
        return size_bytes if self._channel is None else size_bytes + self._channel.held_bytes

    def _weigh(self) -> None:
        """Have it noted how much is held, where it is or was much."""
        was_heavy, self._is_heavy = self._is_heavy, self.held_bytes > HEAVY_BYTES
        if was_heavy or self._is_heavy:
            self._service.admission.weigh(self)

    def _progress(self) -> None:
        self.last_progress_s = self._loop.time()
        self._service.admission.touch(self)

    def _watch_idle(self) -> None:
        """Close when the last message, or the last room for replies, is too long ago; else look again when it may be."""
        if self._transport.is_closing():
            return
        if self._idle is not None:
            self._idle.cancel()
        left_s = self.last_progress_s + self._quiet_s - self._loop.time()
        if left_s > 0:
            self._idle = self._loop.call_later(left_s, self._watch_idle)
        elif not self._can_write.is_set():
            self._service.counters.tcp_closed_slow += 1
            self._transport.abort()  # a reader this slow would keep its replies, and us, for ever
        elif self._streams:  # it waits for us, such as for the turn of its transfer
            self._idle = self._loop.call_later(self._quiet_s, self._watch_idle)
        else:
            self._service.counters.tcp_closed_idle += 1
            self.close()


def _message_end(buffer: bytearray, start: int) -> int | None:
    """Return where the message ends that begins with its length at `start`, None when it has not arrived whole."""
    if len(buffer) - start < 2:
        return None
    end = start + 2 + int.from_bytes(buffer[start : start + 2], "big")
    return end if end <= len(buffer) else None
