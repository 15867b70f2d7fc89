"""One query in, one reply out: judge the header, question and OPT, find the finished answer, put it behind the question.

The same for every transport. Whatever needs more than a look-up goes to the responder. Nothing is parsed into objects here, and
nothing in a packet can make it raise.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from server import rdtype
from server.catalog import Catalog
from server.compose import EDNS, RD, TCP_LIMIT_BYTES, UDP_PLAIN_LIMIT_BYTES, compose, opt_record
from server.responder import COMPUTED_TYPES, Responder
from server.wire import are_options
from server.zone.table import COMPUTED, Answer, ZoneTable

_COMPUTED_TYPES: Final = frozenset(number.to_bytes(2, "big") for number in COMPUTED_TYPES)
_DS: Final = rdtype.DS.to_bytes(2, "big")
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
    """Answers from the finished answers of a catalog; `payload_bytes` is the longest reply over UDP."""

    __slots__ = ("_catalog", "_opts", "_payload_bytes", "_respond", "_tables")

    def __init__(self, catalog: Catalog, payload_bytes: int = 1232) -> None:
        self._tables = catalog.tables
        self._respond = Responder(catalog, payload_bytes).respond
        self._payload_bytes = payload_bytes
        self._opts = tuple(opt_record(payload_bytes, dnssec_ok=dnssec_ok) for dnssec_ok in (False, True))

    def answer(self, packet: bytes, over_tcp: bool = False) -> bytes | None:
        """Return the reply to a packet, or None where there is to be none."""
        variant = _PLAIN_HEADERS.get(packet[2:12])
        if variant is None:
            return self._respond(packet, over_tcp=over_tcp)
        try:
            end = 12
            while length := packet[end]:
                if length > 63:
                    return self._respond(packet, over_tcp=over_tcp)
                end += length + 1
        except IndexError:
            return self._respond(packet, over_tcp=over_tcp)
        name = packet[12 : end + 1].lower()
        end += 5
        qtype = packet[end - 4 : end - 2]
        if len(name) > 255 or packet[end - 2 : end] != _CLASS_IN or qtype in _COMPUTED_TYPES:
            return self._respond(packet, over_tcp=over_tcp)

        limit_bytes = TCP_LIMIT_BYTES if over_tcp else UDP_PLAIN_LIMIT_BYTES
        opt = b""
        if variant & EDNS:
            size = len(packet) - end - _OPT_BYTES
            if (
                packet[end : end + 3] != _OPT_START
                or packet[end + 5 : end + 7] != _VERSION_0
                or int.from_bytes(packet[end + 9 : end + 11], "big") != size
                or (size and not are_options(packet[end + _OPT_BYTES :]))
            ):
                return self._respond(packet, over_tcp=over_tcp)
            opt = self._opts[packet[end + 7] >> 7]
            if not over_tcp:
                stated_bytes = int.from_bytes(packet[end + 3 : end + 5], "big")
                limit_bytes = min(max(stated_bytes, UDP_PLAIN_LIMIT_BYTES), self._payload_bytes)
        elif len(packet) != end:
            return self._respond(packet, over_tcp=over_tcp)

        tables = self._tables
        suffix = name
        while (table := tables.get(suffix)) is None:
            if len(suffix) == 1:
                return self._respond(packet, over_tcp=over_tcp)
            suffix = suffix[suffix[0] + 1 :]
        answer = table.answers.get(name + qtype) or _find(table, name, qtype)
        if answer is COMPUTED or (qtype == _DS and len(suffix) == len(name)) or (table.signed and opt is self._opts[1]):
            return self._respond(packet, over_tcp=over_tcp)
        return compose(packet, end, answer, table.soa, variant, opt, limit_bytes)


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
