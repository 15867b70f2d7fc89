"""What goes wrong between us and the API: nothing is concluded from what was not seen, and nobody pays for another's mistake."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controllers.api.group import RECORD_SETS
from controllers.providers.cloudflare.pace import PacePolicy
from tests.controllers.providers.cloudflare.fake.failure import Call, Kind
from tests.controllers.providers.cloudflare.world import DOMAIN, PATIENCE, World, a, txt


def is_listing(call: Call) -> bool:
    return call.method == "GET" and call.path.endswith("/dns_records")


def is_batch(call: Call) -> bool:
    return call.path.endswith("/batch")


async def test_a_page_that_fails_makes_everything_unknown_and_changes_nothing(
    tmp_path: Path, installation: Path
) -> None:
    async with World(tmp_path, installation, records_per_page=5) as world:
        zone_id = await world.ready_zone()
        await world.publish(a("www", "192.0.2.1"))
        for number in range(55):
            world.cloudflare.state.add_record(
                zone_id, type="A", name=f"host{number}.{DOMAIN}", content="192.0.2.1", ttl=300
            )
        await world.look_again()
        fault = world.cloudflare.fail(
            Kind.SERVER_ERROR, lambda call: is_listing(call) and call.query["page"] == "11", times=1000
        )
        world.cloudflare.calls.clear()
        await world.apply(a("www", "192.0.2.2"))
        await world.apply(a("new"))
        await world.until(lambda: world.record_says("new", "Unknown", "ProviderUnavailable"))
        await world.until(lambda: world.record_says("www", "Unknown", "ProviderUnavailable"))
        assert world.cloudflare.writes == []
        assert {call.query["page"] for call in world.cloudflare.calls if is_listing(call)} == {
            str(page) for page in range(1, 12)
        }
        assert len(world.record_ids("www")) == 1
        fault.times = 0
        await world.until(lambda: world.is_programmed("new") and world.is_programmed("www"))


async def test_a_record_that_was_programmed_outlives_a_short_outage(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www"))
    said: list[str] = []

    def look(_: object) -> None:
        condition = world.condition(world.record_set("www"), "Programmed")
        said.append(condition.status if condition is not None else "nothing")

    world.record_sets.subscribe(look)
    world.cloudflare.fail(Kind.SERVER_ERROR, is_listing, times=1)
    await world.look_again()
    assert set(said) <= {"True"}


QUICK = (Kind.SERVER_ERROR, Kind.OK_HTML, Kind.AFTER_HANG_UP, Kind.MALFORMED_ID)


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in Kind])
async def test_any_fault_of_a_creation_ends_with_the_right_records(world: World, kind: Kind) -> None:
    await world.ready_zone()
    fault = world.cloudflare.fail(kind, is_batch, times=2)
    await world.apply(a("www", "192.0.2.1", "192.0.2.2"))
    await world.apply(txt("@", "one", "two"))
    await world.until(lambda: world.is_programmed("www") and world.is_programmed("apex"))
    assert fault.times < 2
    assert {each["content"] for each in world.records() if each["type"] == "A"} == {"192.0.2.1", "192.0.2.2"}
    assert sorted(each["id"] for each in world.records()) == sorted(world.record_ids("www") + world.record_ids("apex"))
    await world.delete_and_wait(RECORD_SETS, "www")
    await world.delete_and_wait(RECORD_SETS, "apex")
    assert world.records() == []


@pytest.mark.parametrize("kind", [Kind.MALFORMED_ID, Kind.DUPLICATE_ID])
@pytest.mark.parametrize("where", ["listing", "batch"])
async def test_wrong_identifiers_never_reach_a_status(world: World, kind: Kind, where: str) -> None:
    await world.ready_zone()
    seen: set[str] = set()

    def look(change: object) -> None:
        unit = world.unit
        if unit is not None:
            seen.update(
                each
                for entry in unit.status.record_sets
                if entry.provider is not None and entry.provider.data
                for each in entry.provider.data["recordIDs"]
            )

    world.units.subscribe(look)
    await world.publish(a("kept", "192.0.2.1", "192.0.2.2"))
    world.cloudflare.fail(kind, is_listing if where == "listing" else is_batch, times=3)
    world.cloudflare.fail(kind, lambda call: call.path == "/zones", times=1)
    await world.apply(a("www", "192.0.2.1", "192.0.2.2"))
    await world.until(lambda: world.is_programmed("www") and world.is_programmed("kept"))
    assert seen == {each["id"] for each in world.records()}


async def test_a_throttled_account_is_left_alone_as_long_as_asked(world: World) -> None:
    await world.ready_zone()
    fault = world.cloudflare.fail(Kind.TOO_MANY, is_listing, times=1, retry_after_s=1)
    world.cloudflare.calls.clear()
    await world.apply(a("www"))
    await world.until(lambda: world.is_programmed("www"))
    assert fault.times == 0


async def test_a_record_that_is_listed_and_not_found_is_not_asked_for_all_the_time(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", "192.0.2.1"))
    fault = world.cloudflare.fail(Kind.NOT_THERE, is_batch, times=10_000)
    await world.apply(a("www", "192.0.2.2"))
    await world.until_async(lambda: _true(fault.times < 10_000))
    begun, clock = fault.times, asyncio.get_running_loop().time
    at = clock()
    await world.until_async(lambda: _true(fault.times <= begun - 3))
    assert clock() - at >= 2 * PATIENCE.refusal_s, "it is tried again as late as what was refused"
    assert world.record_says("www", "False", "ProviderChangePending")
    fault.times = 0
    await world.until(lambda: world.is_programmed("www"))


async def test_a_pause_of_the_account_takes_nothing_away(
    tmp_path: Path, installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tests.controllers.providers.cloudflare.world.PACE", PacePolicy(10_000, 10_000, wait_at_most_s=0.1)
    )
    async with World(tmp_path, installation) as world:
        await world.ready_zone()
        await world.publish(a("www"))
        said: set[str] = set()

        def look(_: object) -> None:
            for about in (world.record_set("www"), world.zone):
                condition = world.condition(about, "Programmed")
                said.add(f"{condition.status}/{condition.reason}" if condition is not None else "nothing")

        world.record_sets.subscribe(look)
        world.zones.subscribe(look)
        fault = world.cloudflare.fail(Kind.TOO_MANY, is_listing, times=1, retry_after_s=1)
        await world.look_again()
        await world.until_async(lambda: _true(fault.times == 0))
        world.cloudflare.calls.clear()
        await world.until_async(lambda: _true(any(map(is_listing, world.cloudflare.calls))))
        await world.quiet()
        assert said <= {"True/Programmed"}


async def test_a_refused_record_set_holds_nobody_up(world: World) -> None:
    world.cloudflare.state.plan = "free"  # which has no tags
    await world.ready_zone()
    await world.stop_manager()
    names = [f"host{number}" for number in range(9)]
    for name in names:
        await world.apply(a(name))
    await world.apply(a("wrong", options={"tags": ["a:b"]}))
    await world.apply(a("wrong-too", options={"tags": ["a:b"]}))
    await world.start_manager()
    await world.until(lambda: all(map(world.is_programmed, names)))
    for name in ("wrong", "wrong-too"):
        await world.until(lambda name=name: world.record_says(name, "False", "ProviderInvalidRequest"))  # type: ignore[misc]
    condition = world.condition(world.record_set("wrong"), "Programmed")
    assert condition is not None
    assert condition.message.startswith("Cloudflare API rejected the request: HTTP 400, code 9300: ")
    assert {each["name"] for each in world.records()} == {f"{name}.{DOMAIN}" for name in names}
    await world.publish(a("wrong"))


def posts(world: World, name: str) -> list[list[dict[str, Any]]]:
    """The posts of each batch that has one for the name."""
    bodies = [body.get("posts", []) for call, body in world.cloudflare.bodies if is_batch(call)]
    return [body for body in bodies if any(name in each["name"] for each in body)]


async def test_a_refused_change_is_sent_again_alone_and_only_in_its_time(tmp_path: Path, installation: Path) -> None:
    async with World(tmp_path, installation, patience=replace(PATIENCE, refusal_s=600.0)) as world:
        world.cloudflare.state.plan = "free"
        await world.ready_zone()
        await world.apply(a("wrong", options={"tags": ["a:b"]}))
        await world.until(lambda: world.record_says("wrong", "False", "ProviderInvalidRequest"))
        sent = len(posts(world, "wrong"))
        for number in range(5):
            await world.publish(a(f"host{number}"))
        assert len(posts(world, "wrong")) == sent

        async def again() -> bool:
            return len(posts(world, "wrong")) >= sent + 2

        await world.stop_manager()
        world.patience = PATIENCE
        await world.start_manager()
        await world.until_async(again)
        assert all(len(each) == 1 for each in posts(world, "wrong")), "it is tried again alone"


async def test_what_cloudflare_keeps_otherwise_is_not_written_all_the_time(tmp_path: Path, installation: Path) -> None:
    async with World(tmp_path, installation, patience=replace(PATIENCE, refusal_s=600.0)) as world:
        world.cloudflare.state.alter = lambda record: record.update(comment=(record["comment"] or "").strip())
        await world.ready_zone()
        await world.apply(a("odd", options={"comment": " spaces "}))
        await world.until(lambda: world.record_says("odd", "False", "ProviderChangePending"))
        world.cloudflare.calls.clear()
        for number in range(5):
            await world.publish(a(f"host{number}"))
        sent = [body for call, body in world.cloudflare.bodies if call in world.cloudflare.calls and is_batch(call)]
        assert sum(bool(body.get("patches")) for body in sent) <= 1


async def test_a_full_zone_takes_what_fits(world: World) -> None:
    world.cloudflare.state.plan = "free"
    world.cloudflare.state.quotas["free"] = 30
    await world.ready_zone()
    await world.stop_manager()
    names = [f"host{number}" for number in range(40)]
    for name in names:
        await world.apply(a(name))
    await world.start_manager()
    await world.until(lambda: sum(map(world.is_programmed, names)) == 30)
    await world.until(lambda: sum(world.record_says(name, "False", "ProviderInvalidRequest") for name in names) == 10)
    gone = next(name for name in names if world.is_programmed(name))
    await world.delete_and_wait(RECORD_SETS, gone)
    await world.until(lambda: sum(world.is_programmed(name) for name in names if name != gone) == 30)


async def test_a_record_set_larger_than_a_batch_is_not_made_in_halves(world: World) -> None:
    world.cloudflare.state.plan = "free"
    world.cloudflare.state.quotas["free"] = 1000
    await world.ready_zone()
    addresses = [f"192.0.{number // 250}.{number % 250}" for number in range(201)]
    await world.apply(a("large", *addresses))
    await world.publish(a("largest", *addresses[:200]))
    await world.until(lambda: world.record_says("large", "False", "ProviderInvalidRequest"))
    assert {each["name"] for each in world.records()} == {f"largest.{DOMAIN}"}


async def test_a_token_that_may_not_write_is_told_of(world: World) -> None:
    zone_id = await world.ready_zone()
    for token in world.cloudflare.state.tokens.values():
        token.may_write = False
    await world.apply(a("www"))
    await world.until(lambda: world.record_says("www", "False", "ProviderAccessDenied"))
    for token in world.cloudflare.state.tokens.values():
        token.may_write = True
    await world.until(lambda: world.is_programmed("www"))
    assert len(world.records(zone_id)) == 1


async def test_a_crash_between_creation_and_report_leaves_nothing_behind(world: World) -> None:
    await world.ready_zone()
    fault = world.cloudflare.fail(Kind.AFTER_HANG_UP, is_batch, times=1000)
    await world.apply(a("www", "192.0.2.1"))
    await world.until_async(lambda: _true(len(world.records()) == 1))
    await world.stop_manager()
    fault.times = 0
    await world.apply(a("www", "192.0.2.2"))
    await world.delete(RECORD_SETS, "www")
    await world.start_manager()
    await world.until_gone(RECORD_SETS, "www")
    assert world.records() == []


async def test_a_record_that_a_listing_lacks_is_not_called_gone(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www"))
    world.cloudflare.state.unlisted |= set(world.record_ids("www"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert world.records() == []


async def test_records_that_listings_lack_are_asked_for_in_turns(world: World) -> None:
    """Neither the account nor the others of the zone wait until all have been asked for."""
    zone_id = await world.ready_zone()
    names = [f"h{number}" for number in range(4)]
    for number, name in enumerate(names):
        await world.publish(a(name, *(f"192.0.{number}.{each}" for each in range(30))))
    await world.stop_manager()
    state = world.cloudflare.state
    for record_id in world.record_ids("h0"):
        del state.records[zone_id][record_id]
    state.unlisted |= set(state.records[zone_id])
    for name in names:
        await world.delete(RECORD_SETS, name)
    await world.apply(a("new"))
    world.cloudflare.calls.clear()
    await world.start_manager()
    for name in names:
        await world.until_gone(RECORD_SETS, name)
    await world.until(lambda: world.is_programmed("new"))
    assert {each["name"] for each in world.records()} == {f"new.{DOMAIN}"}
    paths = [call.path.partition("?")[0] for call in world.cloudflare.calls]
    first = paths.index(next(path for path in paths if path.endswith("/batch")))
    assert sum("/dns_records/" in path for path in paths[:first]) == 30, "as many as fit in a look"


async def test_a_record_that_a_listing_lacks_once_stays_ours(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", "192.0.2.1"))
    world.cloudflare.state.unlisted |= set(world.record_ids("www"))
    world.cloudflare.before_write = lambda _: world.cloudflare.state.unlisted.clear()
    await world.publish(a("www", "192.0.2.2"))
    await world.until_async(lambda: _true(len(world.records()) == 1))
    await world.until(lambda: world.is_programmed("www"))
    assert world.contents() == {(f"www.{DOMAIN}", "A", "192.0.2.2")}


async def _true(value: bool) -> bool:
    return value
