"""Replies that take more than a look-up: refusals of every kind, ANY, DS at an apex, DNAME.

Owns what is said to queries that are not plain, in the order in which they are judged. Finds the content of answers where the
compiler does, in `zone.lookup`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from server import rdtype
from server.catalog import Catalog
from server.compose import EDNS, RD, compose, limit_for, opt_record
from server.wire import (
    HEADER_BYTES,
    NOTIFY,
    QUERY,
    Edns,
    MalformedError,
    Question,
    count,
    opcode,
    read_edns,
    read_question,
)
from server.zone.compile import NODATA_ANSWER
from server.zone.encode import encode_reply
from server.zone.lookup import resolve
from server.zone.table import Answer, heads
from zonemodel.rrset import RRset

CLASS_IN: Final = 1


class Rcode(IntEnum):
    """RCODEs that the server gives of its own accord (IANA DNS parameters)."""

    FORMERR = 1
    SERVFAIL = 2
    NOTIMP = 4
    REFUSED = 5
    BADVERS = 16


@dataclass(frozen=True, slots=True)
class _Query:
    """What could be read of a packet that is a query; `question` is None when there is not exactly one that can be read."""

    packet: bytes
    over_tcp: bool
    question: Question | None
    edns: Edns | None
    malformed: bool


class Responder:
    """Answers any packet from the zones of a catalog; `payload_bytes` is the longest reply over UDP."""

    def __init__(self, catalog: Catalog, payload_bytes: int) -> None:
        self._catalog = catalog
        self._payload_bytes = payload_bytes

    def respond(self, packet: bytes, *, over_tcp: bool) -> bytes | None:
        """Return the reply, or None where silence is right: for what is no query at all (RFC 1035 section 4.1.1)."""
        if len(packet) < HEADER_BYTES or packet[2] & 0x80:
            return None
        query = _read(packet, over_tcp)
        rejection = _rejection(query)
        if query.question is None:
            return _header_only(packet, rejection or Rcode.FORMERR)
        if rejection is not None:
            return self._reject(query, query.question, rejection)
        return self._answer(query, query.question)

    def _answer(self, query: _Query, question: Question) -> bytes:
        apex = self._catalog.find(question.name)
        if apex == question.name and question.qtype == rdtype.DS and len(apex) > 1:
            apex = self._catalog.find(apex[apex[0] + 1 :]) or apex  # the parent side answers (RFC 4035 section 3.1.4.1)
        if apex is None:
            return self._reject(query, question, Rcode.REFUSED if self._catalog.complete else Rcode.SERVFAIL)
        zone = self._catalog.zones[apex]
        reply = resolve(zone.index, question.name, question.qtype)
        if question.qtype == rdtype.ANY and reply.final and not query.over_tcp:
            reply.answer = [min(reply.answer, key=_size)]  # one set is enough (RFC 8482 section 4.1)
        if zone.proofs is not None and query.edns is not None and query.edns.dnssec_ok:
            zone.proofs.add_to(reply)
        answer = encode_reply(reply, question.name, question.name, exact=True)
        return self._compose(query, question, answer, zone.table.soa)

    def _reject(self, query: _Query, question: Question, rcode: Rcode) -> bytes:
        answer = Answer(heads(opcode(query.packet) << 11 | rcode & 0xF, 0, 0, 0), b"")
        return self._compose(query, question, answer, NODATA_ANSWER, extended_rcode=rcode >> 4)

    def _compose(
        self, query: _Query, question: Question, answer: Answer, soa: Answer, extended_rcode: int = 0
    ) -> bytes:
        variant, opt, stated_bytes = _recursion_desired(query.packet), b"", None
        if query.edns is not None:
            variant |= EDNS
            opt = opt_record(self._payload_bytes, dnssec_ok=query.edns.dnssec_ok, extended_rcode=extended_rcode)
            stated_bytes = query.edns.payload_bytes
        limit_bytes = limit_for(stated_bytes, self._payload_bytes, over_tcp=query.over_tcp)
        return compose(query.packet, question.end, answer, soa, variant, opt, limit_bytes)


def _read(packet: bytes, over_tcp: bool) -> _Query:
    question, edns, malformed = None, None, False
    try:
        if count(packet, 0) == 1:
            question = read_question(packet)
            edns = read_edns(packet, question.end)
    except MalformedError:
        malformed = True
    return _Query(packet, over_tcp, question, edns, malformed)


def _rejection(query: _Query) -> Rcode | None:
    """Return the first objection to a query. Another opcode comes first: its body may have another form."""
    if opcode(query.packet) == NOTIFY:
        return Rcode.REFUSED
    if opcode(query.packet) != QUERY:
        return Rcode.NOTIMP
    if query.malformed or query.question is None:  # one question, neither more nor less (RFC 9619)
        return Rcode.FORMERR
    if query.edns is not None and query.edns.version:
        return Rcode.BADVERS
    if query.question.qclass != CLASS_IN:
        return Rcode.REFUSED
    return _TYPE_REJECTIONS.get(query.question.qtype)


_TYPE_REJECTIONS: Final = {
    rdtype.OPT: Rcode.FORMERR,
    rdtype.NXNAME: Rcode.FORMERR,  # RFC 9824 section 3.4
    rdtype.TKEY: Rcode.FORMERR,
    rdtype.TSIG: Rcode.FORMERR,
    rdtype.IXFR: Rcode.REFUSED,
    rdtype.AXFR: Rcode.REFUSED,
    rdtype.MAILA: Rcode.NOTIMP,
    rdtype.MAILB: Rcode.NOTIMP,
}
"""Types that no zone holds and that ask for something else than data."""

COMPUTED_TYPES: Final = frozenset({*_TYPE_REJECTIONS, rdtype.ANY})
"""Question types that have no finished answers."""


def _header_only(packet: bytes, rcode: Rcode) -> bytes:
    """Return a reply without sections, for a query whose question cannot be read."""
    return packet[:2] + bytes((0x80 | packet[2] & 0x78 | _recursion_desired(packet), rcode)) + bytes(8)


def _recursion_desired(packet: bytes) -> int:
    """Return the RD bit to copy: it has a meaning in queries only (RFC 8906 section 8.1.4)."""
    return packet[2] & RD if opcode(packet) == QUERY else 0


def _size(rrset: RRset) -> tuple[bool, int, int]:
    """Order sets by their worth as the one answer to ANY: data before signatures, small before large."""
    is_proof = rrset.rdtype in {rdtype.RRSIG, rdtype.NSEC}
    return is_proof, sum(len(rdata) + HEADER_BYTES for rdata in rrset.rdatas), rrset.rdtype
