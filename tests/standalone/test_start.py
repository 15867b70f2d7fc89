"""Starting and stopping: what survives, and what is refused with what to do about it."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from standalone.apiserver.server import ApiServer, ListenError
from standalone.store.directory import DataDir
from standalone.store.failure import (
    DataDirInUseError,
    DataDirUnusableError,
    DataDirVersionError,
)
from tests.standalone.rest import Rest
from tests.standalone.widget import DEFINITIONS, NAMESPACES, Widgets, config_map, config_maps


@asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[Rest]:
    async with ApiServer(data_dir) as server, aiohttp.ClientSession() as session:
        yield Rest(session, server.url)


async def test_everything_survives_a_restart(tmp_path: Path) -> None:
    widgets = Widgets("stable.example.com", "default")
    async with running(tmp_path) as rest:
        (await rest.post(DEFINITIONS, widgets.definition)).ok()
        (await rest.post(widgets.path, widgets.make("one"))).ok()
        (await rest.post(widgets.path, widgets.make("two"))).ok()
        (await rest.delete(widgets.at("two"))).ok()
        before = (await rest.get(widgets.path)).ok()
    async with running(tmp_path) as rest:
        assert (await rest.get(widgets.path)).ok() == before
        (await rest.patch(widgets.at("one"), {"spec": {"size": 2}})).ok()
        after = (await rest.get(widgets.path)).ok()
        assert int(after["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"])


async def test_a_watch_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = config_maps("default")
    async with running(tmp_path) as rest:
        start = (await rest.get(path)).ok()["metadata"]["resourceVersion"]
        (await rest.post(path, config_map("a", metadata={"labels": {"on": "yes"}}))).ok()
        (await rest.patch(f"{path}/a", {"metadata": {"labels": {"on": "no"}}})).ok()
    async with running(tmp_path) as rest:
        async with rest.watch(path, resourceVersion=start, labelSelector="on=yes") as stream:
            assert await stream.names(2) == [("ADDED", "a"), ("DELETED", "a")]
        (await rest.delete(f"{path}/a")).ok()
        async with rest.watch(path, resourceVersion=start) as stream:
            assert await stream.names(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_work_left_undone_is_done_after_a_restart(tmp_path: Path) -> None:
    """Terminating namespaces and orphaned dependents are found again."""
    async with running(tmp_path) as rest:
        owner = (await rest.post(config_maps("default"), config_map("owner"))).ok()
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        held = {"ownerReferences": [reference]}
        (await rest.post(config_maps("default"), config_map("dependent", metadata=held))).ok()
        (await rest.post(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}})).ok()
    with sqlite3.connect(tmp_path / "objects.sqlite") as database:
        database.execute("DELETE FROM objects WHERE name = 'owner'")
        terminating = "json_set(CAST(body AS TEXT), '$.metadata.deletionTimestamp', '2026-01-01T00:00:00Z')"
        database.execute(f"UPDATE events SET body = CAST({terminating} AS BLOB) WHERE name = 'old'")
    database.close()
    async with running(tmp_path) as rest:
        await rest.gone(f"{config_maps('default')}/dependent")
        await rest.gone(f"{NAMESPACES}/old")


async def test_a_data_directory_is_used_by_one_process(tmp_path: Path) -> None:
    async with ApiServer(tmp_path):
        with pytest.raises(DataDirInUseError, match=rf"is in use by process {os.getpid()}; stop it or choose another"):
            await ApiServer(tmp_path).start()
    async with ApiServer(tmp_path):
        pass


async def test_a_data_directory_of_another_format_is_refused(tmp_path: Path) -> None:
    async with ApiServer(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "objects.sqlite") as database:
        database.execute("UPDATE meta SET value = 99 WHERE name = 'format'")
    database.close()
    with pytest.raises(DataDirVersionError, match=r"has format 99, this program reads format 1; run the version"):
        await ApiServer(tmp_path).start()


async def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "objects.sqlite") as database:
        database.execute("CREATE TABLE other (a)")
    database.close()
    with pytest.raises(DataDirUnusableError, match="is an SQLite file of another program"):
        await ApiServer(tmp_path).start()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "objects.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataDirUnusableError, match="cannot be opened as a store: file is not a database"):
        await ApiServer(tmp_path).start()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = CAST(substr(CAST(body AS TEXT), 2) AS BLOB)",
        "UPDATE events SET type = 'OTHER'",
        "DELETE FROM events",
        "DELETE FROM meta",
        "DROP TABLE events",
        "UPDATE events SET body = CAST('[]' AS BLOB)",
    ],
)
async def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path, damage: str) -> None:
    async with running(tmp_path) as rest:
        (await rest.post(config_maps("default"), config_map("a"))).ok()
    with sqlite3.connect(tmp_path / "objects.sqlite") as database:
        database.execute(damage)
    database.close()
    with pytest.raises(DataDirUnusableError, match=r"cannot be opened as a store: .*; "):
        await ApiServer(tmp_path).start()


async def test_a_file_that_lost_its_content_is_not_an_empty_store(tmp_path: Path) -> None:
    async with running(tmp_path) as rest:
        (await rest.post(config_maps("default"), config_map("a"))).ok()
    file = tmp_path / "objects.sqlite"
    file.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(
            DataDirUnusableError, match=rf"{file} has lost its content: .*; move objects.sqlite, objects.sqlite-wal and"
        ):
            await ApiServer(tmp_path).start()
    assert file.stat().st_size == 0
    (tmp_path / "objects.sqlite-wal").write_bytes(b"rest")
    file.unlink()
    with pytest.raises(
        DataDirUnusableError, match=rf"{file} is missing, but its journal objects.sqlite-wal is there; move"
    ):
        await ApiServer(tmp_path).start()
    (tmp_path / "objects.sqlite-wal").unlink()
    async with running(tmp_path) as rest:
        assert not (await rest.get(config_maps("default"))).ok()["items"]


async def test_a_link_that_leads_nowhere_is_not_an_empty_store(tmp_path: Path) -> None:
    file = tmp_path / "objects.sqlite"
    file.symlink_to(tmp_path / "absent" / "objects.sqlite")
    with pytest.raises(DataDirUnusableError, match=rf"{file} leads to {tmp_path}/absent/objects.sqlite, where nothing"):
        await ApiServer(tmp_path).start()
    assert file.is_symlink()


async def test_a_file_without_the_journal_that_held_its_tables_is_told_as_such(tmp_path: Path) -> None:
    file = tmp_path / "objects.sqlite"
    sqlite3.connect(file).execute("PRAGMA journal_mode = WAL").connection.close()
    assert file.stat().st_size
    with pytest.raises(DataDirUnusableError, match=rf"{file} has lost its content: .*; move objects.sqlite, "):
        await ApiServer(tmp_path).start()


async def test_a_new_store_that_cannot_get_its_name_is_told_with_a_remedy_that_keeps_data(tmp_path: Path) -> None:
    (tmp_path / "objects.sqlite.new").mkdir()
    with pytest.raises(DataDirUnusableError, match="make it readable and writable or choose another --data-dir"):
        await ApiServer(tmp_path).start()


async def test_a_disk_that_takes_nothing_is_told_at_the_start_and_can_be_read(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    async with running(old) as rest:
        (await rest.post(config_maps("default"), config_map("a"))).ok()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        DataDir.open(old).close()
        with pytest.raises(DataDirUnusableError, match=r"cannot be opened as a store: .*; look after the disk"):
            await ApiServer(new).start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    async with ApiServer(new):
        pass


async def test_a_store_that_was_not_made_to_the_end_is_made_anew(tmp_path: Path) -> None:
    for name in ("objects.sqlite.new", "objects.sqlite.new-journal"):
        (tmp_path / name).write_bytes(b"half a store")
    async with running(tmp_path) as rest:
        (await rest.post(config_maps("default"), config_map("a"))).ok()
    assert sorted(os.listdir(tmp_path)) == ["lock", "objects.sqlite"]


async def test_a_file_with_broken_pages_is_refused_with_what_to_do(tmp_path: Path) -> None:
    async with running(tmp_path) as rest:
        for number in range(50):
            (await rest.post(config_maps("default"), config_map(f"m{number}", text="x" * 900))).ok()
    path = tmp_path / "objects.sqlite"
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xa5" * (path.stat().st_size - 4096 * 5))
    with pytest.raises(
        DataDirUnusableError, match=r"malformed; move objects.sqlite, .* away, then put an undamaged copy"
    ):
        await ApiServer(tmp_path).start()


async def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirUnusableError, match=r"cannot be used: .*; choose a writable directory with --data-dir"):
        await ApiServer(tmp_path / "file").start()
    with pytest.raises(DataDirUnusableError, match="cannot be used: Not a directory"):
        await ApiServer(tmp_path / "file" / "below").start()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_directory_that_is_not_writable_is_refused(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o500)
    with pytest.raises(DataDirUnusableError, match="cannot be used: Permission denied"):
        await ApiServer(tmp_path).start()


async def test_a_port_in_use_is_refused_and_the_directory_is_free_again(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        message = f"address 127.0.0.1:{port} is in use by another program; choose another one with --api"
        with pytest.raises(ListenError, match=message):
            await ApiServer(tmp_path, port=port).start()
    async with ApiServer(tmp_path):
        pass


async def test_stopping_ends_watches_and_finishes_writes(tmp_path: Path) -> None:
    path = config_maps("default")
    async with aiohttp.ClientSession() as session:
        server = ApiServer(tmp_path)
        await server.start()
        rest = Rest(session, server.url)
        start = (await rest.get(path)).ok()["metadata"]["resourceVersion"]
        async with rest.watch(path, resourceVersion=start) as stream:
            writes = [asyncio.create_task(rest.post(path, config_map(f"n{number}"))) for number in range(20)]
            await stream.names(1)
            await asyncio.gather(server.stop(), *writes, return_exceptions=True)
    acknowledged = {
        write.result().body["metadata"]["name"]
        for write in writes
        if not write.exception() and write.result().code == 201
    }
    async with running(tmp_path) as rest:
        kept = {item["metadata"]["name"] for item in (await rest.get(path)).ok()["items"]}
    assert acknowledged <= kept
    assert acknowledged
