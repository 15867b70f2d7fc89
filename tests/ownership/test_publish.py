"""The writer: cut off at every await, left without answers, and interleaved with other owners; no claim is ever lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ownership.entry import Entry, claim, sorted_entries
from ownership.error import AmbiguousError, BackendError, HistoryChangedError, OwnershipError, SnapshotTooLargeError
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, shared_state_name
from ownership.publish import Commit, Publisher
from ownership.state import StateFault, read_state
from tests.ownership import golden
from tests.ownership.fake_zone import ZONE, FakeBackend, FakeZone, Fate, run, run_until
from zonemodel.name import Fqdn

PROD, TEST = OwnerID("prod"), OwnerID("test")
SETTINGS = [(True, True), (False, True), (True, False)]
"""Enumerating or not, with conditional writes or without."""


def some(owner: OwnerID, numbers: Iterable[int]) -> tuple[Entry, ...]:
    """Claims that compress badly."""

    def one(number: int) -> Entry:
        return claim(owner, Fqdn(f"host-{number:03}.{ZONE}"), Member(MemberType.TXT, golden.sha(b"%d" % number)))

    return sorted_entries(map(one, numbers))


OLD, NEW = some(PROD, range(24)), some(PROD, range(12, 40))
THEIRS = some(TEST, range(6))
LIMIT = 820
"""So that there are several pages."""


def backend(
    zone: FakeZone, setting: tuple[bool, bool], fate: Callable[[int], Fate] = lambda _: Fate.DONE
) -> FakeBackend:
    zone.calls = 0
    return FakeBackend(zone, *setting, txt_value_bytes=LIMIT, fate=fate)


def held(zone: FakeZone, owner: OwnerID = PROD) -> tuple[Entry, ...]:
    """What a reader is told; fails where it is told nothing."""
    snapshot = run(read_state(FakeBackend(zone), (owner,))).snapshot_of(owner)
    assert snapshot is not None
    return snapshot.entries


def prepared(setting: tuple[bool, bool]) -> FakeZone:
    """A zone with an older snapshot of ours, not cleaned up, and one of somebody else."""
    zone = FakeZone()
    run(Publisher(backend(zone, setting), PROD).publish(some(PROD, range(10))))
    before = zone.copy()
    run(Publisher(backend(zone, setting), PROD).publish(OLD))
    for name, values in before.texts.items():
        zone.texts[name] |= values
    run(Publisher(backend(zone, setting), TEST).publish(THEIRS))
    return zone


def expect_tidy(zone: FakeZone, owners: int = 2) -> None:
    """Nothing is there but one manifest for each owner and the pages that they name."""
    state = run(read_state(FakeBackend(zone)))
    assert not state.faults
    assert len(state.listing) == len(state.owners) == owners
    pages = sum(len(each.snapshot.pages) for each in state.owners.values())
    assert sum(map(len, zone.texts.values())) == owners + pages


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_published_is_what_a_reader_is_told(setting: tuple[bool, bool]) -> None:
    zone = FakeZone()
    for claims in (OLD, NEW, (), OLD):
        commit = run(Publisher(backend(zone, setting), PROD).publish(claims))
        assert commit.changed
        assert held(zone) == claims
        expect_tidy(zone, 1)
    name = golden.state_at("prod") if setting[0] else golden.SHARED_STATE
    assert name in zone.names()


@pytest.mark.parametrize("setting", SETTINGS)
def test_publishing_the_same_again_writes_nothing(setting: tuple[bool, bool]) -> None:
    zone = FakeZone()
    run(Publisher(backend(zone, setting), PROD).publish(OLD))
    before = zone.copy()
    commit = run(Publisher(backend(zone, setting, lambda _: Fate.DONE), PROD).publish(reversed(OLD)))
    assert not commit.changed
    assert zone.texts == before.texts


def test_claims_are_added_and_withdrawn() -> None:
    zone = FakeZone()
    publisher = Publisher(FakeBackend(zone), PROD)
    run(publisher.claim(OLD))
    run(publisher.claim(some(PROD, [7, 100])))
    assert held(zone) == some(PROD, [*range(24), 100])
    run(publisher.withdraw(some(PROD, [*range(24), 500])))
    assert held(zone) == some(PROD, [100])
    run(publisher.withdraw(some(PROD, [100])))
    assert held(zone) == ()
    assert zone.names() == [golden.state_at("prod")], "the empty snapshot keeps its manifest"


def test_claims_are_exchanged_in_one_revision() -> None:
    zone = FakeZone()
    run(Publisher(FakeBackend(zone), PROD).publish(OLD))
    commit = run(Publisher(FakeBackend(zone), PROD).change(some(PROD, [3, 90]), some(PROD, range(20))))
    assert held(zone) == some(PROD, [3, *range(20, 24), 90])
    assert commit.snapshot is not None
    assert commit.snapshot.sealed.manifest.revision == 2


def test_withdrawing_where_nothing_was_ever_claimed_writes_nothing() -> None:
    zone = FakeZone()
    assert run(Publisher(FakeBackend(zone), PROD).withdraw(OLD)) == Commit(None)
    assert zone.names() == []


def test_a_change_keeps_the_pages_that_it_can() -> None:
    zone = FakeZone()
    run(Publisher(backend(zone, (True, True)), PROD).publish(OLD))
    commit = run(Publisher(backend(zone, (True, True)), PROD).withdraw(OLD[-1:]))
    assert commit.pages_written == 1
    assert commit.pages_kept == len(commit.snapshot.pages) - 1 if commit.snapshot else False
    assert commit.pages_kept > 2


@pytest.mark.parametrize("setting", SETTINGS)
def test_cut_off_at_every_await_and_started_again(setting: tuple[bool, bool]) -> None:
    origin = prepared(setting)
    turns, ended = 0, False
    seen = set()
    while not ended:
        zone = origin.copy()
        writer = Publisher(backend(zone, setting), PROD).publish(NEW)
        ended = run_until(writer, turns)
        writer.close()
        now = held(zone)
        assert now in (OLD, NEW)
        seen.add(now)
        assert held(zone, TEST) == THEIRS
        run(Publisher(backend(zone, setting), PROD).publish(NEW))
        assert held(zone) == NEW
        assert held(zone, TEST) == THEIRS
        expect_tidy(zone)
        turns += 1
    assert seen == {OLD, NEW}
    assert turns > 60


@pytest.mark.parametrize("setting", SETTINGS)
def test_cut_off_at_every_await_with_another_owner_at_work(setting: tuple[bool, bool]) -> None:
    """The other one publishes as a whole at each await; then this one goes on, or is cut off and starts again."""
    origin = prepared(setting)
    theirs = some(TEST, range(4, 12))
    for goes_on in (True, False):
        turns, ended = 0, False
        while not ended:
            zone = origin.copy()
            writer = Publisher(backend(zone, setting), PROD).publish(NEW)
            ended = run_until(writer, turns)
            run(Publisher(backend(zone, setting), TEST).publish(theirs))
            assert held(zone) in (OLD, NEW)
            if goes_on and not ended:
                run(writer)
            else:
                writer.close()
                run(Publisher(backend(zone, setting), PROD).publish(NEW))
            assert held(zone) == NEW
            assert held(zone, TEST) == theirs
            expect_tidy(zone)
            turns += 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("fate", [Fate.LOST, Fate.UNSENT, Fate.CONFLICT])
def test_every_answer_lost_or_wrong_once(setting: tuple[bool, bool], fate: Fate) -> None:
    origin = prepared(setting)
    total = 0
    while True:
        zone = origin.copy()
        one = backend(zone, setting, lambda number, at=total: fate if number == at else Fate.DONE)  # type: ignore[misc]
        try:
            run(Publisher(one, PROD).publish(NEW))
        except BackendError:
            assert held(zone) in (OLD, NEW)
            assert held(zone, TEST) == THEIRS
            run(Publisher(backend(zone, setting), PROD).publish(NEW))
        assert held(zone) == NEW
        calls = zone.calls
        run(Publisher(backend(zone, setting), PROD).publish(NEW))
        expect_tidy(zone)
        if calls <= total:
            break
        total += 1
    assert total > 30


def test_a_write_whose_answer_is_lost_is_not_repeated() -> None:
    """Reading back tells that it happened."""
    zone = FakeZone()
    writes: list[int] = []

    def fate(number: int) -> Fate:
        return Fate.LOST if number in writes else Fate.DONE

    one = FakeBackend(zone, fate=fate)
    plain_add = one.add_txt

    async def add(name: Fqdn, value: bytes, seen: Iterable[bytes]) -> None:
        assert value not in zone.texts[name]
        writes.append(zone.calls)
        await plain_add(name, value, list(seen))

    one.add_txt = add  # type: ignore[method-assign]  # every write, and only a write, loses its answer
    commit = run(Publisher(one, PROD).publish(OLD))
    assert commit.changed
    assert len(writes) == len(commit.snapshot.pages) + 1 if commit.snapshot else False
    assert held(zone) == OLD


@pytest.mark.parametrize("enumerates", [True, False])
def test_an_addition_that_arrives_late_neither_competes_nor_brings_back_what_was(enumerates: bool) -> None:
    """A condition on what was seen keeps it out; the writer has published something else meanwhile."""
    other = some(PROD, range(200, 210))
    origin = prepared((enumerates, True))
    arrived = 0
    for delay in range(0, 48, 4):
        for number in range(12):
            zone = origin.copy()
            late = lambda call, at=number: Fate.LATE if call == at else Fate.DONE  # noqa: E731
            one = backend(zone, (enumerates, True), late)
            one.delay = delay
            deletes = one.delete_txt

            async def delete(name: Fqdn, value: bytes, one: FakeBackend = one, plain: Any = deletes) -> None:
                fate, one.fate = one.fate, lambda _: Fate.DONE
                await plain(name, value)
                one.fate = fate

            one.delete_txt = delete  # type: ignore[method-assign]  # additions alone are late
            for claims in (NEW, other):
                for _ in range(3):
                    try:
                        run(Publisher(one, PROD).publish(claims))
                        break
                    except BackendError:
                        arrived += 1
            zone.calls += delay
            zone.arrive()
            assert held(zone) == other
            assert held(zone, TEST) == THEIRS
    assert arrived


@settings(max_examples=120)
@given(
    st.lists(st.integers(0, 2), max_size=400),
    st.sampled_from(SETTINGS),
    st.dictionaries(st.integers(0, 120), st.sampled_from(Fate), max_size=6),
    st.sets(st.integers(0, 400), max_size=4),
)
def test_three_owners_interleaved_at_random(
    schedule: list[int], setting: tuple[bool, bool], fates: dict[int, Fate], cuts: set[int]
) -> None:
    zone = FakeZone()
    owners = [OwnerID("a"), OwnerID("b"), OwnerID("")]
    first = [some(owner, range(9)) for owner in owners]
    second = [some(owner, range(5, 22)) for owner in owners]
    for owner, claims in zip(owners, first, strict=True):
        run(Publisher(backend(zone, setting), owner).publish(claims))
    zone.calls = 0
    shared = FakeBackend(zone, *setting, txt_value_bytes=LIMIT, fate=lambda number: fates.get(number, Fate.DONE))
    writers = [Publisher(shared, owner).publish(claims) for owner, claims in zip(owners, second, strict=True)]
    for step, at in enumerate(schedule):
        if step in cuts:
            writers[at].close()
            writers[at] = Publisher(shared, owners[at]).publish(second[at])
        try:
            writers[at].send(None)
        except (StopIteration, OwnershipError):
            writers[at].close()
            writers[at] = Publisher(shared, owners[at]).publish(second[at])
    for at, owner in enumerate(owners):
        writers[at].close()
        assert held(zone, owner) in (first[at], second[at])
        run(Publisher(backend(zone, setting), owner).publish(second[at]))
        assert held(zone, owner) == second[at]
    expect_tidy(zone, 3)


def test_pages_that_nobody_committed_stay() -> None:
    zone = FakeZone()
    run(Publisher(FakeBackend(zone), PROD).publish(OLD))
    staged = golden.page([(entry.name, entry.value) for entry in NEW])
    zone.put(golden.page_at("prod", staged), staged)
    run(Publisher(FakeBackend(zone), PROD).publish(some(PROD, [1])))
    assert golden.page_at("prod", staged) in zone.names()


def test_a_failed_clean_up_is_told_and_made_up_for() -> None:
    zone = FakeZone()
    run(Publisher(FakeBackend(zone), PROD).publish(OLD))
    count = zone.copy()
    count.calls = 0
    run(Publisher(FakeBackend(count), PROD).publish(NEW))
    zone.calls = 0
    # The last four calls delete and read back: the old page, then the old manifest.
    one = FakeBackend(zone, fate=lambda number: Fate.UNSENT if number == count.calls - 4 else Fate.DONE)
    commit = run(Publisher(one, PROD).publish(NEW))
    assert commit.changed
    assert "revision 1" in commit.clean_up.left
    assert held(zone) == NEW
    assert len(zone.texts[Fqdn(golden.state_at("prod"))]) == 2
    again = run(Publisher(FakeBackend(zone), PROD).publish(NEW))
    assert not again.changed
    assert (again.clean_up.manifests, again.clean_up.left) == (1, "")
    expect_tidy(zone, 1)


def test_manifests_of_the_other_form_are_continued_and_cleaned_up() -> None:
    """What was written at the shared name is succeeded at the owner's own name, and the other way round."""
    zone = FakeZone()
    run(Publisher(FakeBackend(zone, enumerates=False), PROD).publish(OLD))
    assert golden.SHARED_STATE in zone.names()
    run(Publisher(FakeBackend(zone), PROD).publish(NEW))
    assert golden.SHARED_STATE not in zone.names()
    run(Publisher(FakeBackend(zone, enumerates=False), PROD).publish(OLD))
    assert golden.state_at("prod") not in zone.names()
    assert held(zone) == OLD
    expect_tidy(zone, 1)


