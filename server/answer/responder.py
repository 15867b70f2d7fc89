"""Replies that take more than a look-up: refusals of every kind, ANY, DS at an apex, DNAME, class CHAOS, padding.

Owns what is said to queries that are not plain, in the order in which they are judged. Finds the content of answers where the
compiler does, in `zone.lookup`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from server import rdtype
from server.answer.chaos import CLASS_CHAOS
from server.answer.compose import EDNS, RD, compose, limit_for, opt_record
from server.answer.policy import AnswerPolicy, Declined
from server.answer.query import Query, read_query
from server.answer.rejection import (
    BADCOOKIE,
    BADVERS,
    FORMERR,
    NOT_OURS,
    NOT_READY,
    NOTIMP,
    PROHIBITED,
    Rcode,
    Rejection,
)
from server.catalog import Catalog
from server.edns.reply import has_cookie, padding_for
from server.transport import Later, Reply, Transport
from server.wire import HEADER_BYTES, NOTIFY, QUERY, Question, opcode
from server.zone.compile import NODATA_ANSWER, Zone
from server.zone.encode import encode_reply
from server.zone.lookup import resolve
from server.zone.table import TRUNCATED, Answer, heads
from zonemodel.rrset import RRset

CLASS_IN: Final = 1


_AT_ONCE_OCTETS: Final = 4096
"""What of an answer is worked out on the event loop: a longer one can take a thousand look-ups, and is made beside it for a stream."""

_NO_OBJECTION: Final = Rejection(Rcode.NOERROR)
_PROOF_TYPES: Final = frozenset({rdtype.RRSIG, rdtype.NSEC})


class Responder:
    """Answers any packet from the zones of a catalog."""

    def __init__(self, catalog: Catalog, policy: AnswerPolicy) -> None:
        self._catalog = catalog
        self._policy = policy

    def respond(self, packet: bytes, client: str, transport: Transport) -> Reply:
        """Return the reply, or None where silence is right: for what is no query at all (RFC 1035 section 4.1.1)."""
        if len(packet) < HEADER_BYTES or packet[2] & 0x80:
            return None
        query = read_query(packet, client, transport, self._policy.options)
        if self._policy.delegate is not None and query.is_more_than_a_question:
            reply = self._policy.delegate.take(query)
            if not isinstance(reply, Declined):
                return reply
        rejection = _rejection(query)
        if query.question is None:
            return self._without_question(query, FORMERR if rejection is None else rejection)
        if rejection is not None:
            return self._reject(query, query.question, rejection)
        if query.question.qclass == CLASS_CHAOS:
            return self._answer_chaos(query, query.question)
        return self._answer(query, query.question)

    def hold_back(self, packet: bytes, client: str) -> bytes | None:
        """Return the reply that a client gets in place of an answer when too many answers have gone to its network over UDP.

        It proves its address either way: with the cookie of BADCOOKIE (RFC 7873 section 5.2.3), or over TCP. None for packets that do
        not deserve a reply.
        """
        query = read_query(packet, client, Transport.UDP, self._policy.options)
        if query.malformed or query.question is None or opcode(packet) != QUERY:
            return None
        if has_cookie(query.known_options):
            return self._reject(query, query.question, BADCOOKIE)
        return self._compose(query, query.question, Answer(heads(TRUNCATED, 0, 0, 0), b""), NODATA_ANSWER)

    def trusts(self, packet: bytes, client: str) -> bool:
        """Say whether the query holds a cookie that only somebody at the client's address can have."""
        query = read_query(packet, client, Transport.UDP, self._policy.options)
        return not query.malformed and self._policy.options.trusts(query.known_options, client)

    def _answer(self, query: Query, question: Question) -> bytes | Later:
        apex = self._catalog.find(question.name)
        if apex == question.name and question.qtype == rdtype.DS and len(apex) > 1:
            apex = self._catalog.find(apex[apex[0] + 1 :]) or apex  # the parent side answers (RFC 4035 section 3.1.4.1)
        qtype = question.qtype.to_bytes(2, "big")
        if apex is None:
            self._catalog.count_elsewhere(qtype)
            return self._reject(query, question, NOT_OURS if self._catalog.complete else NOT_READY)
        self._catalog.tables[apex].asked[rdtype.SLOTS.get(qtype, rdtype.OTHER_SLOT)] += 1
        zone = self._catalog.zones.get(apex)
        if zone is None:
            return self._reject(query, question, NOT_READY)
        work_out, most_octets = partial(self._worked_out, query, question, zone), self._limit_bytes(query)
        if query.transport:
            answer = work_out(_AT_ONCE_OCTETS)
            if len(answer.body) > _AT_ONCE_OCTETS:
                return Later(lambda: self._compose(query, question, work_out(most_octets), zone.table.soa))
        else:
            answer = work_out(most_octets)
        return self._compose(query, question, answer, zone.table.soa)

    def _worked_out(self, query: Query, question: Question, zone: Zone, most_octets: int) -> Answer:
        """Return an answer, of which no more is made than shows that it is longer than so many octets."""
        is_elsewhere = self._catalog.leads_elsewhere(zone.index.origin)
        reply = resolve(zone.index, question.name, question.qtype, is_elsewhere, most_octets)
        if question.qtype == rdtype.ANY and reply.final and not query.transport:
            reply.answer = [min(reply.answer, key=_size)]  # one set is enough (RFC 8482 section 4.1)
        if zone.proofs is not None and query.edns is not None and query.edns.dnssec_ok:
            zone.proofs.add_to(reply)
        return encode_reply(reply, question.name, question.name, exact=True, most_octets=most_octets)

    def _answer_chaos(self, query: Query, question: Question) -> bytes:
        answer = self._policy.chaos.answer(question.name, question.qtype, query.client)
        if answer is None:
            return self._reject(query, question, PROHIBITED)
        return self._compose(query, question, answer, NODATA_ANSWER)

    def _reject(self, query: Query, question: Question, rejection: Rejection) -> bytes:
        return self._compose(query, question, rejection.answer_to(opcode(query.packet)), NODATA_ANSWER, rejection)

    def _without_question(self, query: Query, rejection: Rejection) -> bytes:
        """Return a reply without sections but for OPT; one that asks for a cookie alone gets it (RFC 7873 section 5.4)."""
        packet, edns = query.packet, query.edns
        opt = b""
        if edns is not None and not query.malformed:
            opt = opt_record(self._policy.payload_bytes, dnssec_ok=edns.dnssec_ok, options=query.options)
            if opcode(packet) == QUERY and has_cookie(query.known_options):
                rejection = _NO_OBJECTION
        flags = bytes((0x80 | packet[2] & 0x78 | _recursion_desired(packet), rejection.rcode & 0xF))
        return packet[:2] + flags + bytes(7) + bytes((bool(opt),)) + rejection.explained(opt)

    def _compose(
        self, query: Query, question: Question, answer: Answer, soa: Answer, rejection: Rejection | None = None
    ) -> bytes:
        variant, limit_bytes = _recursion_desired(query.packet), self._limit_bytes(query)
        if query.edns is None:
            return compose(query.packet, question.end, answer, soa, variant, b"", limit_bytes)
        variant |= EDNS
        opt = opt_record(self._policy.payload_bytes, dnssec_ok=query.edns.dnssec_ok, options=query.options)
        if rejection is not None:
            opt = rejection.explained(opt)
        reply = compose(query.packet, question.end, answer, soa, variant, opt, limit_bytes)
        return _padded(reply, len(opt)) if query.padded else reply

    def _limit_bytes(self, query: Query) -> int:
        payload_bytes = None if query.edns is None else query.edns.payload_bytes
        return limit_for(payload_bytes, self._policy.payload_bytes, over_tcp=bool(query.transport))


