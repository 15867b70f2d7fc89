"""The store itself: commits that fail, writers that are cancelled, lists as of earlier versions."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from standalone.store.database import FILE_NAME
from standalone.store.failure import CommitError, ObjectTooLargeError, VersionTooOldError
from standalone.store.limits import Limits
from standalone.store.record import Event, EventType, Key
from standalone.store.store import Store

KEY = Key("", "things", "default", "one")


def make(name: str = "one", **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": name, "uid": f"uid-{name}"}, **more}


async def put(store: Store, key: Key, **more: Any) -> int:
    async with store.locked(key):
        return (await store.put(key, make(key.name, **more))).version


async def remove(store: Store, key: Key) -> int:
    async with store.locked(key) as record:
        assert record is not None
        return (await store.remove(key, record.object())).version


async def test_a_failed_commit_changes_nothing(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await put(store, KEY, count=1)
    seen: list[Event] = []
    store.listen(seen.append)
    version = store.version
    in_the_way = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    in_the_way.execute("BEGIN IMMEDIATE")
    with pytest.raises(CommitError, match="could not be written to disk: database is locked"):
        await put(store, KEY, count=2)
    in_the_way.execute("ROLLBACK")
    in_the_way.close()
    record = store.get(KEY)
    assert record is not None
    assert (record.object()["count"], store.version, seen) == (1, version, [])
    assert await put(store, KEY, count=3) > version
    await store.close()


async def test_a_row_of_failed_commits_is_logged_once_with_what_to_do(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await put(store, KEY)
    in_the_way = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    in_the_way.execute("CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END")
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(CommitError, match="could not be written to disk: no"):
                await put(store, KEY)
        in_the_way.execute("DROP TRIGGER no")
        await put(store, KEY)
    in_the_way.close()
    assert [entry["event"] for entry in logs] == [
        "commits fail; nothing is changed until they work again",
        "commits work again",
    ]
    await store.close()


async def test_nothing_is_confirmed_into_a_file_that_is_not_there_any_more(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await put(store, KEY)
    file, elsewhere = tmp_path / FILE_NAME, tmp_path / "elsewhere"
    file.rename(elsewhere)
    with pytest.raises(CommitError, match="has been removed or replaced"):
        await put(store, KEY)
    elsewhere.rename(file)
    await put(store, KEY)
    await store.close()


async def test_a_full_disk_is_told_with_what_to_do(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await put(store, KEY)
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorname = "SQLITE_FULL"
    assert str(CommitError.of(full)).endswith("is full; make room on the disk of the data directory")
    await store.close()


async def test_writes_go_on_after_a_failed_compaction(tmp_path: Path) -> None:
    limits = Limits(history_events=1, compact_every_events=2)
    store = await Store.open(tmp_path, limits)
    in_the_way = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    in_the_way.execute("CREATE TRIGGER no BEFORE DELETE ON events BEGIN SELECT RAISE(FAIL, 'no'); END")
    with capture_logs() as logs:
        for count in range(6):
            await put(store, KEY, count=count)
    assert "compaction failed; the history on disk stays longer" in {entry["event"] for entry in logs}
    in_the_way.execute("DROP TRIGGER no")
    for count in range(6, 12):
        await put(store, KEY, count=count)
    assert in_the_way.execute("SELECT count(*) FROM events").fetchone()[0] <= 4
    in_the_way.close()
    await store.close()
    assert (await _stored_count(tmp_path)) == 11


async def _stored_count(path: Path) -> Any:
    store = await Store.open(path)
    record = store.get(KEY)
    await store.close()
    return record.object()["count"] if record is not None else None


async def test_few_large_changes_do_not_pile_up_on_disk(tmp_path: Path) -> None:
    limits = Limits(history_bytes=200_000, compact_every_events=1_000_000, compact_every_bytes=200_000)
    store = await Store.open(tmp_path, limits)
    for count in range(60):
        await put(store, KEY, text="x" * 50_000, count=count)
    await store.close()
    assert (tmp_path / FILE_NAME).stat().st_size < 1_000_000


async def test_a_cancelled_writer_holds_its_key_until_the_write_is_settled(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    in_the_way = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    in_the_way.execute("BEGIN IMMEDIATE")
    start = store.version
    writer = asyncio.create_task(put(store, KEY, count=1))
    await asyncio.sleep(0)
    writer.cancel()
    follower = asyncio.create_task(put(store, KEY, count=2))
    in_the_way.execute("ROLLBACK")
    in_the_way.close()
    with pytest.raises(asyncio.CancelledError):
        await writer
    await follower
    events, subscription = store.subscribe("", "things", "", start)
    assert [(event.type, event.record.object()["count"]) for event in events] == [
        (EventType.ADDED, 1),
        (EventType.MODIFIED, 2),
    ]
    assert events[1].previous is events[0].record
    store.unsubscribe("", "things", subscription)
    await store.close()


async def test_an_object_over_the_limit_is_refused(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, Limits(object_bytes=1000))
    with pytest.raises(ObjectTooLargeError) as refused:
        await put(store, KEY, filler="x" * 1000)
    assert refused.value.limit_bytes == 1000
    assert store.get(KEY) is None
    await store.close()


async def test_writers_of_one_key_take_turns(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await put(store, KEY, count=0)

    async def increment() -> None:
        async with store.locked(KEY) as record:
            assert record is not None
            obj = record.object()
            await asyncio.sleep(0)
            await store.put(KEY, obj | {"count": obj["count"] + 1})

    await asyncio.gather(*(increment() for _ in range(50)))
    record = store.get(KEY)
    assert record is not None
    assert record.object()["count"] == 50
    await store.close()


async def test_settled_waits_for_what_was_submitted(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    writes = [asyncio.create_task(put(store, KEY._replace(name=f"n{number}"))) for number in range(10)]
    await asyncio.sleep(0)
    await store.settled()
    assert len(store.records("", "things")) == 10
    await asyncio.gather(*writes)
    await store.close()


STEPS = st.lists(st.tuples(st.sampled_from(["put", "remove", "reopen"]), st.sampled_from("abc")), max_size=40)
States = dict[int, dict[str, int]]
"""What was stored at each version: a count by name."""


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=STEPS, kept_events=st.integers(1, 50))
async def test_every_kept_version_can_be_listed_and_resumed_from(
    steps: list[tuple[str, str]], kept_events: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The history agrees with a plain record of all states, through restarts and compaction."""
    path = tmp_path_factory.mktemp("store")
    limits = Limits(history_events=kept_events, compact_every_events=5)
    store = await Store.open(path, limits)
    state: dict[str, int] = {}
    states: States = {store.version: {}}
    for count, (step, name) in enumerate(steps):
        key = KEY._replace(name=name)
        if step == "reopen":
            await store.close()
            store = await Store.open(path, limits)
        elif step == "put":
            state[name] = count
            states[await put(store, key, count=count)] = dict(state)
        elif name in state:
            del state[name]
            states[await remove(store, key)] = dict(state)
    newest = max(states)
    assert store.version == newest
    forgotten = [version for version in states if not _history_holds(store, version, states)]
    assert all(version < newest - kept_events for version in forgotten)
    await store.close()


def _history_holds(store: Store, version: int, states: States) -> bool:
    """Compare what the store says of one version with what was stored then; False when it is forgotten."""
    try:
        listed = store.records_at("", "things", "", version)
    except VersionTooOldError:
        return False
    assert {record.key.name: record.object()["count"] for record in listed} == states[version]
    missed, subscription = store.subscribe("", "things", "default", version)
    store.unsubscribe("", "things", subscription)
    assert [event.version for event in missed] == sorted(later for later in states if later > version)
    replayed = dict(states[version])
    for event in missed:
        name = event.record.key.name
        assert replayed.get(name) == (event.previous.object()["count"] if event.previous else None)
        if event.type is EventType.DELETED:
            del replayed[name]
        else:
            replayed[name] = event.record.object()["count"]
    assert replayed == states[max(states)]
    return True
