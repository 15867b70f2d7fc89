"""One query in, one reply out: judge the header, question and OPT, find the finished answer, put it behind the question.

The same for every transport. Whatever needs more than a look-up goes to the responder. Nothing is parsed into objects here, and
nothing in a packet can make it raise.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final, cast

from server import rdtype
from server.catalog import Catalog
from server.compose import EDNS, RD, TCP_LIMIT_BYTES, UDP_PLAIN_LIMIT_BYTES, compose, opt_record
from server.policy import AnswerPolicy
from server.rejection import NOT_OURS, NOT_READY
from server.responder import COMPUTED_TYPES, Responder
from server.transport import Reply, Transport
from server.wire import QUERY
from server.zone.compile import NODATA_ANSWER
from server.zone.table import COMPUTED, Answer, ZoneTable

_COMPUTED_TYPES: Final = frozenset(number.to_bytes(2, "big") for number in COMPUTED_TYPES)
_DS: Final = rdtype.DS.to_bytes(2, "big")
_SLOTS: Final = rdtype.SLOTS
_OTHER_SLOT: Final = rdtype.OTHER_SLOT
_CLASS_IN: Final = b"\x00\x01"
_OPT_START: Final = b"\x00" + rdtype.OPT.to_bytes(2, "big")
_OPT_BYTES: Final = 11
_VERSION_0: Final = b"\x00\x00"
"""Extended RCODE and version of a query's OPT record."""

_PLAIN_HEADERS: Final = {
    bytes((high, low, 0, 1, 0, 0, 0, 0, 0, additional)): high & RD | (EDNS if additional else 0)
    for high, low, additional in product(range(8), range(256), range(2))
}
"""Header octets after the ID of plain queries, with the reply's variant: QR 0, opcode QUERY, one question, at most one further
record, which must then be OPT. Other flags in a query mean nothing to us and are ignored."""


class Matcher:
    """Answers from the finished answers of a catalog."""

    __slots__ = (
        "_catalog",
        "_opts",
        "_payload_bytes",
        "_replies",
        "_respond",
        "_tables",
        "answer_datagram",
        "responder",
    )

    def __init__(self, catalog: Catalog, policy: AnswerPolicy | None = None) -> None:
        policy = policy or AnswerPolicy()
        self.responder = Responder(catalog, policy)
        self.answer_datagram = cast(Callable[[bytes, str], bytes | None], self.answer)
        """`answer` for UDP, which has no replies of many messages."""
        self._catalog = catalog
        self._tables = catalog.tables
        self._respond = self.responder.respond
        self._replies = policy.options.reply
        self._payload_bytes = policy.payload_bytes
        self._opts = tuple(opt_record(policy.payload_bytes, dnssec_ok=dnssec_ok) for dnssec_ok in (False, True))

    def answer(self, packet: bytes, client: str, transport: Transport = Transport.UDP) -> Reply:
        """Return the reply to a packet of a client, whose address is numeric, or None where there is to be none."""
        variant = _PLAIN_HEADERS.get(packet[2:12])
        if variant is None:
            return self._respond(packet, client, transport)
        try:
            end = 12
            while length := packet[end]:
                if length > 63:
                    return self._respond(packet, client, transport)
                end += length + 1
        except IndexError:
            return self._respond(packet, client, transport)
        name = packet[12 : end + 1].lower()
        end += 5
        qtype = packet[end - 4 : end - 2]
        if len(name) > 255 or packet[end - 2 : end] != _CLASS_IN or qtype in _COMPUTED_TYPES:
            return self._respond(packet, client, transport)

        limit_bytes = TCP_LIMIT_BYTES if transport else UDP_PLAIN_LIMIT_BYTES
        opt = b""
        wants_proof = False
        if variant & EDNS:
            size = len(packet) - end - _OPT_BYTES
            if (
                packet[end : end + 3] != _OPT_START
                or packet[end + 5 : end + 7] != _VERSION_0
                or int.from_bytes(packet[end + 9 : end + 11], "big") != size
            ):
                return self._respond(packet, client, transport)
            wants_proof = packet[end + 7] > 127
            opt = self._opts[wants_proof]
            if size:
                try:
                    options, padded = self._replies(packet[end + _OPT_BYTES :], client, transport)
                except ValueError:
                    padded = True
                if padded:
                    return self._respond(packet, client, transport)
                opt = opt[:-2] + len(options).to_bytes(2, "big") + options
            if not transport:
                stated_bytes = int.from_bytes(packet[end + 3 : end + 5], "big")
                limit_bytes = min(max(stated_bytes, UDP_PLAIN_LIMIT_BYTES), self._payload_bytes)
        elif len(packet) != end:
            return self._respond(packet, client, transport)

        tables = self._tables
        suffix = name
        while (table := tables.get(suffix)) is None:
            if len(suffix) == 1:
                return self._refuse(packet, end, variant, opt, limit_bytes)
            suffix = suffix[suffix[0] + 1 :]
        answer = table.answers.get(name + qtype) or _find(table, name, qtype)
        if answer is COMPUTED or (qtype == _DS and len(suffix) == len(name)) or (wants_proof and table.signed):
            return self._respond(packet, client, transport)
        table.asked[_SLOTS.get(qtype, _OTHER_SLOT)] += 1
        return compose(packet, end, answer, table.soa, variant, opt, limit_bytes)

    def _refuse(self, packet: bytes, end: int, variant: int, opt: bytes, limit_bytes: int) -> bytes:
        """Answer a question whose name lies in no zone; its class is IN and its type one that zones hold."""
        self._catalog.count_elsewhere(packet[end - 4 : end - 2])
        rejection = NOT_OURS if self._catalog.complete else NOT_READY
        return compose(
            packet, end, rejection.answer_to(QUERY), NODATA_ANSWER, variant, rejection.explained(opt), limit_bytes
        )


def _find(table: ZoneTable, name: bytes, qtype: bytes) -> Answer:
    """Return what a zone says to a type that the name lacks, or to a name that is missing in it (RFC 1034 section 4.3.2)."""
    nodes = table.nodes
    node = nodes.get(name)
    if node is not None:
        return node.other
    while node is None:
        name = name[name[0] + 1 :]
        node = nodes.get(name)
    below = node.below
    return (below.source and table.answers.get(below.source + qtype)) or below.other
