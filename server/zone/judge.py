"""Whether a zone's content can be served at all.

Owns the rules that RFCs set for a zone as a whole. Never reads a source; whoever does says where the content came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import dns.name
import dns.rdatatype

from server import rdtype
from server.zone.index import Sets, ZoneIndex
from zonemodel.name import WireName, is_within
from zonemodel.rrset import ZoneData

Rule = Callable[[ZoneIndex, WireName, Sets], str | None]

_BESIDE_CNAME: Final = frozenset({rdtype.CNAME, rdtype.RRSIG, rdtype.NSEC})
_SINGLE: Final = (rdtype.SOA, rdtype.CNAME, rdtype.DNAME)
_MESSAGE_BYTES: Final = 65535
_BESIDE_ANSWER_BYTES: Final = 12 + 255 + 4 + 11
"""Header, longest question and OPT record."""
_RECORD_BYTES: Final = 12
"""A record beside its data, its owner compressed."""


def object_to_zone(zone: ZoneData) -> str | None:
    """Say why a zone cannot be served, naming the record set, or None when it can."""
    for rrset in zone.rrsets:
        if not is_within(rrset.owner, zone.origin):
            return f"{_text(rrset.owner)} lies outside the zone {_text(zone.origin)}"
    return object_to_index(ZoneIndex.of(zone))


def object_to_index(index: ZoneIndex) -> str | None:
    """Like `object_to_zone`, for content whose owners are known to lie inside the zone."""
    if rdtype.SOA not in index.at(index.origin):
        return f"the zone {_text(index.origin)} has no SOA record at its apex (RFC 1035 section 5.2)"
    return next(_objections(index, index.sets), None)


def _objections(index: ZoneIndex, sets: Mapping[WireName, Sets]) -> Iterator[str]:
    for owner, found in sets.items():
        for rule in _RULES:
            if objection := rule(index, owner, found):
                yield objection


def _alone_where_alias(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    """RFC 2181 section 10.1."""
    if rdtype.CNAME not in found:
        return None
    others = sorted(found.keys() - _BESIDE_CNAME)
    if not others:
        return None
    return (
        f"{_text(owner)} has a CNAME record beside {_type(others[0])}, allowed is nothing else (RFC 2181 section 10.1)"
    )


def _single(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    for type_ in _SINGLE:
        if type_ in found and len(found[type_].rdatas) > 1:
            return f"{_text(owner)} has {len(found[type_].rdatas)} {_type(type_)} records, allowed is one"
    return None


def _nothing_below_dname(index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    """RFC 6672 section 2.4."""
    if not index.barriers or not found.keys() - {rdtype.NSEC3, rdtype.RRSIG}:
        return None
    for above in index.ancestors(owner):
        if rdtype.DNAME in index.at(above):
            return f"{_text(owner)} stands below the DNAME record of {_text(above)}, allowed is nothing (RFC 6672 section 2.4)"
    return None


def _fits_a_message(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    most_bytes = _MESSAGE_BYTES - _BESIDE_ANSWER_BYTES
    for type_, rrset in found.items():
        size = sum(len(rdata) + _RECORD_BYTES for rdata in rrset.rdatas)
        if size > most_bytes:
            return f"{_text(owner)} {_type(type_)} takes {size} octets in a message, allowed are {most_bytes}"
    return None


_RULES: Final[tuple[Rule, ...]] = (_alone_where_alias, _single, _nothing_below_dname, _fits_a_message)


def _text(name: WireName) -> str:
    return dns.name.from_wire(name, 0)[0].to_text()


def _type(type_: int) -> str:
    return dns.rdatatype.to_text(dns.rdatatype.RdataType.make(type_))
