"""A name server whose API is away: it answers from what it has, says how old that is, and catches up later."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from controllers.api.group import HOSTED_ZONES, RECORD_SETS
from kube.client import Client
from kube.config import connect
from tests.product.aftermath import (
    assert_all_answered,
    assert_answers_are_recent,
    assert_nothing_is_lost,
    first_serial,
    until_settled,
)
from tests.product.claim import ZONE, claim
from tests.product.conftest import fresh_stage
from tests.product.lone_server import LoneServer, serving
from tests.product.product import Product
from tests.product.stage import Object, Stage
from tests.product.writer import Writer, make_slots

NAME = "alone"
KILLS = 15
WRITERS = 3
LONGEST_WRITING_S = 1.0
CLAIMS = [
    claim("www", "A", "192.0.2.1"),
    claim("@", "MX", "10 mx.example.net"),
    *(claim(f"text-{number}", "TXT", "x" * 4000) for number in range(20)),
]


@pytest.fixture
def alone(fragile: Product, tmp_path: Path) -> Iterator[LoneServer]:
    """A name server beside the product's own."""
    options = ["--kubeconfig", str(fragile.kubeconfig), "--name", NAME, "--cache-dir", str(tmp_path / "cache")]
    with serving(tmp_path, *options) as server:
        yield server
        assert "Traceback" not in server.log.read_text()


async def test_it_answers_while_the_api_is_away_and_catches_up(fragile: Product, alone: LoneServer) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await _set_up(fragile, client)
        await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
    seen = replace(stage, server=alone.dns)
    seen.assert_answered(CLAIMS)
    serial = seen.serial()

    fragile.kill()
    _assert_answers_unchanged(seen, alone, serial)
    for _ in range(2):
        alone.kill()
        alone.start()
        _assert_answers_unchanged(seen, alone, serial)

    fragile.start()
    async with connect(fragile.kubeconfig) as client:
        stage = replace(stage, client=client)
        edited = claim("www", "A", "192.0.2.2")
        await stage.publish(edited)
        await stage.delete(RECORD_SETS, "text-1-txt")
        await stage.until_gone(RECORD_SETS, "text-1-txt")
        await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
    seen.assert_answered([edited, *(each for each in CLAIMS if each.owner not in ("www", "text-1"))])
    assert seen.rcode("text-1", "TXT") == "NXDOMAIN"
    assert seen.serial() > serial


async def test_a_zone_that_went_while_it_was_down_is_not_served_again(fragile: Product, alone: LoneServer) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await _set_up(fragile, client)
        await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
        alone.kill()
        await stage.delete(RECORD_SETS, "www-a")
        await stage.until_gone(RECORD_SETS, "www-a")
        alone.start()
        await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
        seen = replace(stage, server=alone.dns)
        assert seen.rcode("www", "A") == "NXDOMAIN"


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_it_may_be_killed_at_any_moment(fragile: Product, alone: LoneServer) -> None:
    chance = random.Random(3)
    slots = make_slots(40)
    writers = [Writer(slots[n::WRITERS], seed=n) for n in range(WRITERS)]
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await stage.set_up()
        seen = replace(stage, server=alone.dns)
        await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
        for _ in range(KILLS):
            serial = seen.serial()
            await _kill_under_writes(stage, alone, writers, chance.uniform(0, LONGEST_WRITING_S))
            alone.start()
            first_serial(seen, serial)
            assert_answers_are_recent(seen, slots)
            await assert_nothing_is_lost(stage, slots)
            await until_settled(stage, slots)
            await stage.until_there(HOSTED_ZONES, ZONE, _is_served_alone)
            assert_all_answered(seen, slots)
    fragile.kill()
    assert alone.stop() == 0
    alone.start()
    assert_all_answered(seen, slots)


async def _kill_under_writes(stage: Stage, alone: LoneServer, writers: list[Writer], after_s: float) -> None:
    writing = [asyncio.create_task(each.run(stage)) for each in writers]
    await asyncio.sleep(after_s)
    alone.kill()
    for task in writing:
        task.cancel()
    await asyncio.wait(writing)


def test_without_api_and_cache_it_waits_and_says_so(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        "{apiVersion: v1, kind: Config, current-context: c, users: [{name: u, user: {}}],"
        " clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}],"
        " contexts: [{name: c, context: {cluster: c, user: u}}]}"
    )
    with serving(tmp_path, "--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache")) as server:
        status, body = server.readiness()
        assert (status, body["ready"], body["ageSeconds"]) == (503, False, None)
        assert body["message"] == "waiting for the first view of the API server"
        assert server.stop() == 0


async def _set_up(product: Product, client: Client) -> Stage:
    stage = await fresh_stage(product, client)
    await stage.set_up(*CLAIMS)
    return stage


def _assert_answers_unchanged(seen: Stage, alone: LoneServer, serial: int) -> None:
    seen.assert_answered(CLAIMS)
    assert seen.serial() == serial
    status, body = alone.readiness()
    assert (status, body["ready"], body["zones"]) == (200, True, 1)
    assert 0 <= body["ageSeconds"] < 90
    assert body["message"] == "serving 1 zone"


def _is_served_alone(obj: Object) -> bool:
    servers = obj.get("status", {}).get("servers", ())
    return any(each["name"] == NAME and each["digest"] == obj["spec"]["digest"] for each in servers)