def test_the_snapshot_of_another_program_is_continued() -> None:
    zone = FakeZone()
    zone.put(golden.SHARED_STATE, *golden.CHAIN)
    for each in (golden.ONE_PAGE, golden.SECOND_PAGE):
        zone.put(golden.page_at("prod", each), each)
    commit = run(Publisher(FakeBackend(zone), PROD).claim(some(PROD, [1])))
    assert commit.snapshot is not None
    assert commit.snapshot.sealed.manifest.revision == 4
    assert commit.snapshot.sealed.manifest.previous == golden.sha(golden.THIRD)
    assert [each.name for each in commit.snapshot.entries] == [golden.MAIL[0], f"_dnsweaver.host-001.{ZONE}"]
    expect_tidy(zone, 1)


RIVALS = {
    StateFault.COMPETING_CHILDREN: (
        golden.ONE,
        golden.SECOND,
        golden.manifest("prod", 2, golden.ONE, [golden.ONE_PAGE], 1),
    ),
    StateFault.REVISION_GAP: (golden.ONE, golden.THIRD),
    StateFault.UNRELATED_HISTORIES: (golden.ONE, golden.EMPTY),
    StateFault.INVALID_MANIFEST: (golden.ONE, b"dnsweaver-state=v2:e30"),
    StateFault.INVALID_PAGES: (golden.manifest("prod", 1, b"", [golden.LEGACY_PAGE], 1),),
}


