"""What is more than a question for data: transfers, notices, and everything that is signed.

Owns the order: the signature first, then what is asked, then the signature of the reply. Never reads zones itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from server import rdtype
from server.answer.compose import TCP_LIMIT_BYTES, limit_for, opt_record
from server.answer.policy import DECLINED, Declined
from server.answer.query import Query
from server.answer.rejection import Rcode
from server.transfer.key_store import KeyStore
from server.transfer.outgoing import Outgoing, Request
from server.transfer.refusal import refusal
from server.transfer.signature import Received, Signed, bare_reply, judge_signature
from server.transfer.tsig import tsig_bytes
from server.transport import Later, Reply, Streamed, Transport
from server.wire import NOTIFY, QUERY, Question, opcode
from zonemodel.name import WireName

_CLASS_IN: Final = 1
_AUTHORITATIVE: Final = 0x04
_TRANSFERS: Final = frozenset({rdtype.AXFR, rdtype.IXFR})

PlainAnswer = Callable[[bytes, str, Transport], Reply]
"""Answers a packet as if there were neither transfers nor signatures."""

Notice = Callable[[WireName, str, WireName | None], Rcode]
"""Takes in a NOTIFY for an apex, from an address, signed with a key or None; returns what it is answered."""


class TransferDelegate:
    """The delegate of one server's answer policy."""

    def __init__(
        self, keys: KeyStore, outgoing: Outgoing, notice: Notice, plain: PlainAnswer, payload_bytes: int
    ) -> None:
        self._keys = keys
        self._outgoing = outgoing
        self._notice = notice
        self._plain = plain
        self._payload_bytes = payload_bytes

    def take(self, query: Query) -> Reply | Declined:
        """Return the reply, or DECLINED for what is a question for data and not signed."""
        question = query.question
        if question is None or query.malformed:
            return DECLINED
        if query.tsig_at is None:
            return self._answer(query, question, query.packet, None)
        received = Received(query.packet, question.end, query.tsig_at, self._opt(query))
        signed = judge_signature(received, self._keys.ring, time.time())
        if isinstance(signed, bytes):
            return signed
        reply = self._answer(query, question, signed.plain, signed)
        if isinstance(reply, Declined):
            reply = self._plain(signed.plain, query.client, query.transport)
        if reply is None or isinstance(reply, Streamed):
            return reply

        def sign(reply: bytes) -> bytes:
            return signed.sign(reply, question.end, self._limit_bytes(query), time.time())

        return Later(lambda: sign(reply.make())) if isinstance(reply, Later) else sign(reply)

    def _answer(self, query: Query, question: Question, packet: bytes, signed: Signed | None) -> Reply | Declined:
        if question.qclass != _CLASS_IN or (query.edns is not None and query.edns.version):
            return DECLINED
        if opcode(packet) == NOTIFY:
            return self._take_notice(query, question, packet, signed)
        if opcode(packet) != QUERY or question.qtype not in _TRANSFERS:
            return DECLINED
        request = Request(query, question, packet, self._opt(query), signed)
        room_bytes = self._limit_bytes(query) - (0 if signed is None else tsig_bytes(signed.key))
        return self._outgoing.answer(request, room_bytes)

    def _take_notice(self, query: Query, question: Question, packet: bytes, signed: Signed | None) -> bytes:
        """RFC 1996 section 3: only notices of changed SOA records are known, and only from those who may send them."""
        if question.qtype != rdtype.SOA:
            return refusal(packet, question.end, self._opt(query), Rcode.NOTIMP)
        rcode = self._notice(question.name, query.client, None if signed is None else signed.key.name)
        if rcode:
            return refusal(packet, question.end, self._opt(query), rcode)
        reply = bare_reply(packet, question.end, self._opt(query), Rcode.NOERROR)
        return reply[:2] + bytes((reply[2] | _AUTHORITATIVE,)) + reply[3:]

    def _opt(self, query: Query) -> bytes:
        if query.edns is None:
            return b""
        return opt_record(self._payload_bytes, dnssec_ok=query.edns.dnssec_ok, options=query.options)

    def _limit_bytes(self, query: Query) -> int:
        if query.transport:
            return TCP_LIMIT_BYTES
        stated_bytes = None if query.edns is None else query.edns.payload_bytes
        return limit_for(stated_bytes, self._payload_bytes, over_tcp=False)
