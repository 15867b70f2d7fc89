"""Histories and copies on disk: whatever a crash leaves of them, nothing is told to secondaries that is not so."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kube.backoff import Backoff
from server import rdtype, work
from server.cache_folder import CacheError
from server.config import ServerConfig, ZoneFile
from server.transfer.archive import Archive
from server.transfer.config import TransferConfig
from server.transfer.history import History
from server.transfer.journal import LIMIT_BYTES
from server.transfer.secondary.version import kept_zone
from server.transfer.serial import serial_of
from server.zone.index import ZoneIndex
from tests.server.running import ANY_PORT, running, until
from tests.server.transfer.serving import query, stream
from tests.server.zone_strategy import APEX, apex_ns, soa
from zonemodel.hosted_zone import Transfer
from zonemodel.name import WireName, to_wire
from zonemodel.rrset import RRset, ZoneData


def version(serial: int, *hosts: int, size: int = 4) -> ZoneIndex:
    owners = (WireName(b"\x04" + f"{host:04}".encode() + APEX) for host in hosts)
    sets = tuple(RRset(owner, 65280, 60, (bytes(size),)) for owner in owners)
    return ZoneIndex.of(ZoneData(APEX, (soa(serial), apex_ns(), *sets)))


def archive_in(folder: Path) -> Archive:
    archive = Archive(folder)
    archive.open()
    return archive


def follow(history: History, *versions: ZoneIndex) -> None:
    for index in versions:
        history.advance(history.step_to(index, None))
        history.save()


def serials(history: History) -> list[int]:
    return [entry.since for entry in history.journal]


def test_a_restart_goes_on_where_it_ended(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    versions = [version(serial, *range(serial)) for serial in range(1, 6)]
    follow(History.begin(versions[0], archive, keeps_copy=False), *versions[1:])
    again = History.begin(version(5, *range(5)), archive, keeps_copy=False)
    assert serials(again) == [1, 2, 3, 4]
    follow(again, version(6, 1))
    assert serials(History.begin(version(6, 1), archive, keeps_copy=False)) == [1, 2, 3, 4, 5]


def test_a_zone_that_is_behind_its_journal_has_the_part_that_leads_to_it(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    versions = [version(serial, *range(serial)) for serial in range(1, 6)]
    follow(History.begin(versions[0], archive, keeps_copy=False), *versions[1:])
    again = History.begin(versions[2], archive, keeps_copy=False)
    assert serials(again) == [1, 2]
    follow(again, version(4, 9))
    assert serials(History.begin(version(4, 9), archive, keeps_copy=False)) == [1, 2, 3]


@pytest.mark.parametrize("index", [version(5, 1), version(7, *range(5)), version(4, *range(5))])
def test_a_journal_that_leads_elsewhere_is_not_used(index: ZoneIndex, tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    versions = [version(serial, *range(serial)) for serial in range(1, 6)]
    follow(History.begin(versions[0], archive, keeps_copy=False), *versions[1:])
    again = History.begin(index, archive, keeps_copy=False)
    assert serials(again) == []
    again.save()
    assert archive.journal(APEX) == []


def test_content_that_changes_without_a_newer_serial_ends_the_history(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1), archive, keeps_copy=False)
    follow(history, version(2, 1), version(2, 1, 2))
    assert serials(history) == []
    assert archive.journal(APEX) == []
    follow(history, version(3, 1))
    assert serials(History.begin(version(3, 1), archive, keeps_copy=False)) == [2]
    follow(history, version(1, 1))
    assert serials(history) == []


def test_serials_go_round(tmp_path: Path) -> None:
    history = History.begin(version(2**32 - 1), archive_in(tmp_path), keeps_copy=False)
    follow(history, version(5, 1))
    assert serials(history) == [2**32 - 1]


@settings(max_examples=60)
@given(data=st.data())
def test_a_journal_cut_or_changed_anywhere_tells_nothing_wrong(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    archive = archive_in(folder)
    versions = [version(serial, *range(serial)) for serial in range(1, 6)]
    follow(History.begin(versions[0], archive, keeps_copy=False), *versions[1:])
    (file,) = folder.glob("*.journal")
    octets = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(octets) - 1))
    if data.draw(st.booleans()):
        file.write_bytes(octets[:place])
    else:
        octets[place] ^= data.draw(st.integers(1, 255))
        file.write_bytes(octets)
    whole = archive.journal(APEX)
    assert [entry.since for entry in whole] == list(range(1, len(whole) + 1))
    assert len(whole) < 4
    again = History.begin(versions[len(whole)], archive, keeps_copy=False)
    follow(again, version(77, 7))
    assert serials(History.begin(version(77, 7), archive, keeps_copy=False)) == [*range(1, len(whole) + 2)]
    archive.close()


def test_files_stay_bounded(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1), archive, keeps_copy=False)
    for serial in range(2, 400):
        follow(history, version(serial, serial % 7, size=20_000))
    (file,) = tmp_path.glob("*.journal")
    assert file.stat().st_size < 2.2 * LIMIT_BYTES
    assert sum(len(entry.octets) for entry in history.journal) <= LIMIT_BYTES
    again = History.begin(history.index, archive, keeps_copy=False)
    assert serials(again) == serials(history)


def test_a_change_too_large_to_keep_is_no_history(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1), archive, keeps_copy=False)
    follow(history, version(2, 1), version(3, *range(200), size=10_000))
    assert serials(history) == []
    assert archive.journal(APEX) == []
    follow(history, version(4, *range(199), size=10_000))
    assert serials(history) == [3]


def test_a_copy_and_its_journal_make_the_last_version(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1, 1, 2), archive, keeps_copy=True)
    history.save()
    follow(history, version(2, 1), version(3, 1, 5))
    kept = kept_zone(APEX, archive)
    assert kept is not None
    assert serial_of(kept.zone.index) == 3
    assert kept.zone.index.sets == version(3, 1, 5).sets
    again = History.begin(kept.zone.index, archive, keeps_copy=True)
    assert serials(again) == [1, 2]
    again.save()
    follow(again, version(4))
    last = kept_zone(APEX, archive)
    assert last is not None
    assert last.zone.index.sets == version(4).sets


def test_a_copy_is_written_again_before_its_journal_ends_too_late(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1), archive, keeps_copy=True)
    history.save()
    for serial in range(2, 200):
        follow(history, version(serial, serial % 7, size=20_000))
        if serial % 20 == 0:
            kept = kept_zone(APEX, archive)
            assert kept is not None
            assert serial_of(kept.zone.index) == serial


def test_a_broken_copy_is_none(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1, 1), archive, keeps_copy=True)
    history.save()
    (file,) = tmp_path.glob("*.copy")
    octets = file.read_bytes()
    for broken in (octets[:-1], octets[:40], b"", octets[:-30] + b"x" + octets[-29:]):
        file.write_bytes(broken)
        assert kept_zone(APEX, archive) is None


def test_the_time_of_the_last_refresh_is_kept(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    archive.note_refresh(APEX, 5.0)  # nothing is kept yet
    History.begin(version(1, 1), archive, keeps_copy=True).save()
    archive.note_refresh(APEX, 1_700_000_000.0)
    kept = kept_zone(APEX, archive)
    assert kept is not None
    assert kept.refreshed_s == 1_700_000_000.0
    archive.forget(APEX)
    assert kept_zone(APEX, archive) is None


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    first = archive_in(tmp_path)
    with pytest.raises(CacheError, match="in use by another server"):
        archive_in(tmp_path)
    first.close()
    archive_in(tmp_path).close()


def test_what_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    history = History.begin(version(1), archive, keeps_copy=False)
    follow(history, version(2, 1))
    (file,) = tmp_path.glob("*.journal")
    os.rename(file, tmp_path / "away")
    file.mkdir()
    history.advance(history.step_to(version(3), None))
    with pytest.raises(OSError, match="directory"):
        history.save()
    was_saved = history.is_saved
    file.rmdir()
    history.save()
    assert (was_saved, history.is_saved) == (False, True)
    assert [entry.since for entry in archive.journal(APEX)] == [1, 2]
    assert rdtype.SOA in history.index.at(APEX)


async def test_a_server_that_stops_writes_what_the_disk_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, refused, tried = History.save, {b"one", b"two"}, set[bytes]()

    def save_what_fits(history: History) -> None:
        label = history.index.origin[1:4]
        if history.journal.until == 2:
            tried.add(label)
            if label in refused:
                raise OSError(errno.ENOSPC, "No space left on device")
        save(history)

    monkeypatch.setattr(History, "save", save_what_fits)
    monkeypatch.setattr(work, "_BACKOFF", Backoff(3600, 3600, 3600))
    files = {label: tmp_path / label for label in ("one", "two")}
    config = ServerConfig(
        (ANY_PORT,),
        zone_files=tuple(ZoneFile(path, f"{label}.test") for label, path in files.items()),
        cache_dir=tmp_path / "cache",
        transfer=TransferConfig(every_zone=Transfer(allow=("127.0.0.1",))),
    )
    write_zones(files.values(), 1)
    async with running(config) as server:
        for label in files:
            await stream(server, query("IXFR", f"{label}.test", serial=0))  # waits until there is a history
        write_zones(files.values(), 2)
        await server.reload()
        await until(lambda: tried == refused, "both are refused")
        refused.remove(b"two")
    archive = archive_in(tmp_path / "cache" / "transfer")
    assert [len(archive.journal(to_wire(f"{label}.test"))) for label in files] == [0, 1]
    archive.close()


async def test_what_a_disk_does_not_forget_at_once_it_forgets_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget, tried = Archive.forget, list[WireName]()

    def forget_later(archive: Archive, apex: WireName) -> None:
        tried.append(apex)
        if len(tried) < 3:
            raise OSError(errno.EIO, "Input/output error")
        forget(archive, apex)

    monkeypatch.setattr(Archive, "forget", forget_later)
    monkeypatch.setattr(work, "_BACKOFF", Backoff(0, 0, 0))
    file, apex = tmp_path / "zone", to_wire("one.test")
    write_zones([file], 1)
    transfer = TransferConfig(every_zone=Transfer(allow=("127.0.0.1",)))
    config = ServerConfig((ANY_PORT,), zone_files=(ZoneFile(file, "one.test"),), cache_dir=tmp_path, transfer=transfer)
    async with running(config) as server:
        await stream(server, query("IXFR", "one.test", serial=0))
        server.catalog.remove(apex)
        await until(lambda: len(tried) == 3, "the disk forgets")


def write_zones(files: Iterable[Path], serial: int) -> None:
    for path in files:
        path.write_text(f"@ 300 SOA . . {serial} 0 0 0 0\n@ 300 NS ns.elsewhere.test.\n")
