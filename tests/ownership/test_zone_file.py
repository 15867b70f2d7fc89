"""Ownership in a master file: what is written, and what is left alone."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ownership.backends.zone_file import open_zone_file
from ownership.entry import Entry, claim, sorted_entries
from ownership.error import ConflictError, RefusedError, UnavailableError
from ownership.legacy import migrate, read_markers, restore
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.publish import Publisher
from ownership.state import read_state
from tests.ownership import golden
from zonemodel.name import Fqdn
from zonemodel.zonefile import read_zone_file

T = TypeVar("T")
PROD = OwnerID("prod")
TEXT = """$ORIGIN example.com.
$TTL 300
@ IN SOA ns hostmaster 4294967295 3600 600 86400 60
@ IN NS ns
ns IN A 192.0.2.53
www IN A 192.0.2.1
_dnsweaver.www IN TXT "heritage=dnsweaver,instance=prod,record-target=MTkyLjAuMi4x," "record-type=A,record-version=2"
_dnsweaver.old IN TXT "heritage=dnsweaver,instance=prod"
"""


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "zone"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def some(owner: OwnerID, count: int) -> tuple[Entry, ...]:
    member = Member(MemberType.A, "192.0.2.1")
    return sorted_entries(claim(owner, Fqdn(f"host-{number}.example.com"), member) for number in range(count))


def test_snapshots_are_kept_in_the_file(path: Path) -> None:
    backend = open_zone_file(path)
    assert backend.zone == "example.com"
    run(Publisher(backend, PROD).publish(some(PROD, 500)))
    assert f"{golden.state_at('prod').removesuffix('.example.com')} 300 IN TXT" in path.read_text()
    state = run(read_state(open_zone_file(path)))
    assert state.owners[PROD].snapshot.entries == some(PROD, 500)


def test_the_rest_of_the_zone_stays_and_the_serial_goes_on(path: Path) -> None:
    before = read_zone_file(path, None)
    run(Publisher(open_zone_file(path), PROD).publish(some(PROD, 1)))
    after = read_zone_file(path, None)
    kept = [each for each in before.rrsets if each.rdtype != 6]
    assert {(each.owner, each.rdtype) for each in kept} < {(each.owner, each.rdtype) for each in after.rrsets}
    soa = next(each for each in after.rrsets if each.rdtype == 6)
    assert int.from_bytes(soa.rdatas[0][-20:-16], "big") == 1, "from 4294967295, two writes on"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in path.parent.iterdir()] == ["zone"]


def test_a_repeated_write_leaves_the_file_alone(path: Path) -> None:
    run(Publisher(open_zone_file(path), PROD).publish(some(PROD, 1)))
    before = path.stat()
    run(Publisher(open_zone_file(path), PROD).publish(some(PROD, 1)))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_owners_write_at_once(path: Path) -> None:
    owners = [OwnerID(name) for name in "abcd"]
    await asyncio.gather(*(Publisher(open_zone_file(path), owner).publish(some(owner, 30)) for owner in owners))
    state = await read_state(open_zone_file(path))
    assert {owner: each.snapshot.entries for owner, each in state.owners.items()} == {o: some(o, 30) for o in owners}


def test_markers_are_migrated_and_restored(path: Path) -> None:
    backend = open_zone_file(path)
    done = run(migrate(backend, PROD, read_markers(run(backend.list_markers()))))
    assert (done.deleted, len(done.migration.unclear)) == (1, 1)
    assert "_dnsweaver.www" not in path.read_text()
    run(restore(backend, PROD))
    assert [each.value for each in run(backend.list_markers()) if each.name.startswith("_dnsweaver.www")] == [
        golden.WWW[1].encode()
    ]
    assert "_dnsweaver-state" not in path.read_text()


def test_a_value_is_added_only_to_what_was_seen(path: Path) -> None:
    backend = open_zone_file(path)
    name = Fqdn("_dnsweaver.old.example.com")
    with pytest.raises(ConflictError):
        run(backend.add_txt(name, b"x", []))
    assert len(run(backend.read_txt(name))) == 1


def test_a_signed_zone_is_read_and_not_written(path: Path) -> None:
    signature = "www IN RRSIG A 13 3 300 20300101000000 20200101000000 1 example.com. AAAA\n"
    path.write_text(TEXT + signature)
    backend = open_zone_file(path)
    assert len(run(backend.list_markers())) == 2
    with pytest.raises(RefusedError, match="signed"):
        run(Publisher(backend, PROD).publish(some(PROD, 1)))
    assert path.read_text() == TEXT + signature


def test_a_file_that_cannot_be_read_is_unavailable_never_empty(path: Path) -> None:
    backend = open_zone_file(path)
    path.write_text(TEXT + "www IN A not-an-address\n")
    with pytest.raises(UnavailableError, match="not-an-address"):
        run(read_state(backend))
    path.unlink()
    with pytest.raises(UnavailableError):
        run(backend.read_txt(Fqdn("www.example.com")))
    with pytest.raises(UnavailableError):
        open_zone_file(path)
