"""An alias at the name of a name server is the fault of one record set; the zone goes on without it."""

from __future__ import annotations

from typing import Any

from kube.object import ObjectKey
from tests.controllers.providers.hosted.world import TEAM, World, item, keys

ZONE = ObjectKey(TEAM, "zone")
INSIDE: dict[str, Any] = {"nameServers": [{"name": "ns1.example.test", "addresses": ["192.0.2.53"]}]}


def alias(generation: int = 1) -> dict[str, Any]:
    body = {"target": f"target-{generation}.test"}
    return item("ns1", claim="alias", type="CNAME", cname=body, a=None, generation=generation)


async def test_new_alias_is_left_out_and_other_edits_are_served(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class(parameters=INSIDE)
    await world.unit("zone", [item("www"), alias()])
    await world.until(lambda: world.says(world.programmed("zone", "alias"), "False", "ProviderInvalidRequest"))
    await world.until(lambda: world.is_programmed("zone", "www"))
    await world.edit("zone", [item("www", "192.0.2.9", generation=2), alias()])
    await world.until(lambda: world.is_programmed("zone", "www", generation=2))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}
    assert world.says(world.zone_condition("zone"), "True", "Programmed")


async def test_alias_that_the_class_comes_upon_stays_served_and_the_address_waits_for_it(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item("www"), alias()])
    await world.until(lambda: world.is_programmed("zone", "alias"))

    patch = {"spec": {"parameters": INSIDE}}
    await world.client.patch_merge(world.class_ref, patch, namespace=TEAM, name="hosted")
    await world.until(lambda: world.says(world.programmed("zone", "alias"), "False", "ProviderInvalidRequest"))
    await world.edit("zone", [item("www", "192.0.2.9", generation=2), alias(generation=2)])
    await world.until(lambda: world.is_programmed("zone", "www", generation=2))
    served = world.servers["ns-a"].records(ZONE)
    assert served["ns1", "CNAME"].cname.target == "target-1.test"
    assert await _name_servers(world) == [{"name": "ns1.example.test"}]

    await world.edit("zone", [item("www", "192.0.2.9", generation=2)])
    await world.until(lambda: keys(world.servers["ns-a"].records(ZONE)) == {"www"})
    assert await _name_servers(world) == INSIDE["nameServers"]


async def _name_servers(world: World) -> list[dict[str, Any]]:
    hosted = await world.hosted("zone")
    assert hosted is not None
    return [{name: each for name, each in server.items() if each} for server in hosted["spec"]["nameServers"]]
