"""Ended in order or killed, and started again: what was going on goes on, and what was finished stays as it is."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONES
from kube.config import connect
from kube.errors import RetryableError
from tests.product.claim import ZONE, ZONE_CLASS, claim
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import EVERYTHING, Stage
from tests.product.writes import moment, versions, writes_since

SETTLED_S = 3
MANY = [claim(f"host-{number}", "A", f"192.0.2.{number}") for number in range(100)]
LARGE = [claim(f"text-{number}", "TXT", "x" * 2000) for number in range(40)]
KILLS_IN_DELETION = 8

End = Callable[[Product], None]
ENDS = [pytest.param(Product.stop, id="in order", marks=pytest.mark.slow), pytest.param(Product.kill, id="killed")]


@pytest.mark.parametrize("end", ENDS)
async def test_a_restart_writes_nothing(fragile: Product, end: End) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await stage.set_up(*MANY[:20], *LARGE)
        before = await versions(client, EVERYTHING)
    serial = stage.serial()
    end(fragile)
    fragile.start()
    stage.assert_answered([*MANY[:20], *LARGE])
    assert stage.serial() == serial
    async with connect(fragile.kubeconfig) as client:
        # a watch may not reach back over the restart
        assert await writes_since(client, await moment(client, EVERYTHING), SETTLED_S) == {}
        assert await versions(client, EVERYTHING) == before


@pytest.mark.parametrize("end", ENDS)
async def test_what_was_applied_before_the_end_is_programmed_after_it(fragile: Product, end: End) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await stage.set_up()
        for each in MANY:
            await stage.apply(each.manifest())
    end(fragile)
    fragile.start()
    async with connect(fragile.kubeconfig) as client:
        live = replace(stage, client=client)
        await live.until_all_programmed(RECORD_SETS, {each.name for each in MANY})
    stage.assert_answered(MANY)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS_IN_DELETION))
async def test_a_deletion_that_is_cut_off_goes_on(fragile: Product, seed: int) -> None:
    chance = random.Random(seed)
    async with connect(fragile.kubeconfig) as client:
        gone, left = await fresh_stage(fragile, client), await fresh_stage(fragile, client)
        for stage in (gone, left):
            await stage.set_up(*MANY[:40], *LARGE)
        await _cut_off(fragile, gone, left, chance.uniform(0, 0.3))
    fragile.start()
    async with connect(fragile.kubeconfig) as client:
        gone, left = replace(gone, client=client), replace(left, client=client)
        await _delete_everything(gone, left)
        await gone.until_gone(NAMESPACES, gone.namespace)
        await left.until_gone(ZONES, ZONE)
        assert await gone.remains() == {}
        assert await left.remains() == {"ZoneClass": [ZONE_CLASS]}
        assert gone.rcode("@", "SOA") == left.rcode("@", "SOA") == "REFUSED"


async def _cut_off(product: Product, gone: Stage, left: Stage, after_s: float) -> None:
    async def delete() -> None:
        try:
            await _delete_everything(gone, left)
        except RetryableError:
            return

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(delete())
        await asyncio.sleep(after_s)
        product.kill()


async def _delete_everything(gone: Stage, left: Stage) -> None:
    """Delete one namespace as a whole, and in the other the zone and its records one by one; what is gone already is fine."""
    await gone.delete_if_there(NAMESPACES, gone.namespace)
    await left.delete_if_there(ZONES, ZONE)
    for each in (*MANY[:40], *LARGE):
        await left.delete_if_there(RECORD_SETS, each.name)