def _padded(reply: bytes, opt_bytes: int) -> bytes:
    """Put padding at the end of the OPT record, which is a reply's last; a reply that cannot grow goes as it is."""
    padding = padding_for(len(reply))
    length_at = len(reply) - opt_bytes + 9
    length = opt_bytes - 11 + len(padding)
    if len(reply) + len(padding) > 0xFFFF:
        return reply
    return reply[:length_at] + length.to_bytes(2, "big") + reply[length_at + 2 :] + padding


def _rejection(query: Query) -> Rejection | None:
    """Return the first objection to a query. Another opcode comes first: its body may have another form."""
    if opcode(query.packet) == NOTIFY:
        return FORMERR if query.question is None else PROHIBITED
    if opcode(query.packet) != QUERY:
        return NOTIMP
    if query.malformed or query.question is None:  # one question, neither more nor less (RFC 9619)
        return FORMERR
    if query.edns is not None and query.edns.version:
        return BADVERS
    if query.question.qclass == CLASS_CHAOS:
        return None
    if query.question.qclass != CLASS_IN:
        return NOT_OURS
    return _TYPE_REJECTIONS.get(query.question.qtype)


_TYPE_REJECTIONS: Final = {
    rdtype.OPT: FORMERR,
    rdtype.NXNAME: FORMERR,  # RFC 9824 section 3.4
    rdtype.TKEY: FORMERR,
    rdtype.TSIG: FORMERR,
    rdtype.IXFR: PROHIBITED,
    rdtype.AXFR: PROHIBITED,
    rdtype.MAILA: NOTIMP,
    rdtype.MAILB: NOTIMP,
}
"""Types that no zone holds and that ask for something else than data."""

COMPUTED_TYPES: Final = frozenset({*_TYPE_REJECTIONS, rdtype.ANY, rdtype.RRSIG})
"""Question types that have no finished answers, or whose answers are of several TTLs."""


def _recursion_desired(packet: bytes) -> int:
    """Return the RD bit to copy: it has a meaning in queries only (RFC 8906 section 8.1.4)."""
    return packet[2] & RD if opcode(packet) == QUERY else 0


def _size(rrset: RRset) -> tuple[bool, int, int]:
    """Order sets by their worth as the one answer to ANY: data before signatures, small before large."""
    size = sum(len(rdata) + HEADER_BYTES for rdata in rrset.rdatas)
    return rrset.rdtype in _PROOF_TYPES, size, rrset.rdtype
