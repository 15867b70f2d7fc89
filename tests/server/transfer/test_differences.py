"""Differences between versions, joined, applied, kept in a journal of bounded size."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from server import rdtype
from server.transfer.application import changes_of
from server.transfer.difference import (
    Difference,
    condense,
    decode_difference,
    difference_between,
    encode_difference,
)
from server.transfer.fingerprint import moved, zone_fingerprint
from server.transfer.journal import Entry, Journal
from server.transfer.record import Record, zone_records
from server.zone.index import ZoneIndex
from tests.server.zone_strategy import APEX, edited, rrsets, soa, zones
from zonemodel.rrset import RRset, ZoneData

edits = st.lists(rrsets(), min_size=1, max_size=6)


def versions_of(zone: ZoneData, found: list[RRset]) -> list[ZoneIndex]:
    """Versions with serials 1, 2, 3… that differ by one edit each."""
    versions = [with_serial(zone, 1)]
    for edit in found:
        if (later := edited(versions[-1], edit)) is not None:
            versions.append(with_serial(later, len(versions) + 1))
    return [ZoneIndex.of(each) for each in versions]


def with_serial(zone: ZoneData, serial: int) -> ZoneData:
    return ZoneData(APEX, (soa(serial), *(each for each in zone.rrsets if each.rdtype != rdtype.SOA)))


def steps_of(versions: list[ZoneIndex]) -> list[Difference]:
    return [difference_between(old, new) for old, new in itertools.pairwise(versions)]


def content(index: ZoneIndex) -> dict[tuple[bytes, int], tuple[int, tuple[bytes, ...]]]:
    return {
        (owner, kind): (rrset.ttl_s, tuple(sorted(rrset.rdatas)))
        for owner, sets in index.sets.items()
        for kind, rrset in sets.items()
    }


@given(zones, edits)
def test_differences_lead_from_each_version_to_the_last(zone: ZoneData, found: list[RRset]) -> None:
    versions = versions_of(zone, found)
    steps = steps_of(versions)
    for start in range(len(steps)):
        after = versions[start].with_changes(changes_of(versions[start], steps[start:]))
        assert content(after) == content(versions[-1])
        joined = condense(steps[start:])
        after = versions[start].with_changes(changes_of(versions[start], [joined]))
        assert content(after) == content(versions[-1])
        assert moved(zone_fingerprint(versions[start]), joined) == zone_fingerprint(versions[-1])
        assert not set(joined.removed) & set(joined.added)


@given(zones, edits)
def test_differences_come_back_from_storage(zone: ZoneData, found: list[RRset]) -> None:
    for step in steps_of(versions_of(zone, found)):
        assert decode_difference(encode_difference(step)) == step


@given(zones, edits)
def test_comparing_changed_owners_alone_finds_the_same(zone: ZoneData, found: list[RRset]) -> None:
    versions = versions_of(zone, found)
    for old, new in itertools.pairwise(versions):
        owners = {owner for owner in {*old.sets, *new.sets} if old.at(owner) != new.at(owner)}
        assert difference_between(old, new, owners) == difference_between(old, new)


def test_nothing_differs_between_a_version_and_itself() -> None:
    index = ZoneIndex.of(with_serial(ZoneData(APEX, ()), 1))
    assert difference_between(index, index).is_empty


def test_a_signature_has_the_ttl_of_the_set_it_covers_and_changes_with_it() -> None:
    signature = rdtype.A.to_bytes(2, "big") + bytes(16) + APEX + b"sig"

    def signed(ttl_s: int) -> ZoneIndex:
        sets = (RRset(APEX, rdtype.A, ttl_s, (bytes(4),)), RRset(APEX, rdtype.RRSIG, 60, (signature,)))
        return ZoneIndex.of(ZoneData(APEX, (soa(ttl_s), *sets)))

    old, new = signed(300), signed(600)
    assert Record(APEX, rdtype.RRSIG, 300, signature) in list(zone_records(old))
    difference = difference_between(old, new)
    assert [record.ttl_s for record in difference.removed] == [300, 300]
    assert [record.ttl_s for record in difference.added] == [600, 600]


def entry(since: int, until: int, octets: int = 10) -> Entry:
    return Entry(since, until, bytes(octets), until)


def test_a_journal_tells_each_version_the_way_to_the_last() -> None:
    journal = Journal([entry(1, 2), entry(2, 5), entry(5, 6)])
    assert [each.until for each in journal.since(2) or ()] == [5, 6]
    assert [each.until for each in journal.since(1) or ()] == [2, 5, 6]
    assert journal.since(3) is None
    assert journal.since(6) is None
    assert journal.until == 6


def test_a_journal_forgets_the_oldest_first() -> None:
    journal = Journal((), limit_bytes=100)
    for serial in range(1, 30):
        journal.append(entry(serial, serial + 1, 25))
    assert [each.since for each in journal] == [26, 27, 28, 29]
    journal.append(entry(30, 31, 101))
    assert len(journal) == 0
    assert journal.until is None


def test_a_journal_has_no_gaps() -> None:
    journal = Journal([entry(1, 2), entry(3, 4)])
    assert [each.since for each in journal] == [3]
