"""Ownership in zones of real BIND and real Knot: written by signed DNS UPDATE, read back by plain queries."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import dns.tsig
import pytest

from ownership.backends.rfc2136 import Rfc2136Backend
from ownership.entry import Entry, claim, sorted_entries
from ownership.error import ConflictError, OutcomeUnknownError, RefusedError, UnavailableError
from ownership.legacy import migrate, read_markers, restore
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.publish import Publisher
from ownership.state import read_state
from ownership.view import Holder, read_ownership
from tests.ownership import golden
from tests.ownership.primary import KEY, KINDS, ZONE, Primary, is_update, lossy, running_primary
from tests.server.process import free_port
from tests.server.transfer.daemon import ALGORITHM, KEY_NAME
from zonemodel.name import Fqdn

PROD, TEST = OwnerID("prod"), OwnerID("test")


@pytest.fixture(params=KINDS)
async def primary(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Primary]:
    async with running_primary(request.param, tmp_path / "daemon") as running:
        yield running


def some(owner: OwnerID, count: int, start: int = 0) -> tuple[Entry, ...]:
    """Claims that take about 45 octets each."""

    def one(number: int) -> Entry:
        return claim(owner, Fqdn(f"host-{number:04}.{ZONE}"), Member(MemberType.TXT, golden.sha(b"%d" % number)))

    return sorted_entries(map(one, range(start, start + count)))


async def held(primary: Primary, owner: OwnerID) -> tuple[Entry, ...]:
    snapshot = (await read_state(primary.backend(), (owner,))).snapshot_of(owner)
    return snapshot.entries if snapshot is not None else ()


async def test_what_is_published_is_there_for_everybody_to_ask(primary: Primary) -> None:
    claims = some(PROD, 300)
    commit = await Publisher(primary.backend(), PROD).publish(claims)
    assert commit.snapshot is not None
    assert len(commit.snapshot.pages) > 4
    assert await primary.ask(golden.SHARED_STATE) == [commit.snapshot.sealed.value]
    for page in commit.snapshot.pages:
        assert await primary.ask(golden.page_at("prod", page.value)) == [page.value]
    assert await held(primary, PROD) == claims


async def test_only_the_selected_revision_stays(primary: Primary) -> None:
    publisher = Publisher(primary.backend(), PROD)
    first = await publisher.publish(some(PROD, 100))
    second = await publisher.publish(some(PROD, 100, 40))
    assert first.snapshot is not None
    assert second.snapshot is not None
    assert (second.clean_up.manifests, second.clean_up.left) == (1, "")
    assert await primary.ask(golden.SHARED_STATE) == [second.snapshot.sealed.value]
    kept = {page.digest for page in second.snapshot.pages}
    for page in first.snapshot.pages:
        there = await primary.ask(golden.page_at("prod", page.value))
        assert there == ([page.value] if page.digest in kept else [])
    emptied = await publisher.withdraw(some(PROD, 100, 40))
    assert emptied.snapshot is not None
    assert await primary.ask(golden.SHARED_STATE) == [emptied.snapshot.sealed.value]


async def test_owners_publish_at_once(primary: Primary) -> None:
    owners = [PROD, TEST, OwnerID("")]
    for turn in range(3):
        wanted = {owner: some(owner, 40, 10 * turn) for owner in owners}
        commits = await asyncio.gather(
            *(Publisher(primary.backend(), owner).publish(wanted[owner]) for owner in owners)
        )
        assert [commit.clean_up.left for commit in commits] == [""] * 3
        for owner in owners:
            assert await held(primary, owner) == wanted[owner]
    assert len(await primary.ask(golden.SHARED_STATE)) == 3


async def test_a_writer_that_is_late_is_told(primary: Primary) -> None:
    backend = primary.backend()
    name = Fqdn(golden.SHARED_STATE)
    await backend.add_txt(name, b"one", [])
    with pytest.raises(ConflictError):
        await backend.add_txt(name, b"two", [])
    await backend.add_txt(name, b"one", [])
    await backend.add_txt(name, b"two", [b"one"])
    await backend.delete_txt(name, b"one")
    await backend.delete_txt(name, b"one")
    assert await backend.read_txt(name) == [b"two"]


async def test_two_writers_that_saw_the_same_do_not_both_write(primary: Primary) -> None:
    name = Fqdn(golden.SHARED_STATE)
    writes = (primary.backend().add_txt(name, b"value %d" % number, []) for number in range(6))
    ends = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(end is None for end in ends) == 1
    assert {type(end) for end in ends if end is not None} == {ConflictError}
    assert len(await primary.ask(golden.SHARED_STATE)) == 1


@pytest.mark.parametrize("what", ["reply", "request"])
async def test_an_update_without_an_answer_is_read_back(primary: Primary, what: str) -> None:
    """A lost answer is none of anybody's business; a lost request changes nothing, and going on from there does."""
    claims = some(PROD, 100)
    numbers = itertools.count()
    async with lossy(primary.port, lambda request: what if is_update(request) and next(numbers) < 3 else None) as (
        link,
        port,
    ):
        publisher = Publisher(primary.backend(port=port), PROD)
        if what == "reply":
            assert (await publisher.publish(claims)).changed
        else:
            for _ in range(3):
                with pytest.raises(OutcomeUnknownError):
                    await publisher.publish(claims)
            assert await held(primary, PROD) == ()
            await publisher.publish(claims)
    assert link.lost == 3
    assert await held(primary, PROD) == claims


