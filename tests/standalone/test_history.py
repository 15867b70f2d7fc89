"""The bounded history: watches and lists that ask for more than is kept, bookmarks, and watchers that do not read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from standalone.apiserver import watch
from standalone.apiserver.api import Api
from standalone.apiserver.form import Form
from standalone.apiserver.option import ListOptions
from standalone.apiserver.server import ApiServer
from standalone.apiserver.target import Target
from standalone.store import subscription
from standalone.store.limits import Limits
from tests.standalone.rest import Rest
from tests.standalone.widget import config_map, config_maps

PATH = config_maps("default")


@pytest.fixture
async def forgetful(tmp_path: Path) -> AsyncIterator[Rest]:
    """A server that keeps ten events."""
    async with (
        ApiServer(tmp_path, limits=Limits(history_events=10, compact_every_events=10)) as server,
        aiohttp.ClientSession() as session,
    ):
        yield Rest(session, server.url)


async def _write(rest: Rest, count: int) -> None:
    for number in range(count):
        (await rest.apply(f"{PATH}/n{number % 3}", config_map(f"n{number % 3}", count=str(number)), "me")).ok()


async def test_a_watch_from_before_the_history_is_told_so_in_the_stream(forgetful: Rest) -> None:
    await _write(forgetful, 30)
    async with forgetful.watch(PATH, resourceVersion="2") as stream:
        event_type, status = await stream.next()
        await stream.ended()
    assert (event_type, status["kind"], status["code"], status["reason"]) == ("ERROR", "Status", 410, "Expired")
    assert status["message"].startswith("too old resource version: 2 (")


async def test_a_client_of_a_store_that_is_gone_is_told_so_however_much_was_written_since(tmp_path: Path) -> None:
    versions = []
    for place in ("first", "second"):
        async with ApiServer(tmp_path / place) as server, aiohttp.ClientSession() as session:
            rest = Rest(session, server.url)
            await _write(rest, 60)
            versions.append((await rest.get(PATH)).ok()["metadata"]["resourceVersion"])
            async with rest.watch(PATH, resourceVersion=versions[0], timeoutSeconds="1") as stream:
                if place == "second":
                    event_type, status = await stream.next()
                    assert (event_type, status["code"]) == ("ERROR", 410)


async def test_a_token_from_before_the_history_can_be_continued_from_the_present(forgetful: Rest) -> None:
    await _write(forgetful, 3)
    first = (await forgetful.get(PATH, limit="1")).ok()
    await _write(forgetful, 30)
    reply = await forgetful.get(PATH, limit="1", **{"continue": first["metadata"]["continue"]})
    assert "The provided continue parameter is too old" in reply.refused(410, "Expired")
    following = (await forgetful.get(PATH, **{"continue": reply.body["metadata"]["continue"]})).ok()
    assert [item["metadata"]["name"] for item in following["items"]] == ["n1", "n2"]


async def test_an_exact_list_from_before_the_history_is_refused(forgetful: Rest) -> None:
    await _write(forgetful, 30)
    (await forgetful.get(PATH, resourceVersion="3", resourceVersionMatch="Exact")).refused(410, "Expired")


@pytest.mark.parametrize("query", [{}, {"resourceVersionMatch": "NotOlderThan"}])
async def test_a_version_that_is_yet_to_come_is_refused(forgetful: Rest, query: dict[str, str]) -> None:
    reply = await forgetful.get(PATH, resourceVersion="9999999999999999", **query)
    assert "Too large resource version: 999999" in reply.refused(504, "Timeout")
    assert reply.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_the_history_on_disk_is_cut_too(tmp_path: Path) -> None:
    limits = Limits(history_events=10, compact_every_events=10)
    async with ApiServer(tmp_path, limits=limits) as server, aiohttp.ClientSession() as session:
        await _write(Rest(session, server.url), 200)
    async with ApiServer(tmp_path) as server, aiohttp.ClientSession() as session:
        rest = Rest(session, server.url)
        items = (await rest.get(PATH)).ok()["items"]
        assert {item["metadata"]["name"]: item["data"]["count"] for item in items} == {
            "n0": "198",
            "n1": "199",
            "n2": "197",
        }
        newest = int(items[1]["metadata"]["resourceVersion"])
        async with rest.watch(PATH, resourceVersion=str(newest - 5)) as stream:
            assert [event_type for event_type, _ in await stream.names(5)] == ["MODIFIED"] * 5
        async with rest.watch(PATH, resourceVersion=str(newest - 50)) as stream:
            assert (await stream.next())[0] == "ERROR"


async def test_a_quiet_watch_gets_bookmarks(rest: Rest, server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BOOKMARK_INTERVAL_S", 0.05)
    start = (await rest.get(PATH)).ok()["metadata"]["resourceVersion"]
    async with rest.watch(PATH, allowWatchBookmarks="true", resourceVersion=start) as stream:
        event_type, first = await stream.next()
        (await rest.post(config_maps("kube-system"), config_map("elsewhere"))).ok()
        while True:
            event_type, later = await stream.next()
            if later["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]:
                break
    assert (event_type, later["kind"], later["apiVersion"]) == ("BOOKMARK", "ConfigMap", "v1")
    assert int(later["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])


async def test_a_watcher_that_is_cut_off_is_not_told_that_it_has_seen_everything(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when a bookmark is due at that moment: it would go on behind what it has missed."""
    monkeypatch.setattr(watch, "BOOKMARK_INTERVAL_S", 0.05)
    assert server._store is not None
    assert server._registry is not None
    api = Api(server._store, server._registry)
    resource = api.registry.lookup("", "v1", "configmaps")
    assert resource is not None
    options = ListOptions(version=api.store.version, allow_bookmarks=True)
    stream = watch.start(api, Target(resource, "default"), options, Form())

    async def follow() -> bytes:
        return b"".join([chunk async for chunk in stream.chunks()])

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    stream.subscription.close()
    time.sleep(0.1)  # noqa: ASYNC251 - the loop is busy until the bookmark is due
    assert await following == b""
    stream.close()


async def test_a_watcher_that_does_not_read_is_cut_off(
    rest: Rest, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends, and can go on from where it was; nobody else waits for it."""
    monkeypatch.setattr(subscription, "LIMIT_QUEUED_BYTES", 2_000_000)
    big = "x" * 500_000
    start = (await rest.get(PATH)).ok()["metadata"]["resourceVersion"]
    async with rest.watch(PATH, resourceVersion=start) as stream:
        for number in range(40):
            (await rest.apply(f"{PATH}/big", config_map("big", filler=big, count=str(number)), "me")).ok()
        assert 0 < await stream.count() < 40
