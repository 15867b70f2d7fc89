"""One query in, one reply out: judge the header, question and OPT, find the finished answer, put it behind the question.

The same for every transport. Whatever needs more than a look-up goes to the responder. Nothing is parsed into objects here, and
nothing in a packet can make it raise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import product
from typing import Final, cast

from server import rdtype
from server.answer.compose import EDNS, RD, TCP_LIMIT_BYTES, UDP_PLAIN_LIMIT_BYTES, compose, opt_record
from server.answer.policy import AnswerPolicy
from server.answer.rejection import NOT_OURS, NOT_READY
from server.answer.responder import COMPUTED_TYPES, Responder
from server.catalog import Catalog
from server.transport import Reply, Transport
from server.wire import QUERY
from server.zone.compile import NODATA_ANSWER
from server.zone.table import COMPUTED, Answer, ZoneTable
from zonemodel.name import MAX_LABEL_OCTETS, MAX_NAME_OCTETS

_COMPUTED_TYPES: Final = frozenset(number.to_bytes(2, "big") for number in COMPUTED_TYPES)
_DS: Final = rdtype.DS.to_bytes(2, "big")
_SLOTS: Final = rdtype.SLOTS
_OTHER_SLOT: Final = rdtype.OTHER_SLOT
_CLASS_IN: Final = b"\x00\x01"
_NAME_START: Final = 12
_NAME_END: Final = _NAME_START + MAX_NAME_OCTETS
_AFTER_NAME: Final = 5
"""From the last octet of a question's name to its end."""
_SHORTEST: Final = _NAME_START + _AFTER_NAME

_OPT_BYTES: Final = 11
_OPT_START: Final = b"\x00" + rdtype.OPT.to_bytes(2, "big")
_DNSSEC_OK: Final = 0x8000
_read_opt: Final = struct.Struct("!3sHHHH").unpack_from
"""Owner and type, payload, extended RCODE and version, flags, length of options (RFC 6891 section 6.1.2)."""

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
        """`answer` for UDP, where every reply is one message at once."""
        self._catalog = catalog
        self._tables = catalog.tables
        self._respond = self.responder.respond
        self._replies = policy.options.reply
        self._payload_bytes = policy.payload_bytes
        self._opts = tuple(opt_record(policy.payload_bytes, dnssec_ok=dnssec_ok) for dnssec_ok in (False, True))

    def answer(self, packet: bytes, client: str, transport: Transport = Transport.UDP) -> Reply:
        """Return the reply to a packet of a client, whose address is numeric, or None where there is to be none.

        One function, since each call costs what a look-up does. The name ends at the first octet 0, or is odd: it is known to be a
        name once it is found among those of a zone, and looked at label by label only when it is not.
        """
        variant = _PLAIN_HEADERS.get(packet[2:12])
        end = packet.find(0, _NAME_START, _NAME_END) + _AFTER_NAME
        qtype = packet[end - 4 : end - 2]
        if variant is None or end < _SHORTEST or packet[end - 2 : end] != _CLASS_IN or qtype in _COMPUTED_TYPES:
            return self._respond(packet, client, transport)
        name = packet[_NAME_START : end - 4].lower()

        limit_bytes = TCP_LIMIT_BYTES if transport else UDP_PLAIN_LIMIT_BYTES
        opt, wants_proof, size = b"", False, len(packet) - end
        if variant & EDNS:
            if size < _OPT_BYTES:
                return self._respond(packet, client, transport)
            head, stated_bytes, version, flags, options_bytes = _read_opt(packet, end)
            if head != _OPT_START or version or options_bytes != size - _OPT_BYTES:
                return self._respond(packet, client, transport)
            wants_proof = flags >= _DNSSEC_OK
            opt = self._opts[wants_proof]
            if options_bytes:
                options = self._options(packet[end + _OPT_BYTES :], client, transport)
                if options is None:
                    return self._respond(packet, client, transport)
                opt = opt[:-2] + options
            if stated_bytes > UDP_PLAIN_LIMIT_BYTES and not transport:
                limit_bytes = stated_bytes if stated_bytes < self._payload_bytes else self._payload_bytes
        elif size:
            return self._respond(packet, client, transport)

        tables, suffix = self._tables, name
        while (table := tables.get(suffix)) is None:
            if len(suffix) < 2:
                return self._refuse(packet, end, variant, opt, limit_bytes) or self._respond(packet, client, transport)
            suffix = suffix[suffix[0] + 1 :]
        answer = table.answers.get(name + qtype) or _find(table, name, qtype)
        if answer is COMPUTED or (wants_proof and table.signed) or (qtype == _DS and len(suffix) == len(name)):
            return self._respond(packet, client, transport)
        table.asked[_SLOTS.get(qtype, _OTHER_SLOT)] += 1
        body = answer.body
        if answer.step or answer.soa or len(body) > limit_bytes - end - len(opt):
            return compose(packet, end, answer, table.soa, variant, opt, limit_bytes)
        return packet[:2] + answer.heads[variant] + packet[_NAME_START:end] + body + opt

    def _options(self, options: bytes, client: str, transport: Transport) -> bytes | None:
        """Return the reply's options with their length before them, None for what the responder does better."""
        try:
            found, padded = self._replies(options, client, transport)
        except ValueError:
            return None
        return None if padded else len(found).to_bytes(2, "big") + found

    def _refuse(self, packet: bytes, end: int, variant: int, opt: bytes, limit_bytes: int) -> bytes | None:
        """Answer a question whose name lies in no zone, None for what is no name; its class is IN and its type one that zones hold."""
        if not _is_name(packet, end - _AFTER_NAME):
            return None
        self._catalog.count_elsewhere(packet[end - 4 : end - 2])
        rejection = NOT_OURS if self._catalog.complete else NOT_READY
        return compose(
            packet, end, rejection.answer_to(QUERY), NODATA_ANSWER, variant, rejection.explained(opt), limit_bytes
        )


def _is_name(packet: bytes, root_at: int) -> bool:
    """Say whether the labels of the question end in the root label at that place."""
    position = _NAME_START
    while position < root_at and packet[position] <= MAX_LABEL_OCTETS:
        position += packet[position] + 1
    return position == root_at


def _find(table: ZoneTable, name: bytes, qtype: bytes) -> Answer:
    """Return what a zone says to a type that the name lacks, or to a name that is missing in it (RFC 1034 section 4.3.2).

    What is no name at all is left to the responder.
    """
    nodes = table.nodes
    node = nodes.get(name)
    if node is not None:
        return node.other
    while node is None:
        length = name[0]
        if length > MAX_LABEL_OCTETS:
            return COMPUTED
        name = name[length + 1 :]
        node = nodes.get(name)
    below = node.below
    return (below.source and table.answers.get(below.source + qtype)) or below.other
