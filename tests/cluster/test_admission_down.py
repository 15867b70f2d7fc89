"""Managers that answer webhooks die: writes are refused or tried again, and nothing is lost, judged wrongly or written twice."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS
from kube.client import Client
from kube.errors import Invalid, KubeError
from tests.cluster.control_plane import free_ports
from tests.product.availability.cluster import Cluster, Real, leader, running
from tests.product.availability.publications import following
from tests.product.claim import Claim, claim
from tests.product.stage import Stage

pytestmark = pytest.mark.slow

COUNT = 60
WORDS = ("--no-route53-controller-enabled", "--no-cloudflare-controller-enabled", "--no-external-controller-enabled")
LIMIT_S = 60.0
WITHOUT_A_LEADER_S = 40.0
AGAIN_S = 0.2


class Admitted:
    """A cluster whose API server asks the managers before it takes a write."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        assert isinstance(cluster.api, Real)
        self._installation = cluster.api.installation
        self._ports: dict[str, int] = {}

    async def admit(self) -> None:
        await asyncio.to_thread(self._installation.admit)

    async def start_manager(self, name: str) -> None:
        """Run a manager and name it as one that answers the webhook Service."""
        (self._ports[name],) = free_ports(1)
        words = await asyncio.to_thread(self._installation.manager_words, name, self._ports[name])
        self.cluster.start_manager(name, words=words)
        await self._announce()

    async def kill_manager(self, name: str) -> None:
        """Kill it; until it is taken from the Service the API server goes on asking it, too."""
        await asyncio.to_thread(self.cluster.managers[name].end, signal.SIGKILL)

    async def take_from_service(self, name: str) -> None:
        """Do what the endpoint controller does when it has seen that a pod is not ready."""
        del self._ports[name]
        await self._announce()

    async def _announce(self) -> None:
        await asyncio.to_thread(self._installation.announce_webhooks)
        if self._ports:
            await asyncio.to_thread(self._installation.announce_webhooks, *self._ports.values())


@pytest.fixture
async def admitted(programs: Path, tmp_path: Path) -> AsyncIterator[Admitted]:
    async with running(tmp_path, WORDS) as cluster:
        found = Admitted(cluster)
        await found.start_manager("first")
        await found.admit()
        yield found
        assert cluster.complaints() == ""


@pytest.fixture
async def client(admitted: Admitted) -> AsyncIterator[Client]:
    async with admitted.cluster.connect() as client:
        yield client


@pytest.fixture
async def stage(admitted: Admitted, client: Client) -> Stage:
    name = f"test-{secrets.token_hex(4)}"
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    stage = Stage(client, admitted.cluster.server.dns, name, f"{name}.test")
    assert await leader(client) == "first"
    await until_taken(stage, claim("first", "A", "192.0.2.1"))
    await stage.set_up()
    return stage


async def until_taken(stage: Stage, each: Claim) -> int:
    """Apply until the API takes it, as GitOps does, and return how often it was refused because nobody judged it."""
    refusals = 0
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await stage.apply(each.manifest())
            except KubeError as error:
                if "failed calling webhook" not in error.message:
                    raise
                refusals += 1
                await asyncio.sleep(AGAIN_S)
            else:
                return refusals


def batch(first: int, count: int) -> list[Claim]:
    return [claim(f"host-{number}", "A", f"192.0.2.{number % 250}") for number in range(first, first + count)]


async def test_a_leader_that_dies_while_the_api_still_asks_it_is_replaced(
    admitted: Admitted, client: Client, stage: Stage
) -> None:
    await admitted.start_manager("second")
    async with following(client, stage.namespace) as published:
        for each in batch(0, COUNT // 2):
            await until_taken(stage, each)
        killing = asyncio.create_task(admitted.kill_manager("first"))
        refusals = sum([await until_taken(stage, each) for each in batch(COUNT // 2, COUNT // 2)])
        await killing
        await admitted.take_from_service("first")
        every = batch(0, COUNT)
        await stage.until_all_programmed(RECORD_SETS, [each.name for each in every], LIMIT_S)
        stage.assert_answered(every)
        published.assert_each_once()
    assert refusals > 0, "the API asked a dead manager at no time"
    assert await leader(client) == "second"


async def test_while_nobody_judges_nothing_changes_and_the_rest_is_taken_later(
    admitted: Admitted, client: Client, stage: Stage
) -> None:
    before = claim("before", "A", "192.0.2.1")
    await stage.publish(before)
    serial = stage.serial()
    await admitted.kill_manager("first")
    await admitted.take_from_service("first")
    after = claim("after", "A", "192.0.2.2")
    for refused in (after, claim("before", "A", "192.0.2.9")):
        with pytest.raises(KubeError, match="failed calling webhook"):
            await stage.apply(refused.manifest())
    stage.assert_answered([before])
    assert stage.serial() == serial

    await admitted.start_manager("second")
    await until_taken(stage, after)
    await stage.until_all_programmed(RECORD_SETS, [after.name], WITHOUT_A_LEADER_S)
    stage.assert_answered([before, after])
    with pytest.raises(Invalid, match=r"spec\.name"):
        await stage.apply(claim("UPPER", "A", "192.0.2.3").manifest(name="upper"))
