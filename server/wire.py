"""The octets of a query, read step by step and checked whole (RFC 1035 section 4.1, RFC 6891).

Owns what is well-formed. Used off the fast path only; never decides an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from server import rdtype
from zonemodel.name import MAX_LABEL_OCTETS, MAX_NAME_OCTETS, WireName

HEADER_BYTES: Final = 12
QUERY: Final = 0
NOTIFY: Final = 4

_ONE_ADDITIONAL: Final = bytes(5) + b"\x01"
_OPT_START: Final = b"\x00" + rdtype.OPT.to_bytes(2, "big")
_EXTENDED_RCODE_AT: Final = 5
_AFTER_NAME: Final = 5
"""From the last octet of a question's name to its end."""


@dataclass(frozen=True, slots=True)
class Question:
    """`name` is lowercase; `end` is where the question ends in the packet."""

    name: WireName
    qtype: int
    qclass: int
    end: int


@dataclass(frozen=True, slots=True)
class Edns:
    """What an OPT record says (RFC 6891 section 6.1.2)."""

    payload_bytes: int
    version: int
    dnssec_ok: bool
    options: bytes = b""


@dataclass(frozen=True, slots=True)
class Records:
    """What matters of the records behind a question: OPT, and where a TSIG record begins that is the last one (RFC 8945)."""

    edns: Edns | None
    tsig_at: int | None


class MalformedError(Exception):
    """A packet that is no well-formed query. Stays inside the responder: peers are told FORMERR."""


def opcode(packet: bytes) -> int:
    return packet[2] >> 3 & 0xF


def count(packet: bytes, section: int) -> int:
    """Return a header count: section 0 is the question, 3 the additional one."""
    return int.from_bytes(packet[4 + 2 * section : 6 + 2 * section], "big")


def rcode_of(reply: bytes) -> int:
    """Return the RCODE of one of our replies, with the upper bits that its OPT record may hold (RFC 6891 section 6.1.3).

    They are looked for only where there is nothing but OPT behind the question: such RCODEs bring no records.
    """
    low = reply[3] & 0xF
    if reply[6:12] != _ONE_ADDITIONAL:
        return low
    position = HEADER_BYTES
    if count(reply, 0):
        while length := reply[position]:  # a label may hold the octet 0, too
            position += length + 1
        position += _AFTER_NAME
    is_opt = reply[position : position + 3] == _OPT_START
    return reply[position + _EXTENDED_RCODE_AT] << 4 | low if is_opt else low


def read_question(packet: bytes) -> Question:
    """Return the first question; raises MalformedError, also for a compressed name, which has nothing to point at."""
    end = _skip_labels(packet, HEADER_BYTES)
    if end >= len(packet) or packet[end - 1]:
        raise MalformedError("the question name is cut short or compressed")
    if end + 4 > len(packet):
        raise MalformedError("the question is cut short")
    name = WireName(packet[HEADER_BYTES:end].lower())
    qtype, qclass = int.from_bytes(packet[end : end + 2], "big"), int.from_bytes(packet[end + 2 : end + 4], "big")
    return Question(name, qtype, qclass, end + 4)


def read_records(packet: bytes, position: int) -> Records:
    """Walk the records after the question, which begin at `position`.

    Raises MalformedError for records that are cut short, for octets after the last one, for an OPT record that is not alone, not in
    the additional section or not owned by the root (RFC 6891 section 6.1.1), and for TSIG elsewhere than at the end (RFC 8945
    section 5.1).
    """
    edns: Edns | None = None
    tsig_at: int | None = None
    for section in (1, 2, 3):
        for _ in range(count(packet, section)):
            if tsig_at is not None:
                raise MalformedError("a record follows TSIG")
            owner_at = position
            position = _skip_name(packet, position)
            fixed = packet[position : position + 10]
            if len(fixed) < 10:
                raise MalformedError("a record is cut short")
            data_at = position + 10
            position = data_at + int.from_bytes(fixed[8:10], "big")
            if position > len(packet):
                raise MalformedError("record data are cut short")
            rrtype = int.from_bytes(fixed[:2], "big")
            if rrtype == rdtype.OPT:
                if edns is not None or section != 3 or packet[owner_at]:
                    raise MalformedError("an OPT record is out of place")
                edns = _edns(fixed, packet[data_at:position])
            elif rrtype == rdtype.TSIG:
                if section != 3:
                    raise MalformedError("a TSIG record is out of place")
                tsig_at = owner_at
    if position != len(packet):
        raise MalformedError("octets follow the last record")
    return Records(edns, tsig_at)


def _edns(fixed: bytes, options: bytes) -> Edns:
    return Edns(int.from_bytes(fixed[2:4], "big"), fixed[5], bool(fixed[6] & 0x80), options)


def _skip_name(packet: bytes, position: int) -> int:
    """Return where a name ends; a pointer ends it and is not followed, since its target does not matter here."""
    end = _skip_labels(packet, position)
    if end > len(packet):
        raise MalformedError("a name is cut short")
    if packet[end - 1] >= 0xC0:
        end += 1
    return end


def _skip_labels(packet: bytes, position: int) -> int:
    """Return the place after the root label or after the first octet of a pointer."""
    start = position
    while position < len(packet):
        length = packet[position]
        if length == 0 or length >= 0xC0:
            return position + 1
        if length > MAX_LABEL_OCTETS:
            raise MalformedError("a label type is unknown")
        position += length + 1
        if position - start >= MAX_NAME_OCTETS:
            raise MalformedError("a name is too long")
    raise MalformedError("a name is cut short")
