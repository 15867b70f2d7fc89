"""Killed at any moment under writes: nothing acknowledged is lost, nothing is half there, no answer is wrong afterwards."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace

import dns.asyncquery
import dns.exception
import dns.message
import dns.query
import dns.rcode
import pytest

from controllers.api.group import HOSTED_ZONES, RECORD_SETS
from kube.config import connect
from tests.product.claim import ZONE
from tests.product.conftest import fresh_stage
from tests.product.product import READY, START_S, Product
from tests.product.stage import Stage
from tests.product.writer import Slot, Writer
from tests.server.question import records

KILLS = 50
WRITERS = 4
SLOTS_EACH = 10
TYPES = ("A", "AAAA", "TXT", "MX", "CNAME")
LONGEST_WRITING_S = 1.5
LONGEST_START_S = 2.0
EARLY = 5
"""Every so many starts is killed before it is over."""
REPLY_S = 0.25


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_fifty_kills_under_writes(fragile: Product) -> None:
    chance = random.Random(20261130)
    slots = [Slot(f"name-{n}", TYPES[n % len(TYPES)]) for n in range(WRITERS * SLOTS_EACH)]
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
        serial = _first_serial(stage, max(serial, seen))
        _assert_answers_are_recent(stage, slots)
        assert start.until(READY, START_S)
        async with connect(fragile.kubeconfig) as client:
            live = replace(stage, client=client)
            await _assert_nothing_is_lost(live, slots)
            serial = await _settled(live, slots, serial)
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
            reply = await dns.asyncquery.udp(query, stage.server.host, REPLY_S * 4, stage.server.port)
        except dns.exception.Timeout:
            return serial
        found = int(reply.answer[0][0].serial)
        assert found >= serial
        serial = found


def _first_serial(stage: Stage, newest: int) -> int:
    """Return the serial of the first reply after a start, which knows the zone and is not older than what was seen before."""
    query = dns.message.make_query(stage.domain, "SOA", flags=0)
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            reply = dns.query.udp(query, stage.server.host, REPLY_S, stage.server.port)
        except (dns.exception.Timeout, ConnectionRefusedError):
            continue
        assert reply.rcode() == dns.rcode.NOERROR, reply
        serial = int(reply.answer[0][0].serial)
        assert serial >= newest
        return serial
    raise AssertionError("the name server did not answer")


def _assert_answers_are_recent(stage: Stage, slots: list[Slot]) -> None:
    """Hold each answer against everything that may have been served since all had settled."""
    for slot in slots:
        reply = stage.ask(slot.owner, slot.type)
        if reply.rcode() == dns.rcode.NXDOMAIN:
            assert None in slot.window, slot
        else:
            assert reply.rcode() == dns.rcode.NOERROR, reply
            possible = [each.records(stage.domain) for each in slot.window if each is not None]
            assert records(reply.answer) in possible, slot


async def _assert_nothing_is_lost(stage: Stage, slots: list[Slot]) -> None:
    listing = await stage.client.list(RECORD_SETS, namespace=stage.namespace)
    stored = {obj["metadata"]["name"]: obj for obj in listing.items}
    for slot in slots:
        slot.resolve(stored.pop(slot.name, None))
    assert stored == {}


async def _settled(stage: Stage, slots: list[Slot], serial: int) -> int:
    """Wait until every claim is served, hold every answer against its claim, and return the serial."""
    await stage.until_all_programmed(RECORD_SETS, {slot.name for slot in slots if slot.state is not None})
    for slot in slots:
        if slot.state is None:
            await stage.until_gone(RECORD_SETS, slot.name)
    for slot in slots:
        if slot.state is None:
            assert stage.rcode(slot.owner, slot.type) == "NXDOMAIN", slot
        else:
            stage.assert_answered([slot.state])
        slot.settle()
    manifest = await stage.find(HOSTED_ZONES, ZONE)
    assert manifest is not None
    assert stage.serial() == manifest["spec"]["serial"] >= serial
    return stage.serial()
