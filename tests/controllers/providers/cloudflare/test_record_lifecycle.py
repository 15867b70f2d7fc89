"""RecordSets become records at Cloudflare, follow their edits, and go."""

from __future__ import annotations

from controllers.api.group import RECORD_SETS
from tests.controllers.providers.cloudflare.world import DOMAIN, World, a


async def test_a_record_is_created_changed_and_deleted(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", "192.0.2.1"))
    assert world.contents() == {(f"www.{DOMAIN}", "A", "192.0.2.1")}
    (kept,) = world.record_ids("www")
    assert [each["id"] for each in world.records()] == [kept]

    await world.publish(a("www", "192.0.2.2", "192.0.2.3"))
    assert {each["content"] for each in world.records()} == {"192.0.2.2", "192.0.2.3"}
    assert kept in {each["id"] for each in world.records()}

    await world.delete_and_wait(RECORD_SETS, "www")
    assert world.records() == []
