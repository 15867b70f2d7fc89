"""Record data of a master file as the body of a RecordSet: the inverse of what a name server does with the body.

Owns the way from octets to fields. Whether the fields are allowed is judged by the rules of admission, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final

import dns.name

from zonemodel.name import WireName
from zonemodel.record import RecordType, encode_text


class NotTextError(ValueError):
    """Octets that a manifest cannot spell; the message says which."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body's fields, and whether the name server would make other octets of them than the file has."""

    fields: Mapping[str, Any]
    rejoined: bool = False


def decode_body(record_type: RecordType, rdatas: Sequence[bytes]) -> Body:
    """Return the body for a set's record data, its values sorted; raises NotTextError."""
    return _DECODERS[record_type](rdatas)


def name_text(wire: bytes) -> str:
    """Return an uncompressed name as manifests spell it: lowercase, no trailing dot, "." for the root.

    A label with characters that no manifest may hold comes out with backslashes, which the rules for names object to.
    """
    return dns.name.from_wire(WireName(wire), 0)[0].canonicalize().to_text(omit_final_dot=True)


def _addresses(rdatas: Sequence[bytes]) -> Body:
    packed = sorted(rdatas)
    return Body({"addresses": [str(IPv4Address(each) if len(each) == 4 else IPv6Address(each)) for each in packed]})


def _texts(rdatas: Sequence[bytes]) -> Body:
    values = {each: _utf8(b"".join(_strings(each)), "text") for each in rdatas}
    rejoined = any(encode_text(value) != rdata for rdata, value in values.items())
    return Body({"values": sorted(set(values.values()))}, rejoined)


def _target(rdatas: Sequence[bytes]) -> Body:
    return Body({"target": name_text(rdatas[0])})


def _exchanges(rdatas: Sequence[bytes]) -> Body:
    pairs = sorted((int.from_bytes(each[:2], "big"), name_text(each[2:])) for each in rdatas)
    return Body({"records": [{"preference": preference, "exchange": exchange} for preference, exchange in pairs]})


def _restrictions(rdatas: Sequence[bytes]) -> Body:
    triples = sorted(_restriction(each) for each in rdatas)
    return Body({"records": [{"flags": flags, "tag": tag, "value": value} for flags, tag, value in triples]})


def _restriction(rdata: bytes) -> tuple[int, str, str]:
    end = 2 + rdata[1]
    return rdata[0], _utf8(rdata[2:end], "property tag"), _utf8(rdata[end:], "property value")


def _servers(rdatas: Sequence[bytes]) -> Body:
    return Body({"nameServers": sorted(name_text(each) for each in rdatas)})


def _strings(rdata: bytes) -> list[bytes]:
    strings = []
    position = 0
    while position < len(rdata):
        end = position + 1 + rdata[position]
        strings.append(rdata[position + 1 : end])
        position = end
    return strings


def _utf8(octets: bytes, what: str) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise NotTextError(f"a {what} holds the octet 0x{octets[error.start]:02x}, which is not UTF-8") from error


_DECODERS: Final[Mapping[RecordType, Callable[[Sequence[bytes]], Body]]] = {
    RecordType.A: _addresses,
    RecordType.AAAA: _addresses,
    RecordType.TXT: _texts,
    RecordType.CNAME: _target,
    RecordType.MX: _exchanges,
    RecordType.CAA: _restrictions,
    RecordType.NS: _servers,
}
