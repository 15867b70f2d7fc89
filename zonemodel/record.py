"""The bodies of the seven record types that claims can hold, with their wire form.

The same types stand in RecordSet claims, in the ledger and in hosted snapshots. What a body may hold is judged at admission;
here a body is only a value and its octets.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Final

from pydantic import Field

from zonemodel.model import Model
from zonemodel.name import to_wire

TTL_MAX_S: Final = 2**31 - 1
MAX_STRING_OCTETS: Final = 255


class RecordType(StrEnum):
    """The types that have a body, spelled as in master files; `code` is the IANA RR TYPE number."""

    A = "A"
    AAAA = "AAAA"
    TXT = "TXT"
    CNAME = "CNAME"
    MX = "MX"
    CAA = "CAA"
    NS = "NS"

    @property
    def code(self) -> int:
        return _CODES[self]

    @property
    def field(self) -> str:
        """The key of the body in specs, e.g. `cname`."""
        return self.value.lower()


_CODES: Final = {
    RecordType.A: 1,
    RecordType.NS: 2,
    RecordType.CNAME: 5,
    RecordType.MX: 15,
    RecordType.TXT: 16,
    RecordType.AAAA: 28,
    RecordType.CAA: 257,
}

ListSet = Field(json_schema_extra={"x-kubernetes-list-type": "atomic"})


class ABody(Model):
    """IPv4 addresses of the owner (RFC 1035 section 3.4.1)."""

    addresses: Annotated[
        tuple[str, ...], Field(min_length=1, description="IPv4 addresses in dotted decimal form, each once."), ListSet
    ]


class AAAABody(Model):
    """IPv6 addresses of the owner (RFC 3596)."""

    addresses: Annotated[
        tuple[str, ...], Field(min_length=1, description="IPv6 addresses, each once however it is spelled."), ListSet
    ]


class TXTBody(Model):
    """Texts of the owner (RFC 1035 section 3.3.14)."""

    values: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="Texts of 1 to 4000 octets each, written without quotes; longer texts than 255 octets are split on the wire.",
        ),
        ListSet,
    ]


class CNAMEBody(Model):
    """The canonical name of the owner (RFC 1035 section 3.3.1)."""

    target: Annotated[
        str, Field(description="The name that the owner is an alias of: absolute, lowercase, no trailing dot.")
    ]


class MXRecord(Model):
    """One mail exchange (RFC 1035 section 3.3.9)."""

    preference: Annotated[
        int,
        Field(ge=0, le=65535, description="Preference of this exchange among the others; the lowest is tried first."),
    ]
    exchange: Annotated[
        str,
        Field(description='Host that accepts mail for the owner, or "." alone with preference 0 for none (RFC 7505).'),
    ]


class MXBody(Model):
    """Mail exchanges of the owner."""

    records: Annotated[
        tuple[MXRecord, ...],
        Field(min_length=1, description="Mail exchanges, each pair of preference and exchange once."),
        ListSet,
    ]


class CAARecord(Model):
    """One certification authority restriction (RFC 8659)."""

    flags: Annotated[int, Field(ge=0, le=255, description="Flags octet; 128 marks the property as critical.")]
    tag: Annotated[
        str, Field(description="Property tag of lowercase letters and digits, such as issue, issuewild or iodef.")
    ]
    value: Annotated[str, Field(description="Property value, written without quotes.")]


class CAABody(Model):
    """Certification authority restrictions of the owner."""

    records: Annotated[
        tuple[CAARecord, ...],
        Field(min_length=1, description="Restrictions, each triple of flags, tag and value once."),
        ListSet,
    ]


class NSBody(Model):
    """Name servers of a delegated child zone (RFC 1034 section 4.2.1)."""

    name_servers: Annotated[
        tuple[str, ...],
        Field(
            min_length=1, description="Names of the servers of the child zone: absolute, lowercase, no trailing dot."
        ),
        ListSet,
    ]


class RecordBodies(Model):
    """The body fields of a record set; exactly the one that its type names is present."""

    a: Annotated[ABody | None, Field(description="Body of an A record set.")] = None
    aaaa: Annotated[AAAABody | None, Field(description="Body of an AAAA record set.")] = None
    txt: Annotated[TXTBody | None, Field(description="Body of a TXT record set.")] = None
    cname: Annotated[CNAMEBody | None, Field(description="Body of a CNAME record set.")] = None
    mx: Annotated[MXBody | None, Field(description="Body of an MX record set.")] = None
    caa: Annotated[CAABody | None, Field(description="Body of a CAA record set.")] = None
    ns: Annotated[NSBody | None, Field(description="Body of an NS record set: the delegation of a child zone.")] = None


def bodies_present(bodies: RecordBodies) -> tuple[RecordType, ...]:
    """Return the types whose body is present."""
    return tuple(each for each in RecordType if getattr(bodies, each.field) is not None)


def encode_bodies(bodies: RecordBodies) -> tuple[bytes, ...]:
    """Return the rdata octets of the body that is present, in canonical order (RFC 4034 section 6.3), without duplicates.

    Raises ValueError when no body is present or when a value has no wire form.
    """
    found: set[bytes] = set()
    if bodies.a is not None:
        found.update(IPv4Address(text).packed for text in bodies.a.addresses)
    if bodies.aaaa is not None:
        found.update(IPv6Address(text).packed for text in bodies.aaaa.addresses)
    if bodies.txt is not None:
        found.update(encode_text(text) for text in bodies.txt.values)
    if bodies.cname is not None:
        found.add(to_wire(bodies.cname.target))
    if bodies.mx is not None:
        found.update(mx.preference.to_bytes(2, "big") + to_wire(mx.exchange) for mx in bodies.mx.records)
    if bodies.caa is not None:
        found.update(_encode_caa(caa) for caa in bodies.caa.records)
    if bodies.ns is not None:
        found.update(to_wire(name) for name in bodies.ns.name_servers)
    if not found:
        raise ValueError("a record set needs a body")
    return tuple(sorted(found))


def encode_text(text: str) -> bytes:
    """Return a TXT rdata: the UTF-8 octets of `text` as character-strings of at most 255 octets (RFC 1035 section 3.3)."""
    octets = text.encode()
    chunks = [octets[i : i + MAX_STRING_OCTETS] for i in range(0, len(octets), MAX_STRING_OCTETS)] or [b""]
    return b"".join(bytes((len(chunk),)) + chunk for chunk in chunks)


def _encode_caa(caa: CAARecord) -> bytes:
    tag = caa.tag.encode("ascii")
    if not 1 <= len(tag) <= MAX_STRING_OCTETS:
        raise ValueError(f"CAA tag {caa.tag!r} has {len(tag)} octets, allowed are 1 to {MAX_STRING_OCTETS}")
    return bytes((caa.flags, len(tag))) + tag + caa.value.encode()
