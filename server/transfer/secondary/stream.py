"""One request to a primary over TCP and the messages of its reply, their signatures checked.

Owns the connection and its time limits. Never judges records.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import dns.rcode

from server.text import name_text
from server.transfer.exchange import Sources
from server.transfer.key_store import KeyStore
from server.transfer.message_reader import Message, read_message
from server.transfer.target import Target
from server.transfer.verification import SignatureError, Verifier, sign_request
from server.wire import QUERY

CONNECT_S: Final = 10.0
SILENCE_S: Final = 30.0
_MOST_BYTES: Final = 2 * 1024**3
"""More than any zone that fits our memory: a reply without end has to end."""

_FAILURES: Final = (OSError, TimeoutError, asyncio.IncompleteReadError, SignatureError)


class PrimaryError(Exception):
    """A primary that did not give what it was asked for; the message says why."""


class PrimaryReply:
    """The messages of one reply, as they come."""

    def __init__(self, reader: asyncio.StreamReader, message_id: bytes, verifier: Verifier | None) -> None:
        self._reader = reader
        self._message_id = message_id
        self._verifier = verifier
        self._left_bytes = _MOST_BYTES

    async def next(self) -> Message:
        """Return the next message; raises PrimaryError."""
        try:
            async with asyncio.timeout(SILENCE_S):
                length = int.from_bytes(await self._reader.readexactly(2), "big")
                octets = await self._reader.readexactly(length)
            message = await asyncio.to_thread(read_message, octets)
            if message.id_octets != self._message_id or not message.is_reply or message.opcode != QUERY:
                raise PrimaryError("the message is no reply to the request")
            if self._verifier is not None:
                self._verifier.check(octets, message.tsig_at, time.time())
        except (*_FAILURES, ValueError) as error:
            raise PrimaryError(_words(error)) from error
        if message.rcode:
            raise PrimaryError(f"the answer is {dns.rcode.to_text(dns.rcode.Rcode.make(message.rcode))}")
        self._left_bytes -= length
        if self._left_bytes < 0:
            raise PrimaryError("the reply has no end")
        return message

    def finish(self) -> None:
        """Judge the reply as a whole once nothing more is expected; raises PrimaryError when its end is not signed."""
        if self._verifier is not None:
            try:
                self._verifier.finish()
            except SignatureError as error:
                raise PrimaryError(str(error)) from error


@asynccontextmanager
async def asking(message: bytes, target: Target, sources: Sources, keys: KeyStore) -> AsyncIterator[PrimaryReply]:
    """Send a request and give its reply, for as long as the connection is wanted; raises PrimaryError."""
    message_id = message[:2]
    verifier: Verifier | None = None
    if target.key is not None:
        key = keys.get(target.key)
        if key is None:
            raise PrimaryError(f"there is no key {name_text(target.key)}")
        message, verifier = sign_request(message, key, time.time())
    host, port = target.address
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection(host, port, local_addr=sources.for_peer(host))
            writer.write(len(message).to_bytes(2, "big") + message)
            await writer.drain()
    except _FAILURES as error:
        raise PrimaryError(_words(error)) from error
    try:
        yield PrimaryReply(reader, message_id, verifier)
    finally:
        writer.transport.abort()


def _words(error: BaseException) -> str:
    match error:
        case asyncio.IncompleteReadError():
            return "the connection ended before the reply did"
        case TimeoutError():
            return "there was no answer in time"
        case _:
            return str(error)
