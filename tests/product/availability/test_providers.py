"""A leader that ends, dies or freezes in the middle of a batch for a provider: the next one finishes it, and nothing is done twice."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_UNITS, ZONES
from kube.client import Client
from tests.product.availability.cloud import FOREIGN, REFS, Cloud, Object, serving_cloudflare, serving_route53
from tests.product.availability.cluster import Cluster, leader, running
from tests.product.patience import until
from tests.product.stage import Stage

COUNT = 60
CLOUDS = [serving_route53, serving_cloudflare]
TAKEOVER_S = 60.0
NAMES = [f"host-{number}" for number in range(COUNT)]


@dataclass(frozen=True, slots=True)
class Scene:
    """A zone at a provider, and two managers of which `first` leads."""

    cloud: Cloud
    cluster: Cluster
    client: Client
    stage: Stage

    @property
    def namespace(self) -> str:
        return self.stage.namespace

    async def apply(self, *manifests: Object) -> None:
        for each in manifests:
            own = {**each, "metadata": {**each["metadata"], "namespace": self.namespace}}
            await self.client.apply(REFS[each["kind"]], own, manager="test", force=True)

    async def claim(self, names: list[str], address: str) -> None:
        await self.apply(*(self.cloud.address(each, address) for each in names))

    async def settled(self, names: list[str]) -> None:
        await self.stage.until_all_programmed(RECORD_SETS, names, limit_s=TAKEOVER_S)

    def assert_nothing_was_done_twice(self) -> None:
        assert {what: times for what, times in self.cloud.done().items() if times > 1} == {}
        assert self.cloud.refused() == []


@asynccontextmanager
async def playing(folder: Path, cloud: Cloud) -> AsyncIterator[Scene]:
    async with running(folder, cloud.words, cloud.environment) as cluster, cluster.connect() as client:
        cluster.start_manager("first")
        assert await leader(client) == "first"
        cluster.start_manager("second")
        namespace = f"test-{secrets.token_hex(4)}"
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        scene = Scene(cloud, cluster, client, Stage(client, cluster.server.dns, namespace, cloud.domain))
        await scene.apply(*cloud.claims())
        await scene.stage.until_programmed(ZONES, "zone")
        await asyncio.to_thread(cloud.plant)
        yield scene
        assert cluster.complaints() == ""


@pytest.fixture(params=CLOUDS, ids=["route53", "cloudflare"])
async def scene(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    with request.param() as cloud:
        async with playing(tmp_path, cloud) as scene:
            yield scene


def expected(address: str) -> dict[str, set[str]]:
    return {FOREIGN: {"192.0.2.99"}} | {name: {address} for name in NAMES}


def once(wanted: bool, strike: Callable[[], None]) -> tuple[Callable[[bool], None], threading.Event]:
    """Return what strikes at the first question that writes, or that does not, and what tells that it has."""
    struck = threading.Event()

    def heard(writes: bool) -> None:
        if writes is wanted and not struck.is_set():
            struck.set()
            strike()

    return heard, struck


async def test_a_leader_that_is_told_to_end_leaves_a_batch_to_the_next(scene: Scene) -> None:
    await scene.claim(NAMES[: COUNT // 2], "192.0.2.1")
    ending = asyncio.to_thread(scene.cluster.managers["first"].end)
    await asyncio.gather(ending, scene.claim(NAMES[COUNT // 2 :], "192.0.2.1"))
    await scene.settled(NAMES)
    assert await leader(scene.client) == "second"
    assert scene.cloud.addresses() == expected("192.0.2.1")
    scene.assert_nothing_was_done_twice()


@pytest.mark.slow
async def test_a_leader_is_killed_while_its_batch_is_under_way(scene: Scene) -> None:
    """It is dead before the provider has done what it asked for, and never hears that it was done."""
    pid = scene.cluster.managers["first"].pid
    heard, struck = once(True, lambda: os.kill(pid, signal.SIGKILL))
    scene.cloud.listen(heard)
    await scene.claim(NAMES, "192.0.2.1")
    await scene.settled(NAMES)
    assert struck.is_set()
    assert await leader(scene.client) == "second"
    assert scene.cloud.addresses() == expected("192.0.2.1")
    scene.assert_nothing_was_done_twice()


@pytest.mark.slow
@pytest.mark.parametrize("writes", [False, True], ids=["between look and write", "while it writes"])
async def test_a_leader_that_was_frozen_writes_nothing_any_more(scene: Scene, writes: bool) -> None:
    """It thaws with what it was told before others led, and has to let go of it."""
    first = scene.cluster.managers["first"]
    heard, struck = once(writes, lambda: os.kill(first.pid, signal.SIGSTOP))
    scene.cloud.listen(heard)
    try:
        await scene.claim(NAMES, "192.0.2.1")
        await asyncio.to_thread(struck.wait, 30)
        assert await leader(scene.client, lambda each: each == "second", limit_s=TAKEOVER_S) == "second"
        await scene.settled(NAMES)
        scene.assert_nothing_was_done_twice()
        await scene.claim(NAMES, "192.0.2.2")
        await scene.settled(NAMES)
        written = await quiet(scene)
        done = scene.cloud.done().copy()
    finally:
        os.kill(first.pid, signal.SIGCONT)
    await asyncio.to_thread(until, lambda: "lost leadership" in first.said(), "the end of its leadership")
    await asyncio.to_thread(first.end)  # it finishes what it has begun
    assert scene.cloud.done() == done
    assert await versions(scene) == written
    assert scene.cloud.addresses() == expected("192.0.2.2")
    assert scene.cloud.refused() == []
    assert await leader(scene.client) == "second"


async def quiet(scene: Scene) -> dict[tuple[str, str], str]:
    """Wait until nothing has been written for a while; return the version of everything."""
    before, now = None, await versions(scene)
    async with asyncio.timeout(TAKEOVER_S):
        while before != now:
            await asyncio.sleep(2.0)
            before, now = now, await versions(scene)
    return now


async def versions(scene: Scene) -> dict[tuple[str, str], str]:
    """Return the version of everything that a manager writes."""
    found = {}
    for ref in (ZONES, RECORD_SETS, ZONE_UNITS):
        for each in (await scene.client.list(ref, namespace=scene.namespace)).items:
            found[ref.kind, each["metadata"]["name"]] = each["metadata"]["resourceVersion"]
    return found
