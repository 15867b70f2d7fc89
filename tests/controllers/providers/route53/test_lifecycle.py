"""Zones and record sets from claim to Route 53 and back."""

from __future__ import annotations

from controllers.api.group import RECORD_SETS, ZONES
from tests.controllers.providers.route53.world import World, a


async def test_a_zone_and_a_record_set_are_created(world: World) -> None:
    await world.set_up(a("www"))
    assert world.records()["www.example.test.", "A"]["ResourceRecords"] == [{"Value": "192.0.2.1"}]
    zone = await world.get(ZONES, "zone")
    assert zone["status"]["provider"]["data"] == {"hostedZoneID": world.zone.id}
    assert len(zone["status"]["nameServers"]) == 4
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    assert world.records() == {}
