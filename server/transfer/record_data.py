"""Record data that came in a message: names in them uncompressed, their form checked, and how two of them compare.

Owns where names stand in the data of each type (RFC 3597 section 4, RFC 4034 section 6.2). Never changes the case of what it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import dns.exception
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from server import rdtype
from server.transfer.name_reader import read_name

_NAME: Final = -1
_STRING: Final = -2
_REST: Final = -3
"""Steps through record data; a positive one is a number of octets."""

_LAYOUTS: Final[dict[int, tuple[int, ...]]] = {
    rdtype.NS: (_NAME,),
    rdtype.MD: (_NAME,),
    rdtype.MF: (_NAME,),
    rdtype.CNAME: (_NAME,),
    rdtype.SOA: (_NAME, _NAME, 20),
    rdtype.MB: (_NAME,),
    rdtype.MG: (_NAME,),
    rdtype.MR: (_NAME,),
    rdtype.PTR: (_NAME,),
    rdtype.MINFO: (_NAME, _NAME),
    rdtype.MX: (2, _NAME),
    17: (_NAME, _NAME),  # RP
    18: (2, _NAME),  # AFSDB
    21: (2, _NAME),  # RT
    24: (18, _NAME, _REST),  # SIG
    26: (2, _NAME, _NAME),  # PX
    30: (_NAME, _REST),  # NXT
    33: (6, _NAME),  # SRV
    35: (4, _STRING, _STRING, _STRING, _NAME),  # NAPTR
    36: (2, _NAME),  # KX
    rdtype.DNAME: (_NAME,),
    rdtype.RRSIG: (18, _NAME, _REST),
}

_TEXTS: Final = frozenset({rdtype.TXT, rdtype.SPF})
_SERVICE_BINDINGS: Final = frozenset({rdtype.SVCB, rdtype.HTTPS})
_OPEN: Final = frozenset({256, 260})
"""URI, whose target may be anything, and AMTRELAY, whose relay may be of a kind that is to come (RFC 8777 section 4.2.3)."""

_PLAIN_SIZES: Final = {rdtype.A: 4, rdtype.AAAA: 16}
_CHECKED_WHOLE: Final = frozenset(number for number, layout in _LAYOUTS.items() if layout[-1] != _REST)
_IN: Final = dns.rdataclass.IN


def read_rdata(packet: bytes, position: int, size: int, number: int, known: dict[int, bytes]) -> bytes:
    """Return the uncompressed data of a record of type `number`; raises ValueError when they have not the form of the type."""
    end = position + size
    layout = _LAYOUTS.get(number)
    if layout is None:
        rdata = packet[position:end]
        if number not in _PLAIN_SIZES:
            _check(number, rdata)
        elif size != _PLAIN_SIZES[number]:
            raise ValueError(f"the data of a record of type {number} take {size} octets")
        return rdata
    parts: list[bytes] = []
    for step in layout:
        if step == _NAME:
            name, after = read_name(packet, position, known)
            parts.append(name)
        else:
            after = _step_end(packet, position, end, step)
            parts.append(packet[position:after])
        position = after
        if position > end:
            raise ValueError(f"the data of a record of type {number} are cut short")
    if position != end:
        raise ValueError(f"octets follow the data of a record of type {number}")
    rdata = b"".join(parts)
    if number not in _CHECKED_WHOLE:
        _check(number, rdata)
    return rdata


def canonical(number: int, rdata: bytes) -> bytes:
    """Return well-formed, uncompressed data with the case of names taken away, to compare by."""
    layout = _LAYOUTS.get(number)
    if layout is None:
        return rdata
    return b"".join(_without_case(rdata, layout))


def _without_case(rdata: bytes, layout: Sequence[int]) -> list[bytes]:
    parts: list[bytes] = []
    position = 0
    for step in layout:
        if step == _NAME:
            name, position = read_name(rdata, position)
            parts.append(name.lower())
        else:
            end = _step_end(rdata, position, len(rdata), step)
            parts.append(rdata[position:end])
            position = end
    return parts


def _step_end(octets: bytes, position: int, end: int, step: int) -> int:
    if step == _REST:
        return end
    if step == _STRING:
        return position + 1 + (octets[position] if position < end else 0)
    return position + step


def _check(number: int, rdata: bytes) -> None:
    """Judge the form alone: a value in it that means nothing, or nothing yet, is for those who ask for it to judge (RFC 3597)."""
    if number in _TEXTS and not rdata:
        raise ValueError(f"a record of type {number} has no string")
    if number in _SERVICE_BINDINGS and rdata[:2] == b"\0\0":
        rdata = (
            b"\0\1" + rdata[2:]
        )  # priority 0 may have parameters, too, which mean nothing then (RFC 9460 section 2.4.2)
    try:
        dns.rdata.from_wire(_IN, dns.rdatatype.RdataType.make(number), rdata, 0, len(rdata))
    except (dns.exception.DNSException, ValueError) as error:
        if isinstance(error.__cause__, ValueError) or number in _OPEN:
            return
        reason = str(error) or type(error).__name__
        raise ValueError(f"the data of a record of type {number} are malformed: {reason}") from error