@pytest.mark.parametrize(("fault", "manifests"), RIVALS.items(), ids=RIVALS)
@pytest.mark.parametrize("enumerates", [True, False])
def test_an_ambiguous_owner_cannot_publish_and_nobody_deletes(
    fault: StateFault, manifests: tuple[bytes, ...], enumerates: bool
) -> None:
    zone = FakeZone()
    own = FakeBackend(zone, enumerates)
    run(Publisher(own, TEST).publish(THEIRS))
    zone.put(golden.SHARED_STATE if not enumerates else golden.state_at("prod"), *manifests)
    for each in (golden.ONE_PAGE, golden.SECOND_PAGE):
        zone.put(golden.page_at("prod", each), each)
    before = zone.copy()
    state = run(read_state(own, (PROD,)))
    assert {each.reason for each in state.faults} == {fault}
    assert not state.may_delete
    with pytest.raises(AmbiguousError, match=fault.value):
        run(Publisher(own, PROD).publish(NEW))
    assert zone.texts == before.texts
    if fault is StateFault.INVALID_MANIFEST and not enumerates:
        return  # it may be anybody's
    commit = run(Publisher(own, TEST).publish(some(TEST, [1])))
    assert held_among(own) == some(TEST, [1])
    assert "nothing is deleted" in commit.clean_up.left
    assert all(values <= zone.texts[name] for name, values in before.texts.items())


