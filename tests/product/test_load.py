"""Under load the statuses stay true: what is Programmed is answered at that moment, what is gone is not."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack

import pytest

from controllers.api.group import RECORD_SETS
from kube.config import connect
from tests.product.claim import claim
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import Stage
from tests.product.writer import VALUES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ZONES = 3
NAMES = 25
EDITS = 8
TYPES = ("A", "AAAA", "TXT", "MX")


async def test_conditions_are_true_while_many_edit(product: Product) -> None:
    chance = random.Random(7)
    async with AsyncExitStack() as clients:
        stages = [
            await fresh_stage(product, await clients.enter_async_context(connect(product.kubeconfig)))
            for _ in range(ZONES)
        ]
        for stage in stages:
            await stage.set_up()
        async with asyncio.TaskGroup() as tasks:
            for stage in stages:
                for number in range(NAMES):
                    tasks.create_task(_live(stage, f"name-{number}", random.Random(chance.random())))
        for stage in stages:
            assert await stage.names(RECORD_SETS) == []


async def _live(stage: Stage, owner: str, chance: random.Random) -> None:
    """Publish, edit and delete one name, and hold its answer against each step at once."""
    rdtype = chance.choice(TYPES)
    for _ in range(EDITS):
        each = claim(owner, rdtype, VALUES[rdtype](chance.randrange(2**32)), ttl=chance.randrange(1, 1000))
        await stage.publish(each)
        stage.assert_answered([each])
        if chance.random() < 0.3:
            await _delete(stage, owner, each.name)
    await stage.delete_if_there(RECORD_SETS, claim(owner, rdtype).name)
    await stage.until_gone(RECORD_SETS, claim(owner, rdtype).name)


async def _delete(stage: Stage, owner: str, name: str) -> None:
    await stage.delete(RECORD_SETS, name)
    await stage.until_gone(RECORD_SETS, name)
    assert stage.rcode(owner, "A") == "NXDOMAIN"
