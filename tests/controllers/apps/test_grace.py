"""An object that has no address for a moment keeps what it publishes; most clocks here are ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from controllers.apps.gateway.kind import GATEWAYS
from controllers.apps.registry import AppsConfig
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES
from controllers.apps.surroundings import AppSurroundings
from kube.resource import ResourceRef
from tests.controllers.apps.conftest import NAMESPACE, World

RECORD = ("shop", "A", "192.0.2.1")
WWW = ("www", "A", "192.0.2.1")
MARKER = ("marker", "A", "192.0.2.7")


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("controllers.manager.AppSurroundings", partial(AppSurroundings, clock=found))
    return found


@pytest.fixture
async def timed(tmp_path: Path, clock: Clock) -> AsyncIterator[World]:
    async with World(tmp_path, AppsConfig(gateway=True)) as found:
        await found.zone("zone", "example.test")
        yield found


async def nudge(world: World, number: int = 0) -> None:
    """Have the Service looked at once more, and wait until that and everything after it has been done."""
    await world.annotate(SERVICES, "shop", {"nudge": str(number)})
    await world.service(f"marker{number}", f"marker{number}.example.test", "192.0.2.7")

    async def done() -> bool:
        return (f"marker{number}", "A", "192.0.2.7") in await world.records()

    await world.until(done)


async def shops(world: World) -> set[tuple[str, str, str]]:
    return {each for each in await world.records() if not each[0].startswith("marker")}


async def goes_in_the_end(world: World, clock: Clock, ref: ResourceRef, name: str) -> None:
    """Let minutes pass until its name is withdrawn: a look that met a newer state begins to count when it is made again."""

    async def withdrawn() -> bool:
        clock.now_s += 301
        await world.annotate(ref, name, {"nudge": str(clock.now_s)})
        return await shops(world) == set()

    await world.until(withdrawn)


async def test_a_service_without_addresses_stays_published_for_five_minutes(timed: World, clock: Clock) -> None:
    await timed.service("shop", "shop.example.test", "192.0.2.1")
    await timed.until_records(RECORD)
    await timed.balance("shop")
    await nudge(timed, 1)
    clock.now_s += 299
    await nudge(timed, 2)
    assert await shops(timed) == {RECORD}
    await goes_in_the_end(timed, clock, SERVICES, "shop")


async def test_addresses_that_come_back_end_the_wait(timed: World, clock: Clock) -> None:
    await timed.service("shop", "shop.example.test", "192.0.2.1")
    await timed.until_records(RECORD)
    await timed.balance("shop")
    await nudge(timed, 1)
    clock.now_s += 200
    await timed.balance("shop", "192.0.2.2")

    async def followed() -> bool:
        return await shops(timed) == {("shop", "A", "192.0.2.2")}

    await timed.until(followed)
    await timed.balance("shop")
    await nudge(timed, 2)
    clock.now_s += 200
    await nudge(timed, 3)
    assert await followed(), "the time begins anew"


async def test_hostnames_are_followed_meanwhile_but_none_is_added(timed: World) -> None:
    await timed.service("shop", "shop.example.test,www.example.test", "192.0.2.1")
    await timed.until_records(RECORD, WWW)
    await timed.balance("shop")
    await nudge(timed, 1)
    await timed.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "www.example.test,new.example.test"})

    async def followed() -> bool:
        return await shops(timed) == {WWW}

    await timed.until(followed)
    await nudge(timed, 2)
    assert await followed()


async def test_a_service_that_goes_meanwhile_takes_its_names_along_at_once(timed: World) -> None:
    await timed.service("shop", "shop.example.test", "192.0.2.1")
    await timed.until_records(RECORD)
    await timed.balance("shop")
    await nudge(timed, 1)
    await timed.client.delete(SERVICES, namespace=NAMESPACE, name="shop")

    async def withdrawn() -> bool:
        return await shops(timed) == set()

    await timed.until(withdrawn)


async def test_a_gateway_without_addresses_stays_published_and_goes_at_once(timed: World, clock: Clock) -> None:
    await timed.gateway("edge", "192.0.2.1")
    await timed.route("one", "edge", "shop.example.test")
    await timed.until_records(RECORD)
    await timed.status(GATEWAYS, "edge", {"addresses": []})
    await timed.route("two", "edge", "new.example.test")
    clock.now_s += 299
    await timed.gateway("second", "192.0.2.7")
    await timed.route("three", "second", "marker.example.test")
    await timed.until_records(RECORD, MARKER)
    await timed.client.delete(GATEWAYS, namespace=NAMESPACE, name="edge")
    await timed.until_records(MARKER)


async def test_a_gateway_without_addresses_is_withdrawn_in_the_end(timed: World, clock: Clock) -> None:
    await timed.gateway("edge", "192.0.2.1")
    await timed.route("one", "edge", "shop.example.test")
    await timed.until_records(RECORD)
    await timed.status(GATEWAYS, "edge", {"addresses": []})
    await timed.gateway("second", "192.0.2.7")
    await timed.route("three", "second", "marker.example.test")
    await timed.until_records(RECORD, MARKER)
    await goes_in_the_end(timed, clock, GATEWAYS, "edge")


async def test_nobody_needs_to_nudge_it_when_the_time_is_over(tmp_path: Path) -> None:
    async with World(tmp_path, AppsConfig(no_targets_grace_s=0.5)) as world:
        await world.zone("zone", "example.test")
        await world.service("shop", "shop.example.test", "192.0.2.1")
        await world.until_records(RECORD)
        await world.balance("shop")
        await world.until_records()


async def test_a_new_leader_begins_to_count_anew(timed: World, clock: Clock) -> None:
    await timed.service("shop", "shop.example.test", "192.0.2.1")
    await timed.until_records(RECORD)
    await timed.stop_manager()
    await timed.balance("shop")
    clock.now_s += 1000
    await timed.start_manager()
    await nudge(timed, 1)
    assert await shops(timed) == {RECORD}
