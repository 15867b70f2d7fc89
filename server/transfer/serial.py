"""SOA serial numbers and timers, read from record data (RFC 1035 section 3.3.13, RFC 1982).

Owns serial arithmetic. Never changes a serial.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

from server import rdtype
from server.zone.index import ZoneIndex
from zonemodel.rrset import RRset

_NUMBERS: Final = Struct("!5I")
_HALF: Final = 2**31
_WHOLE: Final = 2**32


@dataclass(frozen=True, slots=True)
class Soa:
    """The numbers of a SOA record; all but the serial are seconds."""

    serial: int
    refresh_s: int
    retry_s: int
    expire_s: int
    minimum_s: int


def read_soa(rdata: bytes) -> Soa:
    """Return the numbers behind the two names; raises ValueError for data that are too short to hold them."""
    if len(rdata) < _NUMBERS.size + 2:
        raise ValueError(f"SOA record data take {len(rdata)} octets, at least {_NUMBERS.size + 2} are needed")
    return Soa(*_NUMBERS.unpack_from(rdata, len(rdata) - _NUMBERS.size))


def apex_soa(index: ZoneIndex) -> RRset:
    """Return a zone's SOA set; every zone has one."""
    return index.at(index.origin)[rdtype.SOA]


def serial_of(index: ZoneIndex) -> int:
    return read_soa(apex_soa(index).rdatas[0]).serial


def is_newer(serial: int, than: int) -> bool:
    """Say whether `serial` follows `than` (RFC 1982 section 3.2); two that cannot be compared do not follow one another."""
    return 0 < (serial - than) % _WHOLE < _HALF
