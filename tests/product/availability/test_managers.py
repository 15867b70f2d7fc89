"""Two managers, of which one ends, loses its API or its watches in the middle of a batch: nothing is lost, nothing is written twice."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS
from kube.client import Client
from tests.product.availability.cluster import API, Cluster, leader, running
from tests.product.availability.cutter import Cutter
from tests.product.availability.publications import Publications, following
from tests.product.claim import Claim, claim
from tests.product.stage import Stage, condition

COUNT = 150
TAKEOVER_S = 60.0


@pytest.fixture
def api() -> str:
    """The module that is run as the API server."""
    return API


@pytest.fixture
async def cluster(tmp_path: Path, api: str) -> AsyncIterator[Cluster]:
    async with running(tmp_path, api=api) as cluster:
        yield cluster
        assert cluster.complaints() == ""


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with cluster.connect() as client:
        yield client


@pytest.fixture
async def stage(cluster: Cluster, client: Client) -> Stage:
    name = f"test-{secrets.token_hex(4)}"
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return Stage(client, cluster.server.dns, name, f"{name}.test")


def batch(first: int = 0, count: int = COUNT) -> list[Claim]:
    return [claim(f"host-{number}", "A", f"192.0.2.{number % 250}") for number in range(first, first + count)]


async def apply(stage: Stage, claims: Iterable[Claim]) -> None:
    for each in claims:
        await stage.apply(each.manifest())


async def settled(stage: Stage, claims: list[Claim], published: Publications, limit_s: float = TAKEOVER_S) -> None:
    """Wait until all is Programmed; then every answer is right, and no content was published twice."""
    await stage.until_all_programmed(RECORD_SETS, [each.name for each in claims], limit_s)
    stage.assert_answered(claims)
    published.assert_each_once()


async def test_a_leader_that_is_told_to_end_hands_over_at_once(cluster: Cluster, client: Client, stage: Stage) -> None:
    cluster.start_manager("first")
    assert await leader(client) == "first"
    cluster.start_manager("second")
    await stage.set_up()
    async with following(client, stage.namespace) as published:
        await apply(stage, batch(count=COUNT // 2))
        ending = asyncio.to_thread(cluster.managers["first"].end)
        await asyncio.gather(ending, apply(stage, batch(COUNT // 2, COUNT // 2)))
        await settled(stage, batch(), published, limit_s=20.0)
        assert await leader(client) == "second"


@pytest.mark.slow
async def test_a_leader_that_is_killed_is_replaced(cluster: Cluster, client: Client, stage: Stage) -> None:
    cluster.start_manager("first")
    assert await leader(client) == "first"
    cluster.start_manager("second")
    await stage.set_up()
    async with following(client, stage.namespace) as published:
        await apply(stage, batch(count=COUNT // 2))
        killing = asyncio.to_thread(cluster.managers["first"].end, signal.SIGKILL)
        await asyncio.gather(killing, apply(stage, batch(COUNT // 2, COUNT // 2)))
        await settled(stage, batch(), published)
        assert await leader(client) == "second"


async def test_an_api_that_is_killed_and_comes_back_is_taken_up_again(
    cluster: Cluster, client: Client, stage: Stage
) -> None:
    cluster.start_manager("first")
    await stage.set_up()
    await apply(stage, batch())
    await asyncio.to_thread(cluster.api.end, signal.SIGKILL)
    await asyncio.to_thread(cluster.api.start)
    async with following(client, stage.namespace) as published:
        await apply(stage, batch(COUNT, 10))
        await settled(stage, batch(count=COUNT + 10), published)
    assert await leader(client) == "first"


async def test_watches_that_are_cut_every_second_lose_nothing(cluster: Cluster, client: Client, stage: Stage) -> None:
    async with Cutter(cluster.api.port) as cutter:
        cluster.start_manager("first", api_port=cutter.port)
        await stage.set_up()
        cutting = asyncio.create_task(cutter.cut_every(1.0))
        async with following(client, stage.namespace) as published:
            for number in range(0, COUNT, 10):
                await apply(stage, batch(number, 10))
                await asyncio.sleep(0.2)
            await settled(stage, batch(), published)
        cutting.cancel()
        assert cutter.cuts >= 3
        await asyncio.to_thread(cluster.managers["first"].end)


@pytest.mark.parametrize("api", ["tests.product.availability.small_history"])
async def test_a_manager_that_was_cut_off_longer_than_history_lasts_lists_again(
    cluster: Cluster, client: Client, stage: Stage
) -> None:
    async with Cutter(cluster.api.port) as cutter:
        cluster.start_manager("first", api_port=cutter.port)
        await stage.set_up()
        await apply(stage, batch(count=20))
        cutter.is_open = False
        cutter.cut()
        await cluster.api.forget_history(client)
        cutter.is_open = True
        async with following(client, stage.namespace) as published:
            await apply(stage, batch(20, 10))
            await settled(stage, batch(count=30), published)
        assert "history expired, listing again" in cluster.managers["first"].log.read_text()
        await asyncio.to_thread(cluster.managers["first"].end)


async def test_clocks_that_jump_by_days_change_nothing(cluster: Cluster, client: Client, stage: Stage) -> None:
    jumping = ("-m", "tests.product.availability.jumping_clock")
    cluster.start_manager("first", entry=jumping)
    assert await leader(client) == "first"
    cluster.start_manager("second", entry=jumping)
    await stage.set_up()
    async with following(client, stage.namespace) as published:
        for number in range(0, 60, 10):
            await apply(stage, batch(number, 10))
            await asyncio.sleep(0.3)
        await settled(stage, batch(count=60), published)
    assert await leader(client) == "first"


async def test_claims_that_nobody_judged_when_they_were_written_hold_up_no_other(
    cluster: Cluster, stage: Stage
) -> None:
    """The webhook was down and its failure policy let everything in."""
    cluster.start_manager("first")
    good = claim("good", "A", "192.0.2.1")
    bad = {"long": (".".join(["a" * 60] * 5), "255"), "shouted": ("UPPER", "lowercase")}
    await stage.set_up()
    for name, (owner, _) in bad.items():
        await stage.apply(claim(owner, "A", "192.0.2.2").manifest(name=name))
    await stage.publish(good)
    stage.assert_answered([good])
    for name, (_, word) in bad.items():
        found = await stage.until_there(RECORD_SETS, name, lambda obj: condition(obj, "Accepted") is not None)
        accepted = condition(found, "Accepted")
        assert accepted is not None
        assert accepted["status"] == "False"
        assert word in accepted["message"]
