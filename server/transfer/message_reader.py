"""The replies of a primary, read whole: header, question, and the records of the answer.

Owns what of a foreign message is well-formed. Never judges whether the records make a transfer.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error
from typing import Final

from server import rdtype
from server.transfer.name_reader import read_name
from server.transfer.record import Record
from server.transfer.record_data import read_rdata
from zonemodel.name import WireName
from zonemodel.record import TTL_MAX_S

_HEADER: Final = Struct("!2s2B4H")
_FIXED: Final = Struct("!HHIH")
_CLASS_IN: Final = 1
_NOT_DATA: Final = frozenset({rdtype.OPT, rdtype.TKEY, rdtype.TSIG, rdtype.IXFR, rdtype.AXFR, rdtype.ANY, rdtype.MAILA})


@dataclass(frozen=True, slots=True)
class Message:
    """One reply; `question` is name, type and class, None where there is none. `tsig_at` is where a TSIG record begins."""

    id_octets: bytes
    opcode: int
    is_reply: bool
    is_authoritative: bool
    rcode: int
    question: tuple[WireName, int, int] | None
    answer: tuple[Record, ...]
    authority: tuple[Record, ...]
    tsig_at: int | None


def read_message(packet: bytes) -> Message:
    """Read a message to its last octet; raises ValueError, which says what is wrong."""
    try:
        id_octets, high, low, questions, answers, authorities, additionals = _HEADER.unpack_from(packet)
        if questions > 1:
            raise ValueError(f"the message has {questions} questions, allowed is one")
        known: dict[int, bytes] = {}
        question, position = None, _HEADER.size
        if questions:
            name, position = read_name(packet, position, known)
            question = WireName(name.lower()), *_two_numbers(packet, position)
            position += 4
        answer, position = _read_records(packet, position, answers, known)
        authority, position = _read_records(packet, position, authorities, known)
        tsig_at, position = _skip_additional(packet, position, additionals)
    except error as cut:
        raise ValueError("the message is cut short") from cut
    if position != len(packet):
        raise ValueError("octets follow the last record of the message")
    opcode, is_reply = high >> 3 & 0xF, bool(high & 0x80)
    return Message(id_octets, opcode, is_reply, bool(high & 4), low & 0xF, question, answer, authority, tsig_at)


def _two_numbers(packet: bytes, position: int) -> tuple[int, int]:
    if position + 4 > len(packet):
        raise ValueError("the question is cut short")
    return int.from_bytes(packet[position : position + 2], "big"), int.from_bytes(
        packet[position + 2 : position + 4], "big"
    )


def _read_records(packet: bytes, position: int, number: int, known: dict[int, bytes]) -> tuple[tuple[Record, ...], int]:
    found = []
    most = len(packet)
    for _ in range(number):
        owner, position = read_name(packet, position, known)
        rrtype, class_, ttl_s, size = _FIXED.unpack_from(packet, position)
        position += _FIXED.size
        if position + size > most:
            raise ValueError("the data of a record are cut short")
        if class_ != _CLASS_IN or rrtype in _NOT_DATA or not rrtype:
            raise ValueError(f"a record has type {rrtype} and class {class_}, which no zone holds")
        rdata = read_rdata(packet, position, size, rrtype, known)
        position += size
        ttl = ttl_s if ttl_s <= TTL_MAX_S else 0  # RFC 2181 section 8
        found.append(Record(WireName(owner.lower()), rrtype, ttl, rdata))
    return tuple(found), position


def _skip_additional(packet: bytes, position: int, number: int) -> tuple[int | None, int]:
    """Return where TSIG begins, which must be the last record, and the end of the section."""
    tsig_at = None
    for _ in range(number):
        if tsig_at is not None:
            raise ValueError("a record follows TSIG")
        begin = position
        _, position = read_name(packet, position)
        rrtype, _, _, size = _FIXED.unpack_from(packet, position)
        position += _FIXED.size + size
        if rrtype == rdtype.TSIG:
            tsig_at = begin
    return tsig_at, position