def held_among(one: FakeBackend) -> tuple[Entry, ...]:
    snapshot = run(read_state(one, (TEST,))).snapshot_of(TEST)
    return snapshot.entries if snapshot is not None else ()


def test_a_manifest_at_the_name_of_another_owner_is_ambiguous_for_both() -> None:
    zone = FakeZone()
    zone.put(golden.state_at("test"), golden.EMPTY)
    for owner in (PROD, TEST):
        with pytest.raises(AmbiguousError, match="the name of another owner"):
            run(Publisher(FakeBackend(zone), owner).publish(some(owner, [1])))
    run(Publisher(FakeBackend(zone), OwnerID("third")).publish(some(OwnerID("third"), [1])))


def test_a_replica_that_publishes_meanwhile_is_noticed() -> None:
    """At any await before the manifest is offered; afterwards the replica's own check notices."""
    noticed, turns, ended = 0, 0, False
    while not ended:
        zone = FakeZone()
        run(Publisher(FakeBackend(zone), PROD).publish(OLD))
        writer = Publisher(FakeBackend(zone), PROD).publish(NEW)
        ended = run_until(writer, turns)
        replica = some(PROD, [*range(24), 200])
        run(Publisher(FakeBackend(zone), PROD).publish(replica))
        try:
            run(writer) if not ended else writer.close()
        except HistoryChangedError:
            noticed += 1
            assert held(zone) == replica
        except (BackendError, AmbiguousError):
            pass
        turns += 1
    assert noticed > 4


