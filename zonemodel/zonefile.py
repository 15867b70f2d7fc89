"""Master files (RFC 1035 section 5): a whole zone read from one, and written as one.

Owns what makes records a zone: one SOA, nothing outside, one TTL and no duplicates in a set; what can be put right is, with a warning.
Never serves or judges content.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from zonemodel.name import WireName, is_within, wire_labels
from zonemodel.rare_type import write_data
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zone_error import Place, ZoneFileError
from zonemodel.zone_reader import Record, ZoneReader, parse_origin, read_file

__all__ = ["ZoneFileError", "parse_zone_text", "read_zone_file", "write_zone_file"]

_SOA: Final = 6
_NS: Final = 2
_RRSIG: Final = 46
_SINGLE: Final = {_SOA: "SOA", 5: "CNAME", 39: "DNAME"}


def read_zone_file(path: Path, origin: str | None) -> ZoneData:
    """Return the zone of a master file.

    `origin` is the zone's apex; without it the SOA's owner is. $INCLUDE is relative to the file that holds it.
    Raises ZoneFileError, which names file, line, what was found and what is allowed.
    """
    return _read(read_file(path, str(path)), origin, str(path), path.parent)


def parse_zone_text(text: str, origin: str | None, source_name: str) -> ZoneData:
    """Like `read_zone_file`, for text that errors call `source_name`; $INCLUDE is refused."""
    return _read(text, origin, source_name, None)


@dataclass(slots=True)
class _Set:
    """A set while it grows; `rdatas` maps the canonical form to the form first written."""

    ttl_s: int
    place: Place
    rdatas: dict[bytes, bytes] = field(default_factory=dict)


def _read(text: str, origin: str | None, name: str, folder: Path | None) -> ZoneData:
    apex = None if origin is None else parse_origin(origin, Place(name, 1))
    sets: dict[tuple[WireName, int], _Set] = {}
    warnings: list[str] = []
    for record in ZoneReader(text, name, apex, folder).records():
        _add(sets, record, warnings)
    wire_apex = _apex(sets, None if apex is None else WireName(apex.to_digestable()), Place(name, text.count("\n") + 1))
    left_out = _leave_out_what_is_outside(sets, wire_apex, warnings)
    rrsets = (
        RRset(owner, rdtype, each.ttl_s, tuple(each.rdatas[key] for key in sorted(each.rdatas)))
        for (owner, rdtype), each in sets.items()
    )
    return ZoneData(wire_apex, tuple(rrsets), tuple(warnings), left_out)


def _add(sets: dict[tuple[WireName, int], _Set], record: Record, warnings: list[str]) -> None:
    found = sets.get((record.owner, record.rdtype))
    if found is None:
        found = sets[record.owner, record.rdtype] = _Set(record.ttl_s, record.place)
    elif record.canonical not in found.rdatas and (kind := _SINGLE.get(record.rdtype)) is not None:
        first = f"the first is at {found.place}"
        raise record.place.error(f"found a second {kind} record at {_text(record.owner)}, allowed is one; {first}")
    found.rdatas.setdefault(record.canonical, record.rdata)
    if record.ttl_s == found.ttl_s:
        return
    lowest_s = min(record.ttl_s, found.ttl_s)
    if record.rdtype != _RRSIG:  # each signature has the TTL of the set that it covers (RFC 4034 section 3)
        kind = dns.rdatatype.to_text(dns.rdatatype.RdataType.make(record.rdtype))
        which = f"{_text(record.owner)} {kind}"
        warnings.append(
            f"{record.place}: {which} has the TTLs {found.ttl_s} and {record.ttl_s}, taking {lowest_s} (RFC 2181 section 5.2)"
        )
    found.ttl_s = lowest_s


def _apex(sets: dict[tuple[WireName, int], _Set], given: WireName | None, end: Place) -> WireName:
    """Return the owner of the one SOA."""
    owners = [(owner, found.place) for (owner, rdtype), found in sets.items() if rdtype == _SOA]
    if not owners:
        raise end.error("found no SOA record up to the end, exactly one is needed (RFC 1035 section 5.2)")
    (owner, first), *others = owners
    if others:
        which = f"the first is at {first}"
        raise others[0][1].error(f"found a second SOA record at {_text(others[0][0])}, allowed is one; {which}")
    if given is not None and owner != given:
        raise first.error(f"found the SOA record at {_text(owner)}, allowed is the origin given: {_text(given)}")
    return owner


def _leave_out_what_is_outside(sets: dict[tuple[WireName, int], _Set], apex: WireName, warnings: list[str]) -> int:
    """Return how many sets there were."""
    outside = [key for key in sets if not is_within(key[0], apex)]
    if outside:
        others = f" and {len(outside) - 1} more record sets" if len(outside) > 1 else ""
        what = f"left out {_text(outside[0][0])}{others}, outside the zone {_text(apex)}"
        warnings.append(f"{sets[outside[0]].place}: {what} (RFC 1035 section 5.2)")
    for key in outside:
        del sets[key]
    return len(outside)


def write_zone_file(zone: ZoneData) -> str:
    """Return the zone as a master file that `parse_zone_text` reads back as the same sets.

    Names are sorted as RFC 4034 section 6.1 has it, below each the SOA, the NS set and then the other types by number.
    Raises ValueError for rdata that no text can carry.
    """
    lines = [f"$ORIGIN {_text(zone.origin)}"]
    apex = dns.name.from_wire(zone.origin, 0)[0]
    for rrset in sorted(zone.rrsets, key=_file_order):
        owner = dns.name.from_wire(rrset.owner, 0)[0].relativize(apex).to_text()
        rdtype = dns.rdatatype.RdataType.make(rrset.rdtype)
        kind = dns.rdatatype.to_text(rdtype)
        lines += (f"{owner} {rrset.ttl_s} IN {kind} {_rdata_text(rdtype, rdata)}" for rdata in sorted(rrset.rdatas))
    return "\n".join(lines) + "\n"


def _file_order(rrset: RRset) -> tuple[list[bytes], int, int]:
    rank = {_SOA: 0, _NS: 1}.get(rrset.rdtype, 2)
    return wire_labels(rrset.owner)[::-1], rank, rrset.rdtype


def _rdata_text(rdtype: dns.rdatatype.RdataType, wire: bytes) -> str:
    """Prefer the type's own form, but take the generic one where the own form does not bring the same octets back."""
    try:
        if (own := write_data(rdtype, wire)) is not None:
            return own
        text = dns.rdata.from_wire(dns.rdataclass.IN, rdtype, wire, 0, len(wire)).to_text()
        if dns.rdata.from_text(dns.rdataclass.IN, rdtype, text, relativize=False).to_wire() == wire:
            return text
    except dns.exception.DNSException:
        pass
    generic = f"\\# {len(wire)} {wire.hex()}".rstrip()
    try:
        dns.rdata.from_text(dns.rdataclass.IN, rdtype, generic)
    except dns.exception.DNSException as error:
        kind = dns.rdatatype.to_text(rdtype)
        raise ValueError(f"the octets {wire.hex()} are no {kind} record data: {error}") from error
    return generic


def _text(name: WireName) -> str:
    return dns.name.from_wire(name, 0)[0].to_text()
