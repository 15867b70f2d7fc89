"""dnstap: every query and reply as it was on the wire, for a collector on this machine.

Owns the messages and the connection, made again whenever the collector comes back. Holds a bounded number of exchanges: a collector that
is away or slow costs messages, never replies.
"""

from __future__ import annotations

import asyncio
import importlib
from collections import deque
from pathlib import Path
from types import ModuleType
from typing import Final

import structlog

from kube.backoff import Backoff
from server.network import address_octets
from server.observe.exchange import Exchange
from server.observe.frame_stream import FrameSender, FrameStreamError
from server.transport import Transport

CONTENT_TYPE: Final = b"protobuf:dnstap.Dnstap"

_MOST_WAITING: Final = 20_000
_MOST_WAITING_BYTES: Final = 32 * 1024 * 1024
_BATCH: Final = 100
_PATIENCE_S: Final = 5.0
_FAREWELL_S: Final = 1.0
_CALM_S: Final = 10.0
_BACKOFF: Final = Backoff(first_s=0.1, base_s=0.5, cap_s=10.0)
_NANOSECONDS: Final = 1_000_000_000
_PROTOCOLS: Final = {Transport.UDP: "UDP", Transport.TCP: "TCP", Transport.TLS: "DOT"}

log = structlog.get_logger(__name__)


class DnstapMissingError(Exception):
    """The library of dnstap messages is not installed; the message says how to get it."""


class Dnstap:
    """Sends to the collector that listens at `path`; `identity` and `version` are what it is told about us."""

    def __init__(self, path: Path, identity: str, version: str) -> None:
        self.left_out = 0
        self.sent = 0
        self._path = path
        self._encoder = Encoder(identity, version)
        self._waiting: deque[Exchange] = deque()
        self._waiting_bytes = 0
        self._arrived = asyncio.Event()
        self._sender: FrameSender | None = None

    def note(self, exchange: Exchange) -> None:
        size_bytes = self._waiting_bytes + exchange.size_bytes
        if self._sender is None or len(self._waiting) >= _MOST_WAITING or size_bytes > _MOST_WAITING_BYTES:
            self.left_out += 1
            return
        self._waiting.append(exchange)
        self._waiting_bytes = size_bytes
        self._arrived.set()

    async def run(self) -> None:
        """Send until cancelled; the connection stays open for `close`."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            started_s = loop.time()
            try:
                await self._send_all()
            except (OSError, EOFError, FrameStreamError) as error:
                failures = 0 if loop.time() - started_s > _CALM_S else failures + 1
                delay_s = _BACKOFF.delay_s(failures)
                log.warning(
                    "dnstap collector is away", path=str(self._path), error=str(error), retry_s=round(delay_s, 1)
                )
            self.left_out += len(self._waiting)
            self._waiting.clear()
            self._waiting_bytes = 0
            await asyncio.sleep(delay_s)

    async def close(self) -> None:
        """Send what is left and say farewell; after `run` has ended."""
        if self._sender is None:
            return
        try:
            async with asyncio.timeout(_FAREWELL_S):
                while self._waiting:
                    await self._send_some(self._sender)
                await self._sender.close()
        except (OSError, EOFError, FrameStreamError) as error:
            log.warning("dnstap collector did not take the last messages", path=str(self._path), error=str(error))
        self._sender = None

    async def _send_all(self) -> None:
        """Connect, and send until the connection fails."""
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_unix_connection(self._path)
        sender = FrameSender(reader, writer, CONTENT_TYPE)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await sender.open()
            log.info("dnstap collector is there", path=str(self._path))
            self._sender = sender
            await self._send_what_comes(sender)
        except (OSError, EOFError, FrameStreamError):
            self._sender = None
            writer.close()
            raise

    async def _send_what_comes(self, sender: FrameSender) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._send_some(sender)
                await asyncio.sleep(0)  # answering queries comes first

    async def _send_some(self, sender: FrameSender) -> None:
        taken = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        self._waiting_bytes -= sum(exchange.size_bytes for exchange in taken)
        frames = [frame for exchange in taken for frame in self._encoder.encode(exchange)]
        await sender.send(frames)
        self.sent += len(frames)


class Encoder:
    """Makes dnstap messages: AUTH_QUERY for each query, AUTH_RESPONSE for each reply. Raises DnstapMissingError."""

    def __init__(self, identity: str, version: str) -> None:
        self._messages = _library()
        self._identity = identity.encode()
        self._version = version.encode()

    def encode(self, exchange: Exchange) -> list[bytes]:
        """Return the messages of one exchange."""
        kinds = self._messages.Message
        frames = [self._frame(exchange, kinds.AUTH_QUERY, "query", exchange.query)]
        if exchange.reply is not None:
            frames.append(self._frame(exchange, kinds.AUTH_RESPONSE, "response", exchange.reply))
        return frames

    def _frame(self, exchange: Exchange, kind: int, part: str, octets: bytes) -> bytes:
        client, server = address_octets(exchange.client[0]), address_octets(exchange.server[0])
        seconds, nanoseconds = divmod(exchange.time_ns, _NANOSECONDS)
        tap = self._messages.Dnstap(identity=self._identity, version=self._version, type=self._messages.Dnstap.MESSAGE)
        message = tap.message
        message.type = kind
        message.socket_family = self._messages.INET if len(client) == 4 else self._messages.INET6
        message.socket_protocol = getattr(self._messages, _PROTOCOLS[exchange.transport])
        message.query_address, message.query_port = client, exchange.client[1]
        message.response_address, message.response_port = server, exchange.server[1]
        message.query_time_sec, message.query_time_nsec = seconds, nanoseconds
        if part == "response":
            message.response_time_sec, message.response_time_nsec = seconds, nanoseconds
        setattr(message, f"{part}_message", octets)
        encoded: bytes = tap.SerializeToString()
        return encoded


def _library() -> ModuleType:
    """Import it only where dnstap is asked for: a name server needs no protocol buffers otherwise."""
    try:
        return importlib.import_module("dnstap_pb.dnstap_pb2")
    except ImportError as error:
        raise DnstapMissingError("dnstap needs a library more: pip install 'dns-api[dnstap]'") from error
