"""The next version of a zone from what a primary sent, or from what was kept of it.

Owns nothing but the steps. Pure, and for large zones slow: the caller takes it off the event loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from server.text import name_text
from server.transfer.application import changes_of, rrsets_of
from server.transfer.archive import Archive
from server.transfer.difference import Difference, condense
from server.transfer.fingerprint import moved, zone_fingerprint
from server.transfer.journal import Entry
from server.transfer.record import Record
from server.transfer.serial import serial_of
from server.zone.compile import Zone, compile_zone
from server.zone.index import ZoneIndex
from server.zone.judge import judge_changes, judge_zone
from server.zone.recompile import recompile
from zonemodel.name import WireName, is_within
from zonemodel.rrset import ZoneData

log = structlog.get_logger(__name__)


def whole_zone(apex: WireName, records: list[Record]) -> Zone:
    """Compile a zone from its records; raises UnservableError. Records of other zones are left out, as if they had not come."""
    return compile_zone(_index(apex, records))


def stepped_zone(zone: Zone, differences: list[Difference]) -> Zone:
    """Compile the version that differences lead to; raises MismatchError or UnservableError, and the zone stays as it is."""
    changes = changes_of(zone.index, differences)
    after = zone.index.with_changes(changes)
    judge_changes(after, changes)
    return recompile(zone, after, changes)


@dataclass(frozen=True, slots=True)
class Kept:
    """A zone as the archive has it, and when it was last known to be what its primary has (Unix time)."""

    zone: Zone
    refreshed_s: float


def kept_zone(apex: WireName, archive: Archive) -> Kept | None:
    """Return the zone from its copy and the journal behind it, None when there is none; raises ValueError for a broken copy."""
    copy = archive.copy(apex)
    if copy is None:
        return None
    index = _index(apex, copy.records)
    if zone_fingerprint(index) != copy.fingerprint:
        raise ValueError("the copy does not have the fingerprint that it is stored under")
    differences = _behind_copy(archive.journal(apex), serial_of(index), copy.fingerprint)
    if differences:
        index = index.with_changes(changes_of(index, differences))
    return Kept(compile_zone(index), copy.refreshed_s)


def _index(apex: WireName, records: list[Record]) -> ZoneIndex:
    inside = [record for record in records if is_within(record.owner, apex)]
    if len(inside) < len(records):
        log.warning(
            "records outside of the zone are left out", zone=name_text(apex), records=len(records) - len(inside)
        )
    return judge_zone(ZoneData(apex, rrsets_of(inside)))


def _behind_copy(entries: list[Entry], serial: int, fingerprint: int) -> list[Difference]:
    """Return what a journal tells from this version on; nothing when it does not lead on from it without a gap."""
    starts = [number for number, entry in enumerate(entries) if entry.since == serial]
    for start in reversed(starts):
        following = entries[start:]
        differences = [entry.difference() for entry in following]
        if differences and moved(fingerprint, condense(differences)) == following[-1].fingerprint:
            return differences
    return []
