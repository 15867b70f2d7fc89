"""The query log: one query in so many, as a line.

Owns the sampling and the line. Lines are written between queries, a few at a time, never within the answering of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

import dns.flags
import dns.rcode
import dns.rdataclass
import structlog

from server.observe.exchange import Exchange
from server.text import name_text, type_text
from server.wire import MalformedError, rcode_of, read_question

_MOST_WAITING: Final = 1000
_BATCH: Final = 16

log = structlog.get_logger(__name__)


class QueryLog:
    """Logs one query in `one_in`; lines that come faster than they are written are left out."""

    def __init__(self, one_in: int) -> None:
        self.left_out = 0
        self._one_in = one_in
        self._until_next = 1
        self._waiting: deque[Exchange] = deque()
        self._arrived = asyncio.Event()

    def note(self, exchange: Exchange) -> None:
        self._until_next -= 1
        if self._until_next:
            return
        self._until_next = self._one_in
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append(exchange)
            self._arrived.set()
        else:
            self.left_out += 1

    async def run(self) -> None:
        """Write lines until cancelled, then what is left."""
        try:
            while True:
                await self._arrived.wait()
                self._arrived.clear()
                while self._waiting:
                    self._write_some()
                    await asyncio.sleep(0)  # answering queries comes first
        finally:
            while self._waiting:
                self._write_some()

    def _write_some(self) -> None:
        for _ in range(min(_BATCH, len(self._waiting))):
            log.info("query", **query_fields(self._waiting.popleft()))


def query_fields(exchange: Exchange) -> dict[str, Any]:
    """Return the fields of a line: who asked what, over which transport, and what came back."""
    reply = exchange.reply
    return {
        "client": exchange.client[0],
        "port": exchange.client[1],
        "transport": exchange.transport.name.lower(),
        **_question_fields(exchange.query),
        "rcode": "none" if reply is None else dns.rcode.to_text(dns.rcode.Rcode.make(rcode_of(reply))),
        "flags": "" if reply is None else dns.flags.to_text(int.from_bytes(reply[2:4], "big") & 0x87B0).lower(),
        "size": 0 if reply is None else len(reply),
    }


def _question_fields(query: bytes) -> dict[str, str]:
    try:
        question = read_question(query)
    except (MalformedError, IndexError):
        return {"name": "", "type": "", "class": ""}
    return {
        "name": name_text(question.name),
        "type": type_text(question.qtype),
        "class": dns.rdataclass.to_text(dns.rdataclass.RdataClass.make(question.qclass)),
    }
