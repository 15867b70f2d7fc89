"""Events are forgotten an hour after they last happened."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from standalone.apiserver.api import Api
from standalone.apiserver.bootstrap import ensure_namespaces
from standalone.apiserver.cleanup import expiry
from standalone.apiserver.cleanup.expiry import EventExpiry
from standalone.apiserver.create import create
from standalone.apiserver.kinds.builtin import EVENT
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.target import ADMIN, Target
from standalone.registry import Registry
from standalone.store.failure import CommitError
from standalone.store.store import Store
from tests.standalone.test_event import core_event


class Clock:
    """A time that stands until it is set."""

    def __init__(self) -> None:
        self.time = "2026-01-01T00:00:00Z"

    def __call__(self) -> str:
        return self.time


@pytest.mark.parametrize(("time", "left"), [("2026-01-01T01:30:00Z", 1), ("2026-01-01T01:30:01Z", 0)])
async def test_an_event_is_kept_for_an_hour_after_it_was_last_seen(tmp_path: Path, time: str, left: int) -> None:
    store, clock = await Store.open(tmp_path), Clock()
    api = Api(store, Registry(), now=clock)
    await ensure_namespaces(api)
    event = core_event("one", "default", "a") | {"lastTimestamp": "2026-01-01T00:30:00Z"}
    await create(api, Target(EVENT, "default"), event, WriteOptions("tester"), ADMIN)
    clock.time = time
    await EventExpiry(api).sweep()
    assert len(store.records(*EVENT.storage_key)) == left
    await store.close()


async def test_what_the_disk_refuses_is_forgotten_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await Store.open(tmp_path)
    swept, tries = asyncio.Event(), 0

    async def sweep(_: EventExpiry) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CommitError("the disk is full")
        swept.set()

    monkeypatch.setattr(expiry, "SWEEP_INTERVAL_S", 0.0)
    monkeypatch.setattr(EventExpiry, "sweep", sweep)
    running = asyncio.create_task(EventExpiry(Api(store, Registry())).run())
    async with asyncio.timeout(5):
        await swept.wait()
    running.cancel()
    await store.close()
