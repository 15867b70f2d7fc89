"""Killed at any moment under writes: nothing acknowledged is lost, nothing is half there, no answer is wrong afterwards."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import dns.asyncquery
import dns.exception
import dns.message
import pytest

from controllers.api.group import HOSTED_ZONES
from kube.config import connect
from tests.product.aftermath import (
    assert_all_answered,
    assert_answers_are_recent,
    assert_nothing_is_lost,
    first_serial,
    until_settled,
)
from tests.product.claim import ZONE
from tests.product.conftest import fresh_stage
from tests.product.product import READY, START_S, Product
from tests.product.stage import Stage
from tests.product.writer import Writer, make_slots

KILLS = 50
WRITERS = 4
SLOTS_EACH = 10
LONGEST_WRITING_S = 1.5
LONGEST_START_S = 2.0
EARLY = 5
"""Every so many starts is killed before it is over."""
REPLY_S = 1.0


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_fifty_kills_under_writes(fragile: Product) -> None:
    chance = random.Random(20261130)
    slots = make_slots(WRITERS * SLOTS_EACH)
    writers = [Writer(slots[n::WRITERS], seed=n) for n in range(WRITERS)]
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await stage.set_up()
    serial = stage.serial()
    for kill in range(1, KILLS + 1):
        seen = await _write_until_killed(fragile, stage, writers, chance.uniform(0, LONGEST_WRITING_S))
        if kill % EARLY == 0:
            fragile.launch()
            await asyncio.sleep(chance.uniform(0, LONGEST_START_S))
            fragile.kill()
        start = fragile.launch()
        serial = first_serial(stage, max(serial, seen))
        assert_answers_are_recent(stage, slots)
        assert start.until(READY, START_S)
        async with connect(fragile.kubeconfig) as client:
            live = replace(stage, client=client)
            await assert_nothing_is_lost(live, slots)
            await until_settled(live, slots)
            assert_all_answered(live, slots)
            manifest = await live.find(HOSTED_ZONES, ZONE)
            assert manifest is not None
            assert live.serial() == manifest["spec"]["serial"] >= serial
            serial = live.serial()
    assert min(each.acknowledged for each in writers) > KILLS


async def _write_until_killed(product: Product, stage: Stage, writers: list[Writer], after_s: float) -> int:
    """Let all write, kill the product, and return the newest serial that it answered with."""
    async with connect(product.kubeconfig) as client, asyncio.TaskGroup() as tasks:
        watcher = tasks.create_task(_newest_serial(stage))
        writing = [tasks.create_task(each.run(replace(stage, client=client))) for each in writers]
        await asyncio.sleep(after_s)
        product.kill()
        await asyncio.wait(writing)
    return watcher.result()


async def _newest_serial(stage: Stage) -> int:
    """Ask for the serial until nobody answers; it never goes backwards."""
    serial = 0
    query = dns.message.make_query(stage.domain, "SOA", flags=0)
    while True:
        try:
            reply = await dns.asyncquery.udp(query, stage.server.host, REPLY_S, stage.server.port)
        except dns.exception.Timeout:
            return serial
        found = int(reply.answer[0][0].serial)
        assert found >= serial
        serial = found
