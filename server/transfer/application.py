"""A difference applied to a version of a zone: what IXFR brings, and what a journal replays.

Owns the strictness: each difference starts where the one before ended, and a record that goes must be there. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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


def changes_of(index: ZoneIndex, differences: Sequence[Difference]) -> Changes:
    """Return what differences that follow one another do to a version; raises MismatchError."""
    serial = serial_of(index)
    sets: dict[tuple[WireName, int], _Set] = {}
    for difference in differences:
        if difference.since != serial:
            raise MismatchError(f"a difference starts from serial {difference.since}, the zone has {serial}")
        serial = difference.until
        for record in difference.removed:
            _remove(_present(sets, index, record), record)
        for record in difference.added:
            _add(_present(sets, index, record), record)
    soa = differences[-1].new_soa
    put = [RRset(soa.owner, rdtype.SOA, soa.ttl_s, (soa.rdata,))]
    put += (_rrset(*key, found) for key, found in sets.items() if found.rdatas)
    return Changes(tuple(put), tuple(key for key, found in sets.items() if not found.rdatas))


def rrsets_of(records: Iterable[Record]) -> tuple[RRset, ...]:
    """Return the sets of a whole zone's records: duplicates dropped, of several TTLs the lowest (RFC 2181 section 5.2)."""
    sets: defaultdict[tuple[WireName, int], list[Record]] = defaultdict(list)
    for record in records:
        sets[record.owner, record.rdtype].append(record)
    return tuple(_joined(found) for found in sets.values())


def _joined(records: list[Record]) -> RRset:
    owner, number, ttl_s, rdata = records[0]
    if len(records) == 1:
        return RRset(owner, number, ttl_s, (rdata,))
    rdatas: dict[bytes, bytes] = {}
    for record in records:
        rdatas.setdefault(canonical(number, record.rdata), record.rdata)
    return _rrset(owner, number, _Set(min(record.ttl_s for record in records), rdatas))


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


def _remove(found: _Set, record: Record) -> None:
    if found.rdatas.pop(canonical(record.rdtype, record.rdata), None) is None:
        raise MismatchError(f"{_which(record)} is to go and is not there")


def _add(found: _Set, record: Record) -> None:
    """One that is there already stays: NSD 4.6 sends such records, and what is meant is clear."""
    found.ttl_s = min(found.ttl_s, record.ttl_s) if found.rdatas and found.ttl_s is not None else record.ttl_s
    found.rdatas.setdefault(canonical(record.rdtype, record.rdata), record.rdata)


def _rrset(owner: WireName, number: int, found: _Set) -> RRset:
    return RRset(owner, number, found.ttl_s or 0, tuple(found.rdatas[form] for form in sorted(found.rdatas)))


def _which(record: Record) -> str:
    return f"{name_text(record.owner)} {type_text(record.rdtype)}"
