"""Markers become entries and entries markers again; at any moment one form or the other tells every claim."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, field

import pytest

from ownership.backends.protocol import LegacyDiscovery
from ownership.entry import Entry, claim
from ownership.error import (
    AmbiguousError,
    BackendError,
    ConflictError,
    FormatError,
    OwnershipError,
    UnavailableError,
)
from ownership.legacy import LegacyMarker, markers_of, migrate, plan_migration, plan_restoration, read_markers, restore
from ownership.marker import UnclearMarker
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.publish import Publisher
from ownership.state import read_state
from tests.ownership import golden
from tests.ownership.fake_zone import ZONE, FakeBackend, FakeZone, Fate, run, run_until
from tests.ownership.golden import marker
from zonemodel.name import Fqdn

PROD, TEST = OwnerID("prod"), OwnerID("test")
KINDS = [True, False]


def told(zone: FakeZone, owner: OwnerID = PROD) -> set[tuple[str, str]]:
    """The claims that readers of either form know of."""
    backend = FakeBackend(zone)
    snapshot = run(read_state(backend, (owner,))).snapshot_of(owner)
    entries = list(snapshot.entries) if snapshot is not None else []
    entries += [each.claim for each in all_markers(zone) if each.owner == owner and isinstance(each.claim, Entry)]
    return {(entry.name, entry.value) for entry in entries}


def all_markers(zone: FakeZone) -> tuple[LegacyMarker, ...]:
    return read_markers(run(FakeBackend(zone).list_markers()))


def at(host: str) -> Fqdn:
    return Fqdn(f"_dnsweaver.{host}.{ZONE}")


OURS = {
    (at("www"), marker("prod", "A", "192.0.2.1")),
    (at("www"), marker("prod", "A", "192.0.2.2")),
    (at("*.apps"), marker("prod", "CNAME", "ingress.example.net", proxied="true")),
}
UNCLEAR = (at("old"), "heritage=dnsweaver,instance=prod")
FOREIGN = [
    (at("www"), marker("test", "A", "192.0.2.1")),
    (at("www"), "heritage=dnsweaver"),
    (at("www"), "heritage=dnsweaver-fork,instance=prod"),
    (at("spf"), "v=spf1 -all"),
]


def marked_zone() -> FakeZone:
    zone = FakeZone()
    for name, value in [*OURS, UNCLEAR, *FOREIGN]:
        zone.put(name, value.encode())
    return zone


def stored(zone: FakeZone) -> set[tuple[str, str]]:
    """What stands at names of markers."""
    names = [name for name in zone.texts if name.startswith("_dnsweaver.")]
    return {(name, value.decode()) for name in names for value in zone.texts[name]}


@pytest.mark.parametrize("enumerates", KINDS)
def test_exactly_the_owners_markers_are_moved(enumerates: bool) -> None:
    zone = marked_zone()
    done = run(migrate(FakeBackend(zone, enumerates), PROD, all_markers(zone)))
    assert (done.deleted, done.left) == (3, "")
    assert [each.text.name for each in done.migration.unclear] == [UNCLEAR[0]]
    assert stored(zone) == {UNCLEAR, *FOREIGN}
    assert told(zone) == OURS


def test_a_second_migration_finds_nothing_to_do() -> None:
    zone = marked_zone()
    run(migrate(FakeBackend(zone), PROD, all_markers(zone)))
    before = zone.copy()
    done = run(migrate(FakeBackend(zone), PROD, all_markers(zone)))
    assert (done.deleted, done.migration.moved) == (0, ())
    assert zone.texts == before.texts


def test_planning_writes_nothing() -> None:
    zone = marked_zone()
    before = zone.copy()
    plan = plan_migration(all_markers(zone), PROD)
    assert len(plan.moved) == 3
    assert [each.claim for each in plan.unclear] == [UnclearMarker(PROD, "it tells no record")]
    assert zone.texts == before.texts


def test_the_owner_of_old_has_its_own_markers() -> None:
    zone = marked_zone()
    zone.put(at("legacy"), marker("", "A", "192.0.2.9").encode())
    done = run(migrate(FakeBackend(zone), OwnerID(""), all_markers(zone)))
    assert [each.text.name for each in done.migration.moved] == [at("legacy")]
    assert [each.text.value for each in done.migration.unclear] == [b"heritage=dnsweaver"]
    assert told(zone, OwnerID("")) == {(at("legacy"), marker("", "A", "192.0.2.9"))}
    assert told(zone) == OURS


@pytest.mark.parametrize("enumerates", KINDS)
def test_a_migration_cut_off_at_every_await_loses_no_claim(enumerates: bool) -> None:
    turns, ended = 0, False
    while not ended:
        zone = marked_zone()
        work = migrate(FakeBackend(zone, enumerates), PROD, all_markers(zone))
        ended = run_until(work, turns)
        work.close()
        assert told(zone) == OURS
        run(migrate(FakeBackend(zone, enumerates), PROD, all_markers(zone)))
        assert told(zone) == OURS
        assert stored(zone) == {UNCLEAR, *FOREIGN}
        turns += 1
    assert turns > 20


@pytest.mark.parametrize("fate", [Fate.LOST, Fate.UNSENT])
def test_a_migration_without_answers_loses_no_claim(fate: Fate) -> None:
    number = 0
    while True:
        zone = marked_zone()
        markers = all_markers(zone)
        zone.calls, wanted = 0, number
        backend = FakeBackend(zone, fate=lambda call, wanted=wanted: fate if call == wanted else Fate.DONE)  # type: ignore[misc]
        try:
            done = run(migrate(backend, PROD, markers))
        except BackendError:
            pass
        else:
            assert not done.left or stored(zone) >= {UNCLEAR, *FOREIGN}
        assert told(zone) == OURS
        if zone.calls <= number:
            break
        number += 1
    assert number > 10


def test_no_marker_is_deleted_while_anything_in_the_zone_is_ambiguous() -> None:
    zone = marked_zone()
    zone.put(golden.state_at("test"), golden.manifest("test", 1, b"", [golden.ONE_PAGE], 1))
    done = run(migrate(FakeBackend(zone), PROD, all_markers(zone)))
    assert "InvalidPages" in done.left
    assert stored(zone) == {*OURS, UNCLEAR, *FOREIGN}


def test_markers_that_cannot_be_read_stay() -> None:
    zone = FakeZone()
    odd = marker("prod", "A", "192.0.2.1").encode() + b",note=\xff"
    zone.put(at("www"), odd)
    zone.put("_dnsweaver.under score.example.com", marker("prod", "A", "192.0.2.1").encode())
    done = run(migrate(FakeBackend(zone), PROD, all_markers(zone)))
    assert done.migration.moved == ()
    assert [
        "UTF-8" in each.claim.reason for each in done.migration.unclear if isinstance(each.claim, UnclearMarker)
    ] == [
        False,
        True,
    ]
    assert odd in zone.texts[at("www")]


def test_the_markers_of_some_names_are_read_one_by_one() -> None:
    zone = marked_zone()
    too_long = Fqdn(".".join(["a" * 60] * 4) + f".{ZONE}"[:12])
    found = run(markers_of(FakeBackend(zone, False), [Fqdn(f"www.{ZONE}"), too_long, Fqdn(f"www.{ZONE}")]))
    assert sorted(each.owner for each in found) == ["", "prod", "prod", "test"]


def migrated_zone(enumerates: bool = True) -> FakeZone:
    zone = marked_zone()
    run(migrate(FakeBackend(zone, enumerates), PROD, all_markers(zone)))
    run(
        Publisher(FakeBackend(zone, enumerates), TEST).publish(
            [claim(TEST, Fqdn(f"t.{ZONE}"), Member(MemberType.A, "x"))]
        )
    )
    return zone


@pytest.mark.parametrize("enumerates", KINDS)
def test_restoring_brings_every_marker_back_and_removes_the_snapshot(enumerates: bool) -> None:
    zone = migrated_zone(enumerates)
    others = told(zone, TEST)
    seen: list[tuple[str, int, int]] = []
    done = run(restore(FakeBackend(zone, enumerates), PROD, lambda *step: seen.append(step)))
    assert (len(done.entries), done.left) == (3, "")
    assert seen[-1] == ("markers written", 3, 3)
    assert stored(zone) == {*OURS, UNCLEAR, *FOREIGN}
    assert set(run(read_state(FakeBackend(zone, enumerates), (PROD, TEST))).owners) == {TEST}
    assert told(zone, TEST) == others
    assert len([name for name in zone.names() if name.startswith("_dw-p.")]) == 1
    assert run(restore(FakeBackend(zone, enumerates), PROD)).entries == ()


@pytest.mark.parametrize("enumerates", KINDS)
def test_a_restoration_cut_off_at_every_await_loses_no_claim(enumerates: bool) -> None:
    origin = migrated_zone(enumerates)
    turns, ended = 0, False
    while not ended:
        zone = origin.copy()
        work = restore(FakeBackend(zone, enumerates), PROD)
        ended = run_until(work, turns)
        work.close()
        assert told(zone) == OURS
        run(restore(FakeBackend(zone, enumerates), PROD))
        assert told(zone) == OURS
        assert stored(zone) == {*OURS, UNCLEAR, *FOREIGN}
        assert set(run(read_state(FakeBackend(zone, enumerates), (PROD,))).owners) == {TEST}
        turns += 1
    assert turns > 40


def test_the_compact_state_stays_until_every_marker_is_read_back() -> None:
    zone = migrated_zone()
    before = zone.copy()
    zone.calls = 0
    backend = FakeBackend(zone, fate=lambda call: Fate.UNSENT if call > 8 else Fate.DONE)
    with pytest.raises(BackendError):
        run(restore(backend, PROD))
    assert zone.texts[Fqdn(golden.state_at("prod"))] == before.texts[Fqdn(golden.state_at("prod"))]
    assert told(zone) == OURS


def test_an_ambiguous_zone_is_not_restored() -> None:
    zone = migrated_zone()
    zone.put(golden.state_at("test"), golden.manifest("test", 7, golden.ONE, [], 0))
    before = zone.copy()
    with pytest.raises(AmbiguousError, match="RevisionGap"):
        run(restore(FakeBackend(zone), PROD))
    assert zone.texts == before.texts


def test_a_claim_whose_marker_has_no_room_keeps_the_snapshot() -> None:
    zone = FakeZone()
    long = Fqdn(".".join(["a" * 60] * 3 + ["b" * 50]) + f".{ZONE}")
    entry = claim(PROD, long, Member(MemberType.A, "192.0.2.1"))
    run(Publisher(FakeBackend(zone), PROD).publish([entry]))
    state = run(read_state(FakeBackend(zone), (PROD,)))
    with pytest.raises(FormatError, match="no room for a marker"):
        plan_restoration(state, PROD)


@dataclass
class Catalogued(FakeBackend):
    """A backend whose readers find markers through a catalogue."""

    catalogue: set[str] = field(default_factory=set)
    broken: bool = False

    async def restore_legacy_discovery(self, entries: Collection[Entry]) -> None:
        if self.broken:
            raise UnavailableError("the catalogue cannot be written")
        self.catalogue |= {entry.name for entry in entries}


def test_discovery_is_restored_before_the_compact_state_goes() -> None:
    zone = migrated_zone()
    backend = Catalogued(zone, broken=True)
    assert isinstance(backend, LegacyDiscovery)
    assert not isinstance(FakeBackend(zone), LegacyDiscovery)
    with pytest.raises(UnavailableError, match="catalogue"):
        run(restore(backend, PROD))
    assert zone.texts[Fqdn(golden.state_at("prod"))]
    backend.broken = False
    assert run(restore(backend, PROD)).left == ""
    assert backend.catalogue == {name for name, _ in OURS}


def test_markers_stay_when_the_snapshot_loses_their_claims_again() -> None:
    """Another replica withdraws one of them at some await."""
    kept, turns, ended = 0, 0, False
    rest = [each.claim for each in plan_migration(all_markers(marked_zone()), PROD).moved[1:]]
    while not ended:
        zone = marked_zone()
        work = migrate(FakeBackend(zone), PROD, all_markers(zone))
        ended = run_until(work, turns)
        run(Publisher(FakeBackend(zone), PROD).publish(each for each in rest if isinstance(each, Entry)))
        if not ended:
            try:
                done = run(work)
            except OwnershipError:
                assert told(zone) == OURS
            else:
                if "lost claims" in done.left:
                    kept += 1
                    assert stored(zone) == {*OURS, UNCLEAR, *FOREIGN}
        work.close()
        turns += 1
    assert kept


def test_the_snapshot_stays_when_somebody_deletes_a_marker_again() -> None:
    name, value = min(OURS)
    noticed, turns, ended = 0, 0, False
    while not ended:
        zone = migrated_zone()
        work = restore(FakeBackend(zone), PROD)
        ended = run_until(work, turns)
        whole = len(stored(zone) & OURS) == len(OURS)
        zone.texts[name].discard(value.encode())
        if not ended:
            try:
                run(work)
            except ConflictError:
                noticed += whole
                assert told(zone) == OURS
            except OwnershipError:
                pass
        work.close()
        turns += 1
    assert noticed


def test_what_is_claimed_again_during_a_restoration_is_not_lost_with_the_snapshot() -> None:
    """At whichever await a replica claims it."""
    extra = claim(PROD, Fqdn(f"extra.{ZONE}"), Member(MemberType.A, "192.0.2.1"))
    left, turns, ended = 0, 0, False
    while not ended:
        zone = migrated_zone()
        work = restore(FakeBackend(zone), PROD)
        ended = run_until(work, turns)
        run(Publisher(FakeBackend(zone), PROD).claim([extra]))
        if not ended:
            with contextlib.suppress(OwnershipError):
                left += "claims again" in run(work).left
        work.close()
        assert told(zone) == {*OURS, (extra.name, extra.value)}
        turns += 2
    assert left


def test_the_last_manifest_stays_once_the_zone_is_ambiguous() -> None:
    left, turns, ended = 0, 0, False
    while not ended:
        zone = migrated_zone()
        work = restore(FakeBackend(zone), PROD)
        ended = run_until(work, turns)
        zone.put(golden.state_at("third"), golden.manifest("third", 7, golden.ONE, [golden.ONE_PAGE], 1))
        if not ended:
            with contextlib.suppress(OwnershipError):
                left += "or nothing may be deleted" in run(work).left
        work.close()
        assert told(zone) == OURS
        turns += 2
    assert left


def test_the_empty_snapshot_stays_as_long_as_one_before_it_does() -> None:
    left, number = 0, 0
    while True:
        zone = migrated_zone()
        zone.calls = 0
        backend = FakeBackend(zone, fate=lambda call, at=number: Fate.UNSENT if call == at else Fate.DONE)  # type: ignore[misc]
        with contextlib.suppress(OwnershipError):
            left += bool(run(restore(backend, PROD)).left)
            held = run(read_state(FakeBackend(zone), (PROD,))).owners.get(PROD)
            assert held is None or held.snapshot.entries == ()
        if zone.calls <= number:
            break
        number += 1
    assert left > 1
