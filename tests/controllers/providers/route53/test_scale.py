"""Large zones: few calls to get there, none to stay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.fake.zone import VALUES_LIMIT
from tests.controllers.providers.route53.world import TEAM, Object, World, a, condition_of, entering

CHANGE = "ChangeResourceRecordSets"
AT_ONCE = 32
LIMIT_S = 500.0


async def create(world: World, manifests: Iterable[Object]) -> None:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(manifest: Object) -> None:
        async with free:
            own = {**manifest, "metadata": {"namespace": TEAM, **manifest["metadata"]}}
            await world.client.create(RECORD_SETS, own)

    async with asyncio.TaskGroup() as tasks:
        for manifest in manifests:
            tasks.create_task(one(manifest))


async def all_programmed(world: World, count: int) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            listing = await world.client.list(RECORD_SETS, namespace=TEAM)
            found = [condition_of(obj, "Programmed") for obj in listing.items]
            if sum(each is not None and each["status"] == "True" for each in found) == count:
                return
            await asyncio.sleep(0.5)


async def converges(world: World, count: int) -> None:
    await world.set_up()
    await world.stop_manager()
    await create(world, (a(f"host-{number}", f"192.0.{number % 250}.1") for number in range(count)))
    before = world.aws.count()
    await world.start_manager()
    await all_programmed(world, count)
    assert len(world.records()) == count
    calls = world.aws.count(CHANGE)
    assert calls <= -(-count // VALUES_LIMIT) + 2
    assert world.aws.count() - before == calls
    await world.restart_manager()
    await world.programmed(ZONES, "zone")
    await world.quiet(2)
    assert world.aws.count(CHANGE) == calls, "a second look writes nothing"


async def test_some_hundred_record_sets_converge_in_one_batch_and_stay_quiet(tmp_path: Path, aws: FakeAws) -> None:
    async with entering(tmp_path, aws) as world:
        await converges(world, 300)
        assert world.aws.count(CHANGE) == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_five_thousand_record_sets_converge_in_seven_calls_and_stay_quiet(tmp_path: Path, aws: FakeAws) -> None:
    async with entering(tmp_path, aws) as world:
        await converges(world, 5000)
        units = await world.client.list(ZONE_UNITS, namespace=TEAM)
        assert len(units.items) > 1, "the ledger has several parts"