async def test_the_greatest_snapshot_is_kept(primary: Primary) -> None:
    member = Member(MemberType.CNAME, "ingress.example.net")
    claims = sorted_entries(claim(PROD, Fqdn(f"host-{number:05}.{ZONE}"), member) for number in range(16_384))
    commit = await Publisher(primary.backend(), PROD).publish(claims)
    assert await held(primary, PROD) == claims
    changed = await Publisher(primary.backend(), PROD).withdraw(claims[5_000:5_001])
    assert (changed.pages_written, changed.pages_kept + 1) == (1, commit.pages_written)


class Cut:
    """A backend that is cancelled in the middle of its call of a number, after the server has done what it was told."""

    def __init__(self, backend: Rfc2136Backend, number: int) -> None:
        self._backend = backend
        self._left = number

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._backend, name)
        if not asyncio.iscoroutinefunction(value):
            return value

        async def call(*arguments: Any) -> Any:
            result = await value(*arguments)
            self._left -= 1
            if self._left < 0:
                raise asyncio.CancelledError
            return result

        return call


async def test_a_writer_that_is_cut_off_goes_on_where_it_was(primary: Primary) -> None:
    """After each of its calls, while another owner is at work."""
    held_before: tuple[Entry, ...] = ()
    for number in range(0, 36, 4):
        claims = some(PROD, 60, number)
        theirs = Publisher(primary.backend(), TEST).publish(some(TEST, 20, number))
        cut: Any = Cut(primary.backend(), number)
        ends = await asyncio.gather(Publisher(cut, PROD).publish(claims), theirs, return_exceptions=True)
        assert not isinstance(ends[1], BaseException)
        assert await held(primary, PROD) in (held_before, claims)
        await Publisher(primary.backend(), PROD).publish(claims)
        assert await held(primary, PROD) == claims
        assert await held(primary, TEST) == some(TEST, 20, number)
        held_before = claims
    assert len(await primary.ask(golden.SHARED_STATE)) == 2


async def test_markers_are_migrated_and_restored(primary: Primary) -> None:
    backend = primary.backend()
    claims = some(PROD, 12)
    strange = [(claims[0].name, "heritage=dnsweaver"), (claims[0].name, golden.marker("test", "A", "192.0.2.1"))]
    for name, value in [*((entry.name, entry.value) for entry in claims), *strange]:
        await backend.add_txt(Fqdn(name), value.encode(), await backend.read_txt(Fqdn(name)))
    done = await migrate(backend, PROD, read_markers(await backend.list_markers()))
    assert (done.deleted, done.left) == (12, "")
    assert await held(primary, PROD) == claims
    assert sorted(await primary.ask(claims[0].name)) == sorted(value.encode() for _, value in strange)
    assert await primary.ask(claims[1].name) == []
    back = await restore(backend, PROD)
    assert (back.entries, back.left) == (claims, "")
    assert await primary.ask(golden.SHARED_STATE) == []
    for entry in claims:
        assert entry.value.encode() in await primary.ask(entry.name)
    assert {each.owner for each in read_markers(await backend.list_markers())} == {"prod", "test", ""}


async def test_a_wildcard_lends_no_manifests_and_no_markers(tmp_path: Path) -> None:
    for kind in KINDS:
        zone = f'$ORIGIN {ZONE}.\n$TTL 60\n@ SOA ns h 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n* TXT "for all"\n*.sub TXT "more"\n'
        async with running_primary(kind, tmp_path / kind, zone) as primary:
            assert await primary.ask(golden.SHARED_STATE) == [b"for all"]
            await Publisher(primary.backend(), PROD).publish(some(PROD, 5))
            assert await held(primary, PROD) == some(PROD, 5)
            found = await read_ownership(primary.backend(), PROD, [Fqdn(f"x.sub.{ZONE}"), Fqdn(f"host-0001.{ZONE}")])
            assert found.may_delete
            assert found.of(Fqdn(f"host-0001.{ZONE}"), MemberType.TXT).holder is Holder.ME


async def test_values_that_others_split_otherwise_are_joined_and_deleted(tmp_path: Path) -> None:
    text = golden.EMPTY.decode()
    halves = f'"{text[:40]}" "{text[40:]}"'
    zone = f"$ORIGIN {ZONE}.\n$TTL 60\n@ SOA ns h 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n_dnsweaver-state TXT {halves}\n"
    for kind in KINDS:
        async with running_primary(kind, tmp_path / kind, zone) as primary:
            commit = await Publisher(primary.backend(), PROD).publish(some(PROD, 1))
            assert commit.snapshot is not None
            assert commit.snapshot.sealed.manifest.previous == golden.sha(golden.EMPTY)
            assert await primary.ask(golden.SHARED_STATE) == [commit.snapshot.sealed.value]


async def test_what_the_server_refuses_is_told_as_refused(primary: Primary) -> None:
    name = Fqdn(golden.SHARED_STATE)
    with pytest.raises(RefusedError, match=r"REFUSED|NOTAUTH"):
        await primary.backend(key=None).add_txt(name, b"x", [])
    with pytest.raises(RefusedError):
        await primary.backend(key=None).list_markers()
    wrong = dns.tsig.Key(KEY_NAME, "d3Jvbmcgc2VjcmV0IG9mIHNvbWVib2R5IGVsc2U=", ALGORITHM)
    with pytest.raises((RefusedError, UnavailableError)):
        await primary.backend(key=wrong).add_txt(name, b"x", [])
    assert await primary.ask(golden.SHARED_STATE) == []


async def test_names_of_other_zones_are_refused_not_empty(primary: Primary) -> None:
    with pytest.raises((RefusedError, UnavailableError)):
        await primary.backend().read_txt(Fqdn("www.example.net"))


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    backend = Primary(free_port(), None).backend(KEY)  # type: ignore[arg-type]  # nothing runs
    with pytest.raises(UnavailableError):
        await read_state(backend)
    with pytest.raises(UnavailableError):
        await backend.add_txt(Fqdn(golden.SHARED_STATE), b"x", [])
