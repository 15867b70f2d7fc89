"""Following objects through everything that can happen to a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest

from cli.api.follow import Change, Scope, follow
from kube.access import Access
from kube.client import Client
from kube.errors import Unavailable
from kube.resource import ResourceRef
from tests.kube.fake_api import FakeApi

THINGS = ResourceRef("x.io", "v1", "things", "Thing")
COLLECTION = "/apis/x.io/v1/things"


@pytest.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        yield server


@pytest.fixture
async def client(fake: FakeApi, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    monkeypatch.setattr("cli.api.follow._FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr("cli.api.follow._LONGEST_PAUSE_S", 0.02)
    async with Client(Access(fake.url)) as opened:
        yield opened


def put(fake: FakeApi, name: str, **spec: int) -> None:
    fake.put(COLLECTION, {"metadata": {"namespace": "ns", "name": name}, "spec": spec})


async def until_watched(fake: FakeApi) -> None:
    async with asyncio.timeout(60):
        while not fake.watching:  # noqa: ASYNC110 - the fake server tells only when it is asked
            await asyncio.sleep(0)


async def seen(steps: AsyncGenerator[list[Change]]) -> list[tuple[str, object]]:
    """The next changes that are any: names and specs, None for what is gone."""
    async with asyncio.timeout(60):
        while not (changes := await anext(steps)):
            pass
    return [(change.key.name, change.obj and change.obj["spec"]) for change in changes]


async def test_a_listing_then_changes(fake: FakeApi, client: Client) -> None:
    put(fake, "a")
    put(fake, "b")
    async with aclosing(follow(client, Scope(THINGS, "ns"))) as steps:
        assert await seen(steps) == [("a", {}), ("b", {})]
        put(fake, "c", size=1)
        assert await seen(steps) == [("c", {"size": 1})]
        fake.remove(COLLECTION, "ns", "a")
        assert await seen(steps) == [("a", None)]


async def test_an_ended_watch_goes_on(fake: FakeApi, client: Client) -> None:
    async with aclosing(follow(client, Scope(THINGS, "ns"))) as steps:
        assert await anext(steps) == []
        put(fake, "a")
        assert await seen(steps) == [("a", {})]
        fake.end_watches()
        put(fake, "b")
        assert await seen(steps) == [("b", {})]
    assert sum(request.is_list for request in fake.requests) == 1


@pytest.mark.parametrize("how", ["cut", "gone", "restart"])
async def test_only_what_differs_is_told_after_a_break(fake: FakeApi, client: Client, how: str) -> None:
    for name in ("a", "b", "c"):
        put(fake, name)
    troubles: list[str] = []
    async with aclosing(follow(client, Scope(THINGS, "ns"), troubles.append)) as steps:
        assert len(await seen(steps)) == 3
        put(fake, "d")
        assert await seen(steps) == [("d", {})]
        following = asyncio.create_task(seen(steps))
        await until_watched(fake)
        if how == "restart":
            port = fake.port
            await fake.stop()
        put(fake, "b", size=2)
        fake.remove(COLLECTION, "ns", "a")
        match how:
            case "cut":
                fake.cut_watches()
            case "gone":
                fake.compact()
                fake.expire_in_stream()
            case "restart":
                fake.compact()
                await fake.start(port)
        told = dict(await following)
        while len(told) < 2:
            told |= dict(await seen(steps))
        assert told == {"b": {"size": 2}, "a": None}
    assert bool(troubles) is (how != "gone")


async def test_the_first_listing_must_work(client: Client, fake: FakeApi) -> None:
    await fake.stop()
    async with aclosing(follow(client, Scope(THINGS, "ns"))) as steps:
        with pytest.raises(Unavailable):
            await anext(steps)


async def test_selectors_reach_the_server(fake: FakeApi, client: Client) -> None:
    put(fake, "a")
    async with aclosing(follow(client, Scope(THINGS, "ns", "a", "x=y"))) as steps:
        await anext(steps)
    assert {fake.requests[0].query[name] for name in ("fieldSelector", "labelSelector")} == {"metadata.name=a", "x=y"}
