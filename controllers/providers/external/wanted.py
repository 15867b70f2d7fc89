"""What a record set of the ledger looks like in DNS: the values to expect in answers, and the lines of a zone file. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

import dns.rdata
import dns.rdataclass
import dns.rdatatype

from controllers.api.zone_unit import UnitRecordSet
from controllers.probe.answer import text_of_octets
from zonemodel.name import Fqdn, OwnerName, owner_fqdn
from zonemodel.record import RecordType, encode_bodies

LINE_LIMIT: Final = 64
SIZE_LIMIT_CHARS: Final = 16_384
DEFAULT_TTL_S: Final = 300


@dataclass(frozen=True, slots=True)
class Wanted:
    """One record set: values are texts as answers spell them, `lines` what a person puts into a zone file."""

    owner: Fqdn
    type: RecordType
    values: frozenset[str]
    ttl_s: int | None
    lines: tuple[str, ...]


def wanted_of(item: UnitRecordSet, domain: Fqdn) -> Wanted:
    """Return what an item looks like. Raises ValueError for one that has no body or a value without a wire form."""
    owner = owner_fqdn(OwnerName(item.name), domain)
    return Wanted(owner, item.type, _values(item), item.ttl, _lines(item, owner))


def _values(item: UnitRecordSet) -> frozenset[str]:
    found: set[str] = set()
    if item.a is not None:
        found.update(str(IPv4Address(each)) for each in item.a.addresses)
    if item.aaaa is not None:
        found.update(str(IPv6Address(each)) for each in item.aaaa.addresses)
    if item.txt is not None:
        found.update(text_of_octets(each.encode()) for each in item.txt.values)
    if item.cname is not None:
        found.add(item.cname.target.lower())
    if item.mx is not None:
        found.update(f"{each.preference} {each.exchange.lower()}" for each in item.mx.records)
    if item.caa is not None:
        values = ((each.flags, each.tag.lower(), text_of_octets(each.value.encode())) for each in item.caa.records)
        found.update(f'{flags} {tag} "{value}"' for flags, tag, value in values)
    if item.ns is not None:
        found.update(each.lower() for each in item.ns.name_servers)
    return frozenset(found)


def _lines(item: UnitRecordSet, owner: Fqdn) -> tuple[str, ...]:
    ttl_s = item.ttl if item.ttl is not None else DEFAULT_TTL_S
    rdatas = encode_bodies(item)
    lines: list[str] = []
    size_chars = 0
    for rdata in rdatas:
        line = f"{owner}. {ttl_s} IN {item.type} {_text(item.type, rdata)}"
        size_chars += len(line)
        if lines and (len(lines) >= LINE_LIMIT or size_chars > SIZE_LIMIT_CHARS):
            lines.append(f"; and {len(rdatas) - len(lines)} more records of {item.type}")
            break
        lines.append(line)
    return tuple(lines)


def _text(kind: RecordType, rdata: bytes) -> str:
    return dns.rdata.from_wire(dns.rdataclass.IN, dns.rdatatype.RdataType(kind.code), rdata, 0, len(rdata)).to_text()
