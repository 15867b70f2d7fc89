"""A master file as the rules see it: all records with their places, arranged as the server arranges a zone.

Owns reading past what only the server refuses, so that one run tells all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from server import rdtype
from server.zone.index import ZoneIndex
from server.zone.lookup import resolve, sets_for
from zonemodel.name import WireName, is_within
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zone_error import Place, ZoneFileError
from zonemodel.zone_reader import Record, ZoneReader, parse_origin, read_file

SetKey = tuple[WireName, int]


@dataclass(frozen=True, slots=True)
class Content:
    """`sets` are in the order of the file, and their records too; `index` holds what lies within the apex `origin`."""

    origin: WireName
    sets: Mapping[SetKey, tuple[Record, ...]]
    index: ZoneIndex

    def of_type(self, *types: int) -> Iterator[Record]:
        """Yield the records of some types."""
        for (_, kind), records in self.sets.items():
            if kind in types:
                yield from records

    def holds(self, name: WireName) -> bool:
        """Say whether the name lies in the zone and in no child of it."""
        return is_within(name, self.origin) and not self.is_delegated(name)

    def is_delegated(self, name: WireName) -> bool:
        """Say whether a child zone has the name."""
        return self.index.is_cut(name) or self.index.barrier_above(name) is not None

    def has_address(self, name: WireName) -> bool:
        """Say whether a question for an address of a name of the zone is answered with one, or with glue."""
        for kind in (rdtype.A, rdtype.AAAA):
            if kind in sets_for(self.index, name):
                return True
            if not self.is_delegated(name) and any(
                each.rdtype == kind for each in resolve(self.index, name, kind).answer
            ):
                return True
        return False


def read_content(path: Path, origin: str | None) -> Content:
    """Return the content of a file; raises ZoneFileError where it cannot be read on, or has no SOA to tell what it is about."""
    text = read_file(path, str(path))
    given = None if origin is None else parse_origin(origin, Place(str(path), 1))
    sets: dict[SetKey, list[Record]] = {}
    for record in ZoneReader(text, str(path), given, path.parent).records():
        sets.setdefault((record.owner, record.rdtype), []).append(record)
    apex = _apex(
        sets, None if given is None else WireName(given.to_digestable()), Place(str(path), text.count("\n") + 1)
    )
    within = tuple(_rrset(records) for (owner, _), records in sets.items() if is_within(owner, apex))
    return Content(apex, {key: tuple(records) for key, records in sets.items()}, ZoneIndex.of(ZoneData(apex, within)))


def _apex(sets: Mapping[SetKey, list[Record]], given: WireName | None, end: Place) -> WireName:
    if given is not None:
        return given
    owner = next((owner for owner, kind in sets if kind == rdtype.SOA), None)
    if owner is None:
        raise ZoneFileError(
            end.file, end.line, "found no SOA record up to the end, exactly one is needed (RFC 1035 section 5.2)"
        )
    return owner


def _rrset(records: list[Record]) -> RRset:
    """Return what the server makes of the records of one set."""
    first = records[0]
    rdatas = {record.canonical: record.rdata for record in reversed(records)}
    return RRset(first.owner, first.rdtype, min(record.ttl_s for record in records), tuple(rdatas.values()))