def test_a_replica_that_is_faster_to_publish_the_next_one_is_noticed() -> None:
    """So is a manifest that nobody understands, and that may be our own."""
    found: Counter[str] = Counter()
    turns, ended = 0, False
    while not ended:
        for junk in (False, True):
            zone = FakeZone()
            run(Publisher(FakeBackend(zone), PROD).publish(OLD))
            writer = Publisher(FakeBackend(zone), PROD).publish(NEW)
            ended = run_until(writer, turns)
            if junk:
                zone.put(golden.state_at("prod"), b"dnsweaver-state=v2:e30")
            elif held(zone) == NEW:
                run(Publisher(FakeBackend(zone), PROD).publish(OLD))
            try:
                run(writer) if not ended else writer.close()
            except OwnershipError as error:
                found[type(error).__name__ + ("/junk" if junk else "")] += 1
                found["another"] += "another revision" in str(error)
        turns += 1
    assert found["another"], "it is there instead of the one that was published"
    assert found["HistoryChangedError/junk"]


def test_texts_of_strangers_beside_a_page_hide_nothing_and_stay() -> None:
    zone = FakeZone()
    commit = run(Publisher(FakeBackend(zone), PROD).publish(OLD))
    assert commit.snapshot is not None
    (page,) = commit.snapshot.pages
    zone.put(golden.page_at("prod", page.value), b"a stranger's", b"zzz")
    assert held(zone) == OLD
    assert run(Publisher(FakeBackend(zone), PROD).publish([])).clean_up.pages == 1
    assert zone.texts[Fqdn(golden.page_at("prod", page.value))] == {b"a stranger's", b"zzz"}


def test_a_manifest_at_both_names_is_cleaned_up_at_both() -> None:
    zone = FakeZone()
    run(Publisher(FakeBackend(zone), PROD).publish(OLD))
    zone.put(golden.SHARED_STATE, *zone.texts[Fqdn(golden.state_at("prod"))])
    run(Publisher(FakeBackend(zone), PROD).publish(NEW))
    assert held(zone) == NEW
    assert golden.SHARED_STATE not in zone.names()
    expect_tidy(zone, 1)


def test_a_listing_with_as_many_manifests_is_another_one() -> None:
    zone = FakeZone()
    zone.put(golden.SHARED_STATE, golden.manifest("one", 1, b"", [], 0))

    def fate(number: int) -> Fate:
        if number == 0:
            zone.texts[Fqdn(golden.SHARED_STATE)] = {golden.manifest("two", 1, b"", [], 0)}
        return Fate.DONE

    assert set(run(read_state(FakeBackend(zone, fate=fate))).owners) == {"two"}


def test_claims_that_do_not_fit_are_refused_before_anything_is_written() -> None:
    zone = FakeZone()
    with pytest.raises(SnapshotTooLargeError):
        run(Publisher(FakeBackend(zone, txt_value_bytes=400), PROD).publish(some(PROD, range(300))))
    assert zone.names() == []


def test_a_listing_that_never_holds_still_is_no_state() -> None:
    zone = FakeZone()
    one = FakeBackend(zone)
    number = 0

    def fate(_: int) -> Fate:
        nonlocal number
        number += 1
        zone.put(shared_state_name(ZONE), golden.manifest(f"owner-{number}", 1, b"", [], 0))
        return Fate.DONE

    one.fate = fate
    with pytest.raises(BackendError, match="came or went"):
        run(read_state(one))
