"""What every backend keeps: the tests to hold one to.

Subclass `BackendContract` in a test module and give it a fixture `backend`: an empty zone, a fresh one for each test.
"""

from __future__ import annotations

from ownership.backends.protocol import Backend
from ownership.entry import Entry, claim, sorted_entries
from ownership.error import ConflictError
from ownership.legacy import migrate, read_markers, restore
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, owner_state_name, shared_state_name
from ownership.publish import Publisher
from ownership.state import read_state
from ownership.view import Holder, read_ownership
from tests.ownership import golden
from zonemodel.name import Fqdn

PROD, TEST = OwnerID("prod"), OwnerID("test")


def some(backend: Backend, owner: OwnerID, count: int) -> tuple[Entry, ...]:
    def one(number: int) -> Entry:
        return claim(
            owner, Fqdn(f"host-{number:03}.{backend.zone}"), Member(MemberType.TXT, golden.sha(b"%d" % number))
        )

    return sorted_entries(map(one, range(count)))


class BackendContract:
    """The contract."""

    async def test_what_is_absent_is_read_as_nothing(self, backend: Backend) -> None:
        assert list(await backend.read_txt(Fqdn(f"absent.{backend.zone}"))) == []
        assert list(await backend.list_states((PROD,))) == []

    async def test_the_longest_value_is_kept_to_the_octet(self, backend: Backend) -> None:
        name = owner_state_name(backend.zone, PROD)
        value = b"dnsweaver-state=v1:" + b"Az09-_" * 600
        value = value[: backend.txt_value_bytes]
        await backend.add_txt(name, value, ())
        assert list(await backend.read_txt(name)) == [value]
        assert [(text.name, text.value) for text in await backend.list_states((PROD,))] == [(name, value)]

    async def test_values_stand_side_by_side(self, backend: Backend) -> None:
        name = shared_state_name(backend.zone)
        await backend.add_txt(name, b"one", ())
        await backend.add_txt(name, b"two", (b"one",))
        assert sorted(await backend.read_txt(name)) == [b"one", b"two"]
        await backend.delete_txt(name, b"one")
        assert list(await backend.read_txt(name)) == [b"two"]
        await backend.delete_txt(name, b"two")
        assert list(await backend.read_txt(name)) == []

    async def test_adding_and_deleting_again_changes_nothing(self, backend: Backend) -> None:
        name = shared_state_name(backend.zone)
        await backend.add_txt(name, b"one", ())
        await backend.add_txt(name, b"one", ())
        await backend.add_txt(name, b"one", (b"one",))
        assert list(await backend.read_txt(name)) == [b"one"]
        await backend.delete_txt(name, b"two")
        await backend.delete_txt(name, b"one")
        await backend.delete_txt(name, b"one")
        assert list(await backend.read_txt(name)) == []

    async def test_a_value_of_others_is_never_lost_to_an_addition(self, backend: Backend) -> None:
        """Whoever does not know of it is told, or adds beside it."""
        name = shared_state_name(backend.zone)
        await backend.add_txt(name, b"theirs", ())
        try:
            await backend.add_txt(name, b"ours", ())
        except ConflictError:
            assert list(await backend.read_txt(name)) == [b"theirs"]
        else:
            assert sorted(await backend.read_txt(name)) == [b"ours", b"theirs"]

    async def test_letters_quotes_and_backslashes_are_kept(self, backend: Backend) -> None:
        name = Fqdn(f"_dnsweaver.www.{backend.zone}")
        value = 'heritage=dnsweaver,note="a\\b"; é'.encode()
        await backend.add_txt(name, value, ())
        assert list(await backend.read_txt(name)) == [value]
        assert [(text.name, text.value) for text in await backend.list_markers()] == [(name, value)]
        await backend.delete_txt(name, value)
        assert list(await backend.list_markers()) == []

    async def test_owners_publish_withdraw_and_are_asked(self, backend: Backend) -> None:
        await Publisher(backend, PROD).claim(some(backend, PROD, 60))
        await Publisher(backend, TEST).claim(some(backend, TEST, 5))
        commit = await Publisher(backend, PROD).withdraw(some(backend, PROD, 50))
        assert commit.clean_up.left == ""
        view = await read_ownership(backend, PROD)
        assert view.may_delete
        assert view.of(Fqdn(f"host-055.{backend.zone}"), MemberType.TXT).holder is Holder.ME
        assert view.of(Fqdn(f"host-001.{backend.zone}"), MemberType.TXT).others == (TEST,)
        assert view.of(Fqdn(f"host-020.{backend.zone}"), MemberType.TXT).holder is Holder.NOBODY

    async def test_markers_come_and_go(self, backend: Backend) -> None:
        wild = claim(PROD, Fqdn(f"*.apps.{backend.zone}"), Member(MemberType.CNAME, "ingress.example.net"))
        entries = (wild, *some(backend, PROD, 4))
        for entry in entries:
            await backend.add_txt(Fqdn(entry.name), entry.value.encode(), ())
        done = await migrate(backend, PROD, read_markers(await backend.list_markers()))
        assert (done.deleted, done.left) == (5, "")
        assert list(await backend.list_markers()) == []
        assert (await read_state(backend, (PROD,))).owners[PROD].snapshot.entries == sorted_entries(entries)
        assert (await restore(backend, PROD)).left == ""
        assert list(await backend.list_states((PROD,))) == []
        assert {text.value for text in await backend.list_markers()} == {entry.value.encode() for entry in entries}

    async def test_nothing_longer_than_the_limit_is_written(self, backend: Backend) -> None:
        commit = await Publisher(backend, PROD).publish(some(backend, PROD, 150))
        assert commit.snapshot is not None
        for page in commit.snapshot.pages:
            assert len(page.value) <= backend.txt_value_bytes
        assert len(commit.snapshot.sealed.value) <= backend.txt_value_bytes
