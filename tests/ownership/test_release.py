"""An owner ends: what it claims is nobody's or another's then, and nothing that it does not claim is touched."""

from __future__ import annotations

import contextlib

import pytest

from ownership.entry import Entry, claim
from ownership.error import AmbiguousError, BackendError, FormatError, OwnershipError, UnknownOwnerError
from ownership.legacy import read_markers
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, owner_state_name
from ownership.publish import Publisher
from ownership.release import plan_release, rehearse_release, release
from ownership.state import read_state
from tests.ownership import golden
from tests.ownership.fake_zone import ZONE, FakeBackend, FakeZone, Fate, run, run_until
from tests.ownership.golden import marker
from tests.ownership.test_legacy import all_markers, told
from zonemodel.name import Fqdn

OLD, NEW, OTHER = OwnerID("old"), OwnerID("new"), OwnerID("other")
OUTSIDE = {("_dnsweaver.www.example.com", "heritage=dnsweaver,instance=old"), ("_dnsweaver.spf.example.com", "v=spf1")}
KINDS = [True, False]


def a(owner: OwnerID, host: str, address: str = "192.0.2.1") -> Entry:
    return claim(owner, Fqdn(f"{host}.{ZONE}"), Member(MemberType.A, address), {"note": "kept"})


def a_zone(enumerates: bool = True) -> FakeZone:
    """The old owner claims two records by its snapshot and one by a marker; others claim one of them, too."""
    zone = FakeZone()
    for owner, hosts in ((OLD, ("www", "api")), (OTHER, ("www",)), (NEW, ("api", "own"))):
        run(Publisher(FakeBackend(zone, enumerates), owner).publish(a(owner, host) for host in hosts))
    marked = a(OLD, "marked")
    zone.put(marked.name, marked.value.encode(), marker("other", "A", "192.0.2.9").encode())
    for name, value in OUTSIDE:
        zone.put(name, value.encode())
    return zone


def held(zone: FakeZone, owner: OwnerID) -> set[str]:
    return {name.removeprefix("_dnsweaver.").removesuffix(f".{ZONE}") for name, _ in told(zone, owner)}


def is_untouched(zone: FakeZone) -> bool:
    return held(zone, OTHER) == {"www", "marked"} and all(
        value.encode() in zone.texts[Fqdn(name)] for name, value in OUTSIDE
    )


@pytest.mark.parametrize("enumerates", KINDS)
def test_an_owner_that_ends_claims_nothing_and_others_claim_what_they_did(enumerates: bool) -> None:
    zone = a_zone(enumerates)
    before = held(zone, NEW)
    done = run(release(FakeBackend(zone, enumerates), OLD, all_markers(zone)))
    assert (done.deleted, done.left) == (1, "")
    assert ([entry.fqdn for entry in done.release.entries], len(done.release.unclear)) == (
        [f"api.{ZONE}", f"www.{ZONE}"],
        1,
    )
    assert held(zone, OLD) == set()
    assert held(zone, NEW) == before
    assert is_untouched(zone)
    state = run(read_state(FakeBackend(zone, enumerates), (OLD,)))
    assert state.owners[OLD].chain.selected.manifest.revision == 2, "its history goes on, empty"
    assert len([name for name in zone.names() if name.startswith("_dw-p.")]) == 2, "its page is gone"
    assert run(release(FakeBackend(zone, enumerates), OLD, all_markers(zone))).release.claims == ()


@pytest.mark.parametrize(("enumerates", "step"), [(True, 2), (False, 3)])
def test_claims_that_change_hands_are_never_nobodys(enumerates: bool, step: int) -> None:
    """Cut off at some await and started again."""
    turns, ended = 0, False
    everything = {"www", "api", "marked"}
    while not ended:
        zone = a_zone(enumerates)
        work = release(FakeBackend(zone, enumerates), OLD, all_markers(zone), NEW)
        ended = run_until(work, turns)
        work.close()
        assert held(zone, OLD) | held(zone, NEW) >= everything
        assert is_untouched(zone)
        run(release(FakeBackend(zone, enumerates), OLD, all_markers(zone), NEW))
        assert (held(zone, OLD), held(zone, NEW)) == (set(), everything | {"own"})
        assert is_untouched(zone)
        turns += step
    assert turns > 60
    snapshot = run(read_state(FakeBackend(zone, enumerates), (NEW,))).owners[NEW].snapshot
    assert len(snapshot.entries) == 4, "what the heir claimed before is claimed once"
    assert {entry.marker.metadata for entry in snapshot.entries} == {(("note", "kept"),)}


@pytest.mark.parametrize("fate", [Fate.LOST, Fate.UNSENT])
def test_claims_that_change_hands_without_answers_are_never_nobodys(fate: Fate) -> None:
    number = 0
    while True:
        zone = a_zone()
        markers = all_markers(zone)
        zone.calls = 0
        backend = FakeBackend(zone, fate=lambda call, at=number: fate if call == at else Fate.DONE)  # type: ignore[misc]
        with contextlib.suppress(BackendError):
            run(release(backend, OLD, markers, NEW))
        calls = zone.calls
        assert held(zone, OLD) | held(zone, NEW) >= {"www", "api", "marked"}
        assert is_untouched(zone)
        if calls <= number:
            break
        number += 1
    assert number > 30


def test_an_heir_that_loses_the_claims_again_inherits_nothing() -> None:
    kept, turns, ended = 0, 0, False
    while not ended:
        zone = a_zone()
        work = release(FakeBackend(zone), OLD, all_markers(zone), NEW)
        ended = run_until(work, turns)
        had = held(zone, OLD)
        run(Publisher(FakeBackend(zone), NEW).publish([]))
        if not ended:
            try:
                done = run(work)
            except OwnershipError:
                assert held(zone, OLD) == had
            else:
                if "lost claims" in done.left:
                    kept += 1
                    assert held(zone, OLD) == had
        work.close()
        turns += 1
    assert kept


def test_nothing_ends_while_anything_in_the_zone_is_ambiguous() -> None:
    zone = a_zone()
    zone.put(golden.state_at("prod"), golden.manifest("prod", 1, b"", [golden.ONE_PAGE], 1))
    before = zone.copy()
    for to in (None, NEW):
        with pytest.raises(AmbiguousError, match="InvalidPages"):
            run(release(FakeBackend(zone), OLD, all_markers(zone), to))
    assert zone.texts == before.texts


def test_a_name_of_nobody_is_no_success() -> None:
    zone = a_zone()
    before = zone.copy()
    with pytest.raises(UnknownOwnerError, match="nothing of the owner 'odl', but of 'new', 'old', 'other'"):
        run(release(FakeBackend(zone), OwnerID("odl"), all_markers(zone)))
    with pytest.raises(FormatError, match="'old' twice"):
        run(release(FakeBackend(zone), OLD, all_markers(zone), OLD))
    with pytest.raises(UnknownOwnerError, match="but of none"):
        plan_release(run(read_state(FakeBackend())), read_markers(()), OLD)
    assert zone.texts == before.texts


def test_a_rehearsal_looks_at_the_heir_too() -> None:
    zone = a_zone(enumerates=False)
    zone.put(owner_state_name(ZONE, NEW), b"no manifest")
    backend = FakeBackend(zone, enumerates=False)
    assert len(run(rehearse_release(backend, OLD, all_markers(zone))).claims) == 3
    for work in (rehearse_release, release):
        with pytest.raises(AmbiguousError, match="InvalidManifest"):
            run(work(backend, OLD, all_markers(zone), NEW))
