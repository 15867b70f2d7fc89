"""DNS over TCP (RFC 7766): two-octet lengths, many queries on one connection, replies in the order of the queries.

Owns connections, their bounds and their end. Never looks into a message.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from typing import Final, cast

import structlog

from server.config import Limits
from server.counters import Counters
from server.matcher import Matcher

_SHORTEST_MESSAGE_BYTES: Final = 12
_UNREAD_REPLIES_BYTES: Final = 128 * 1024
"""What may wait for a slow reader before its queries are left unread."""

_FAREWELL_S: Final = 0.1
"""How long a connection of a stopping server must be silent before it is closed."""

log = structlog.get_logger(__name__)


class TcpListener:
    """Answers on one bound, listening socket."""

    def __init__(self, sock: socket.socket, matcher: Matcher, counters: Counters, limits: Limits) -> None:
        self._socket = sock
        self.matcher = matcher
        self.counters = counters
        self.limits = limits
        self.connections: set[_Connection] = set()
        self.per_client: Counter[str] = Counter()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), sock=self._socket)

    async def stop(self) -> None:
        """Take no new connections, let the open ones take the replies to what they asked, then close them."""
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        for connection in list(self.connections):
            connection.finish()
        gone = [connection.gone for connection in self.connections]
        if gone:
            await asyncio.wait(gone, timeout=self.limits.drain_s)
        for connection in list(self.connections):
            connection.close()

    def admits(self, client: str) -> bool:
        """Say whether one more connection of this client is within the bounds."""
        most = self.limits
        return (
            len(self.connections) < most.tcp_connections and self.per_client[client] < most.tcp_connections_per_client
        )


class _Connection(asyncio.Protocol):
    """One client: it is closed when it stays silent, or does not take its replies, for the idle time."""

    def __init__(self, listener: TcpListener) -> None:
        self._listener = listener
        self._transport: asyncio.Transport
        self._client = ""
        self._buffer = bytearray()
        self._reading = True
        self._idle: asyncio.TimerHandle | None = None
        self._last_progress_s = 0.0
        self._quiet_s = listener.limits.tcp_idle_s
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # a stream; uvloop's class does not derive from it
        peer = self._transport.get_extra_info("peername")
        self._client = peer[0] if peer else ""
        if not self._listener.admits(self._client):
            self._listener.counters.tcp_refused += 1
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=_UNREAD_REPLIES_BYTES)
        self._listener.connections.add(self)
        self._listener.per_client[self._client] += 1
        self._listener.counters.tcp_open += 1
        self._progress()
        self._watch_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self in self._listener.connections:
            self._listener.connections.remove(self)
            self._listener.counters.tcp_open -= 1
            self._listener.per_client[self._client] -= 1
            if not self._listener.per_client[self._client]:
                del self._listener.per_client[self._client]
        if not self.gone.done():
            self.gone.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._answer_buffered()

    def eof_received(self) -> bool:
        return False  # nothing more will be asked: close once the replies are out

    def pause_writing(self) -> None:
        self._reading = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._reading = True
        self._progress()
        self._answer_buffered()
        if self._reading and not self._transport.is_closing():
            self._transport.resume_reading()

    def finish(self) -> None:
        """Close at the first moment of silence: what was asked before is still answered."""
        self._quiet_s = _FAREWELL_S
        self._progress()  # a query may have arrived that has not been read yet
        self._watch_idle()

    def close(self) -> None:
        self._transport.close()

    def _answer_buffered(self) -> None:
        """Answer every whole message that has arrived, as long as the client takes the replies."""
        buffer, start = self._buffer, 0
        while self._reading and len(buffer) - start >= 2:
            message_at = start + 2
            end = message_at + int.from_bytes(buffer[start:message_at], "big")
            if end > len(buffer):
                break
            start = end
            self._answer(bytes(buffer[message_at:end]))
        if start:
            del buffer[:start]
            self._progress()

    def _answer(self, message: bytes) -> None:
        if len(message) < _SHORTEST_MESSAGE_BYTES:
            self._transport.close()  # no DNS client sends this, and there is no ID to answer to
            self._reading = False
            return
        try:
            reply = self._listener.matcher.answer(message, over_tcp=True)
        except Exception:  # the socket edge: one packet's fault must not end the others
            log.exception("query failed", transport="tcp", packet=message[:512].hex())
            reply = None
        if reply is None:
            self._listener.counters.dropped += 1
            return
        self._listener.counters.tcp[reply[3] & 0xF] += 1
        self._transport.write(len(reply).to_bytes(2, "big") + reply)

    def _progress(self) -> None:
        self._last_progress_s = asyncio.get_running_loop().time()

    def _watch_idle(self) -> None:
        """Close when the last message, or the last room for replies, is too long ago; else look again when it may be."""
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        left_s = self._last_progress_s + self._quiet_s - loop.time()
        if left_s > 0:
            self._idle = loop.call_later(left_s, self._watch_idle)
            return
        self._listener.counters.tcp_closed_idle += 1
        if self._reading:
            self._transport.close()
        else:
            self._transport.abort()  # a reader this slow would keep its replies, and us, for ever
