"""Two managers at once do no harm, and a burst of edits ends with what was last asked for."""

from __future__ import annotations

from controllers.providers.hosted.hosted_object import HostedObject, Manifest
from kube.object import ObjectKey
from kube.store import Change
from tests.controllers.providers.hosted.world import TEAM, World, item

ZONE = ObjectKey(TEAM, "zone")


async def test_two_managers_agree(world: World) -> None:
    await world.start_servers("ns-a", "ns-b")
    await world.start_manager("second")
    await world.zone_class()
    await world.unit("zone", [item("www")])
    for number in range(2, 12):
        await world.edit("zone", [item("www", f"192.0.2.{number}", generation=number), item(f"n{number}")])
    await world.until(lambda: world.is_programmed("zone", "www", generation=11))
    await world.quiet()
    serials = world.servers["ns-a"].serials
    assert serials == sorted(serials)
    assert world.servers["ns-a"].served[ZONE].digest == world.servers["ns-b"].served[ZONE].digest
    assert world.servers["ns-a"].records(ZONE)["www", "A"].a.addresses == ("192.0.2.11",)


async def test_one_serial_never_stands_for_two_contents(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item("www")])
    seen: set[tuple[int | None, str | None]] = set()

    def note(change: Change[HostedObject]) -> None:
        if isinstance(change.new, Manifest):
            seen.add((change.new.spec.serial, change.new.spec.digest))

    world.own.hosted_zones.subscribe(note)
    for number in range(2, 22):
        await world.edit("zone", [item("www", f"192.0.2.{number}", generation=number)])
    await world.until(lambda: world.is_programmed("zone", "www", generation=21))
    assert len({serial for serial, _ in seen}) == len(seen)
