"""One record of a record set, told apart from the others of its set as ownership needs it.

Owns which spellings mean the same record, and how record bodies become members. Never owns a TTL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from typing import Final

from zonemodel.name import to_wire
from zonemodel.record import RecordBodies


class MemberType(StrEnum):
    """The record types that a marker can carry."""

    A = "A"
    AAAA = "AAAA"
    CNAME = "CNAME"
    TXT = "TXT"
    SRV = "SRV"
    HTTPS = "HTTPS"
    MX = "MX"
    CAA = "CAA"
    NS = "NS"


@dataclass(frozen=True, slots=True)
class Srv:
    """The numbers of a service record (RFC 2782), each 0 to 65535."""

    priority: int
    weight: int
    port: int


@dataclass(frozen=True, slots=True)
class Https:
    """The fields of an HTTPS record (RFC 9460); `priority` is 0 to 65535."""

    priority: int
    target_name: str
    alpn: str


@dataclass(frozen=True, slots=True)
class Member:
    """A record; `target` is its data as text: `PREFERENCE EXCHANGE` for MX, `FLAGS TAG VALUE` for CAA.

    `srv` is there exactly for SRV, `https` exactly for HTTPS.
    """

    type: MemberType
    target: str
    srv: Srv | None = None
    https: Https | None = None

    @property
    def identity(self) -> Member:
        """The same record in the spelling that all of its spellings have in common."""
        https = self.https
        if https is not None:
            https = Https(https.priority, _plain_name(https.target_name), https.alpn)
        return Member(self.type, _canonical(self.type, self.target), self.srv, https)

    @property
    def tells_a_record(self) -> bool:
        """Whether a record of the type can have this target; of a claim to one that none can have it is not known what is meant."""
        try:
            return _can_be(self.type, self.target)
        except ValueError:
            return False


_ADDRESSES: Final = {MemberType.A: 4, MemberType.AAAA: 6}
_NAMES: Final = frozenset({MemberType.CNAME, MemberType.SRV, MemberType.NS})


def members_of(bodies: RecordBodies) -> Iterator[Member]:
    """Yield the records of the body that is present."""
    if bodies.a is not None:
        yield from (Member(MemberType.A, text) for text in bodies.a.addresses)
    if bodies.aaaa is not None:
        yield from (Member(MemberType.AAAA, text) for text in bodies.aaaa.addresses)
    if bodies.txt is not None:
        yield from (Member(MemberType.TXT, text) for text in bodies.txt.values)
    if bodies.cname is not None:
        yield Member(MemberType.CNAME, bodies.cname.target)
    if bodies.mx is not None:
        yield from (Member(MemberType.MX, f"{mx.preference} {mx.exchange}") for mx in bodies.mx.records)
    if bodies.caa is not None:
        yield from (Member(MemberType.CAA, f"{caa.flags} {caa.tag} {caa.value}") for caa in bodies.caa.records)
    if bodies.ns is not None:
        yield from (Member(MemberType.NS, name) for name in bodies.ns.name_servers)


def _canonical(kind: MemberType, target: str) -> str:
    if (version := _ADDRESSES.get(kind)) is not None:
        try:
            address = ip_address(target.strip())
        except ValueError:
            return target
        return str(address) if address.version == version else target
    if kind in _NAMES:
        return _plain_name(target)
    if kind is MemberType.MX:
        preference, _, exchange = target.partition(" ")
        return f"{_plain_number(preference)} {_plain_name(exchange)}"
    if kind is MemberType.CAA:
        flags, _, rest = target.partition(" ")
        tag, _, value = rest.partition(" ")
        return f"{_plain_number(flags)} {tag.lower()} {value}"  # tags have no case (RFC 8659 section 4.1)
    return target


def _can_be(kind: MemberType, target: str) -> bool:
    """Say whether a record can have this data, as far as the type tells. Raises ValueError for some that none can have."""
    if (version := _ADDRESSES.get(kind)) is not None:
        return ip_address(target.strip()).version == version
    if kind in _NAMES:
        return bool(to_wire(target.strip()))
    if kind is MemberType.MX:
        preference, _, exchange = target.partition(" ")
        return _is_number(preference, 0xFFFF) and bool(to_wire(exchange.strip()))
    if kind is MemberType.CAA:
        flags, _, rest = target.partition(" ")
        return _is_number(flags, 0xFF) and bool(rest.partition(" ")[0])
    return True


def _is_number(digits: str, highest: int) -> bool:
    return digits.isascii() and digits.isdecimal() and len(digits) < 10 and int(digits) <= highest


def _plain_number(digits: str) -> str:
    return digits.lstrip("0") or "0" if digits.isdecimal() and digits.isascii() else digits


def _plain_name(name: str) -> str:
    return name.strip().lower().removesuffix(".")
