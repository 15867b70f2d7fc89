"""A difference applied to a version of a zone: what IXFR brings, and what a journal replays.

Owns the strictness: a record that goes must be there, one that comes must not be. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from server import rdtype
from server.text import name_text, type_text
from server.transfer.difference import Difference
from server.transfer.record import Record
from server.transfer.record_data import canonical
from server.transfer.serial import serial_of
from server.zone.index import Changes, ZoneIndex
from zonemodel.name import WireName
from zonemodel.rrset import RRset


class MismatchError(ValueError):
    """A difference that does not fit the version that it is applied to; the message says where."""


@dataclass(slots=True)
class _Set:
    """A set while it changes, by the canonical form of its data."""

    ttl_s: int | None
    rdatas: dict[bytes, bytes] = field(default_factory=dict)


def changes_of(index: ZoneIndex, difference: Difference) -> Changes:
    """Return what a difference does to a version; raises MismatchError."""
    if difference.since != serial_of(index):
        raise MismatchError(f"the difference starts from serial {difference.since}, the zone has {serial_of(index)}")
    sets: dict[tuple[WireName, int], _Set] = {}
    for record in difference.removed:
        found = _present(sets, index, record)
        if found.rdatas.pop(canonical(record.rdtype, record.rdata), None) is None:
            raise MismatchError(f"{_which(record)} is to go and is not there")
    for record in difference.added:
        found = _present(sets, index, record)
        form = canonical(record.rdtype, record.rdata)
        if form in found.rdatas:
            raise MismatchError(f"{_which(record)} is to come and is there already")
        found.ttl_s = record.ttl_s if found.ttl_s is None or not found.rdatas else min(found.ttl_s, record.ttl_s)
        found.rdatas[form] = record.rdata
    soa = difference.new_soa
    put = [RRset(soa.owner, rdtype.SOA, soa.ttl_s, (soa.rdata,))]
    put += (_rrset(*key, found) for key, found in sets.items() if found.rdatas)
    return Changes(tuple(put), tuple(key for key, found in sets.items() if not found.rdatas))


def rrsets_of(records: tuple[Record, ...] | list[Record]) -> tuple[RRset, ...]:
    """Return the sets of a whole zone's records: duplicates dropped, of several TTLs the lowest (RFC 2181 section 5.2)."""
    sets: defaultdict[tuple[WireName, int], _Set] = defaultdict(lambda: _Set(None))
    for record in records:
        found = sets[record.owner, record.rdtype]
        found.ttl_s = record.ttl_s if found.ttl_s is None else min(found.ttl_s, record.ttl_s)
        found.rdatas.setdefault(canonical(record.rdtype, record.rdata), record.rdata)
    return tuple(_rrset(*key, found) for key, found in sets.items())


def _present(sets: dict[tuple[WireName, int], _Set], index: ZoneIndex, record: Record) -> _Set:
    key = (record.owner, record.rdtype)
    found = sets.get(key)
    if found is None:
        if record.rdtype == rdtype.SOA:
            raise MismatchError("a SOA record stands among those that go or come")
        rrset = index.at(record.owner).get(record.rdtype)
        found = sets[key] = _Set(None if rrset is None else rrset.ttl_s)
        if rrset is not None:
            found.rdatas = {canonical(record.rdtype, rdata): rdata for rdata in rrset.rdatas}
    return found


def _rrset(owner: WireName, number: int, found: _Set) -> RRset:
    return RRset(owner, number, found.ttl_s or 0, tuple(found.rdatas[form] for form in sorted(found.rdatas)))


def _which(record: Record) -> str:
    return f"{name_text(record.owner)} {type_text(record.rdtype)}"
