"""Existing records are taken over when they are what the RecordSet says, as a complete set, and by their identifiers only."""

from __future__ import annotations

import pytest

from controllers.api.group import RECORD_SETS
from tests.controllers.providers.cloudflare.fake.state import new_id
from tests.controllers.providers.cloudflare.world import DOMAIN, Object, World, a, cname

NAME = f"www.{DOMAIN}"


async def with_records(world: World, *addresses: str, **more: object) -> list[str]:
    zone_id = await world.ready_zone()
    return [
        world.cloudflare.state.add_record(zone_id, type="A", name=NAME, content=each, ttl=300, **more)
        for each in addresses
    ]


def adopting(ids: list[str], *addresses: str, **more: object) -> Object:
    return a("www", *addresses, adoption={"recordIDs": ids}, **more)


async def test_a_complete_set_is_adopted_and_managed(world: World) -> None:
    ids = await with_records(world, "192.0.2.1", "192.0.2.2", comment="from before")
    world.cloudflare.calls.clear()
    await world.publish(adopting(ids, "192.0.2.1", "192.0.2.2"))
    assert world.cloudflare.writes == []
    assert sorted(world.record_ids("www")) == sorted(ids)
    await world.until_event("www", "ExternalResourceAdopted")
    await world.publish(adopting(ids, "192.0.2.1", "192.0.2.3"))
    assert {each["content"] for each in world.records()} == {"192.0.2.1", "192.0.2.3"}
    assert {each["comment"] for each in world.records()} == {"from before"}
    await world.delete_and_wait(RECORD_SETS, "www")
    assert world.records() == []


@pytest.mark.parametrize(
    ("there", "claim"),
    [
        ({}, {"ttl": 600}),
        ({}, {"ttl": None, "options": {"ttl": "Auto"}}),
        ({"proxied": True}, {}),
        ({"comment": "other"}, {"options": {"comment": "declared"}}),
        ({"tags": ["a:b"]}, {"options": {"tags": ["a:c"]}}),
    ],
)
async def test_records_that_say_something_else_are_not_adopted(world: World, there: Object, claim: Object) -> None:
    ids = await with_records(world, "192.0.2.1", **there)
    before = [dict(each) for each in world.records()]
    await world.apply(adopting(ids, "192.0.2.1", **claim))
    await world.until(lambda: world.record_says("www", "False", "ExternalResourceMismatch"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert world.records() == before, "what does not match is not deleted either"


async def test_an_incomplete_set_is_not_adopted(world: World) -> None:
    ids = await with_records(world, "192.0.2.1", "192.0.2.2")
    await world.apply(adopting(ids[:1], "192.0.2.1"))
    await world.until(lambda: world.record_says("www", "False", "ExternalResourceMismatch"))
    await world.publish(adopting(ids, "192.0.2.1", "192.0.2.2"))


async def test_records_that_are_not_there_are_not_found(world: World) -> None:
    ids = await with_records(world, "192.0.2.1")
    await world.apply(adopting([*ids, new_id()], "192.0.2.1", "192.0.2.2"))
    await world.until(lambda: world.record_says("www", "False", "ExternalResourceNotFound"))
    assert len(world.records()) == 1


async def test_records_of_another_name_are_not_adopted(world: World) -> None:
    zone_id = await world.ready_zone()
    other = world.cloudflare.state.add_record(zone_id, type="A", name=f"other.{DOMAIN}", content="192.0.2.1", ttl=300)
    await world.apply(adopting([other], "192.0.2.1"))
    await world.until(lambda: world.record_says("www", "False", "ExternalResourceMismatch"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert [each["id"] for each in world.records()] == [other]


async def test_records_whose_adoption_was_refused_are_not_deleted(world: World) -> None:
    ids = await with_records(world, "192.0.2.1", "192.0.2.2")
    world.cloudflare.state.records[world.zone_id][ids[1]]["content"] = "198.51.100.1"
    await world.apply(adopting(ids, "192.0.2.1", "192.0.2.2"))
    await world.until(lambda: world.record_says("www", "False", "ExternalResourceMismatch"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert {each["id"] for each in world.records()} == set(ids), "none of them has ever been taken over"


async def test_a_cname_is_adopted_however_its_target_is_written(world: World) -> None:
    zone_id = await world.ready_zone()
    ids = [world.cloudflare.state.add_record(zone_id, type="CNAME", name=NAME, content="Example.NET", ttl=300)]
    await world.publish(cname("www", "example.net", adoption={"recordIDs": ids}))
    assert world.record_ids("www") == ids
