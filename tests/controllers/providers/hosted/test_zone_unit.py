"""A ledger becomes a snapshot that name servers serve, and their reports become its results."""

from __future__ import annotations

from time import monotonic

from kube.object import ObjectKey
from tests.controllers.providers.hosted.name_server import FakeNameServer
from tests.controllers.providers.hosted.world import PATIENCE, TEAM, World, item, keys

ZONE = ObjectKey(TEAM, "zone")


async def served_zone(world: World, *claims: str) -> None:
    """A zone that two servers serve."""
    await world.start_servers("ns-a", "ns-b")
    await world.zone_class()
    await world.unit("zone", [item(claim) for claim in claims])
    await world.until(lambda: all(world.is_programmed("zone", claim) for claim in claims))
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))


async def test_ledger_is_published_and_programmed_once_served(world: World) -> None:
    await world.start_servers("ns-a", "ns-b")
    await world.zone_class()
    await world.unit("zone", [item("www"), item("mail", "192.0.2.2", ttl=None)])

    await world.until(lambda: world.is_programmed("zone", "www") and world.is_programmed("zone", "mail"))
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))

    served = world.servers["ns-b"].records(ZONE)
    assert keys(served) == {"www", "mail"}
    assert served["mail", "A"].ttl == 300
    unit = world.cached_unit("zone")
    assert unit is not None
    assert unit.status.zone is not None
    assert unit.status.zone.name_servers == ("ns1.dns.test", "ns2.dns.test")
    assert unit.status.zone.provider is not None
    assert unit.status.zone.provider.data == {"hostedZone": "zone"}
    assert unit.status.conditions[0].status == "True"
    assert world.says(world.zone_condition("zone", "Accepted"), "True", "Accepted")
    await world.until_async(lambda: _has_events(world, {"HostedZoneCreated", "Programmed"}))


async def test_manifest_names_its_ledger_and_is_owned_by_it(world: World) -> None:
    await served_zone(world, "www")
    unit, hosted = world.cached_unit("zone"), await world.hosted("zone")
    assert unit is not None
    assert hosted is not None
    (owner,) = hosted["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("ZoneUnit", unit.meta.uid)
    assert hosted["spec"]["source"] == {"name": "zone", "uid": unit.meta.uid, "generation": 1}


async def test_edit_rewrites_nothing_but_its_own_result(world: World) -> None:
    await served_zone(world, "www", "mail", "ftp")
    await world.quiet()
    seen = []
    world.informers.zone_units.subscribe(lambda change: seen.append(change.new))
    seen.clear()
    serial = world.servers["ns-a"].serials[-1]

    await world.edit("zone", [item("www"), item("mail", "192.0.2.9", generation=2), item("ftp")])
    await world.until(lambda: world.is_programmed("zone", "mail", generation=2))
    await world.quiet()

    assert world.servers["ns-a"].records(ZONE)["mail", "A"].a.addresses == ("192.0.2.9",)
    assert world.servers["ns-a"].serials[-1] > serial
    untouched = {entry for unit in seen if unit for entry in unit.status.record_sets if entry.record_set_name != "mail"}
    assert len(untouched) == 2
    status_versions = [unit.meta.resource_version for unit in seen if unit is not None]
    assert len(status_versions) == 2, "core's edit, and one status write once it is served"


async def test_record_is_pending_until_every_live_server_serves_it(world: World) -> None:
    await served_zone(world, "www")
    world.servers["ns-b"].paused = True
    await world.edit("zone", [item("www"), item("mail")])

    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderChangePending"))
    await world.until(lambda: world.says(world.zone_condition("zone"), "False", "ProviderChangePending"))
    zone = world.zone_condition("zone")
    assert zone is not None
    assert "ns-b" in zone.message
    assert world.is_programmed("zone", "www"), "what was served before still is"

    world.servers["ns-b"].resume()
    await world.until(lambda: world.is_programmed("zone", "mail"))
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))


async def test_zone_whose_servers_get_on_with_its_changes_stays_programmed(world: World) -> None:
    """One server or the other is always behind, and none stays where it is."""
    await served_zone(world, "www")
    before = world.zone_condition("zone")
    behind, ahead = world.servers["ns-a"], world.servers["ns-b"]
    behind.paused = True
    end, number = monotonic() + 2 * PATIENCE.outage_s, 1
    while monotonic() < end:
        behind, ahead, number = ahead, behind, number % 200 + 1
        behind.paused = True
        await _edit_beside(world, ahead, number)
        assert world.zone_condition("zone") == before


async def _edit_beside(world: World, server: FakeNameServer, number: int) -> None:
    """Publish a change while the server is paused, and have it serve that."""
    published, address = _generation(server), f"192.0.2.{number}"
    await world.edit("zone", [item("www"), item("mail", address, generation=number)])
    await world.until(lambda: _generation(server) > published)
    server.resume()
    await world.until(lambda: address in _mail(server))


def _generation(server: FakeNameServer) -> int:
    seen = server.informer.get(ZONE)
    return seen.generation if seen is not None else 0


def _mail(server: FakeNameServer) -> tuple[str, ...]:
    found = server.records(ZONE).get(("mail", "A"))
    return found.a.addresses if found is not None and found.a is not None else ()


async def test_server_that_is_not_ready_or_gone_holds_nobody_up(world: World) -> None:
    await served_zone(world, "www")
    world.servers["ns-b"].paused = True
    await world.announce(**{"ns-a": True, "ns-b": False})
    await world.edit("zone", [item("www"), item("mail")])
    await world.until(lambda: world.is_programmed("zone", "mail"))


async def test_without_a_live_server_nothing_is_programmed(world: World) -> None:
    await world.zone_class()
    await world.unit("zone", [item("www")])
    await world.until(lambda: world.says(world.programmed("zone", "www"), "False", "ProviderUnavailable"))
    await world.until(lambda: world.says(world.zone_condition("zone"), "False", "ProviderUnavailable"))
    await world.start_servers("ns-a")
    await world.until(lambda: world.is_programmed("zone", "www"))


async def test_outage_of_all_servers_that_lasts_is_told(world: World) -> None:
    await served_zone(world, "www")
    await world.announce(**{"ns-a": False, "ns-b": False})
    await world.until(lambda: world.says(world.zone_condition("zone"), "False", "ProviderUnavailable"))
    await world.until(lambda: world.says(world.programmed("zone", "www"), "False", "ProviderUnavailable"))
    await world.announce(**{"ns-a": True, "ns-b": True})
    await world.until(lambda: world.is_programmed("zone", "www"))


async def test_class_can_ask_for_several_servers(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class(parameters={"nameServers": [{"name": "ns1.dns.test"}], "minReadyServers": 2})
    await world.unit("zone", [item("www")])
    await world.until(lambda: world.says(world.programmed("zone", "www"), "False", "ProviderChangePending"))
    await world.start_servers("ns-b")
    await world.until(lambda: world.is_programmed("zone", "www"))


async def test_refusal_of_a_server_is_told_in_its_words(world: World) -> None:
    await served_zone(world, "www")
    for server in world.servers.values():
        server.refusal = "mail: no such thing"
    await world.edit("zone", [item("www"), item("mail")])
    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderInvalidRequest"))
    found = world.programmed("zone", "mail")
    assert found is not None
    assert "mail: no such thing" in found.message
    assert world.is_programmed("zone", "www")


async def test_deletion_is_reported_when_no_server_serves_the_record_any_more(world: World) -> None:
    await served_zone(world, "www", "mail")
    world.servers["ns-b"].paused = True
    await world.edit("zone", [item("www"), item("mail", deletionRequested=True)])
    await world.until(lambda: keys(world.servers["ns-a"].records(ZONE)) == {"www"})
    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderChangePending"))

    world.servers["ns-b"].resume()
    await world.until(lambda: world.entry("zone", "mail") is None)
    await world.until(lambda: world.caught_up("zone"))
    assert keys(world.servers["ns-b"].records(ZONE)) == {"www"}


async def test_item_that_was_never_reported_is_not_taken_for_deleted(world: World) -> None:
    await served_zone(world, "www")
    for server in world.servers.values():
        server.paused = True
    await world.edit("zone", [item("www"), item("mail")])
    await world.edit("zone", [item("www"), item("mail", deletionRequested=True)])
    await world.until(lambda: world.caught_up("zone"))
    # The servers may have got as far as the snapshot with the record, so its deletion needs their word.
    for server in world.servers.values():
        server.resume()
    await world.until(lambda: world.entry("zone", "mail") is None and world.caught_up("zone"))


async def test_record_that_is_no_longer_allowed_stays_as_it_was_last_served(world: World) -> None:
    await served_zone(world, "www", "mail")
    await world.edit("zone", [item("www"), item("mail", "192.0.2.9", generation=2, allowed=False)])
    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderChangeDeferred"))
    await world.edit(
        "zone", [item("www", "192.0.2.7", generation=2), item("mail", "192.0.2.9", generation=2, allowed=False)]
    )
    await world.until(lambda: world.is_programmed("zone", "www", generation=2))
    assert world.servers["ns-a"].records(ZONE)["mail", "A"].a.addresses == ("192.0.2.1",)

    # A restart knows it too, though the ledger alone does not say it.
    await world.stop("manager")
    await world.edit("zone", [item("www", generation=3), item("mail", "192.0.2.9", generation=2, allowed=False)])
    await world.start_manager()
    await world.until(lambda: world.is_programmed("zone", "www", generation=3))
    assert world.servers["ns-a"].records(ZONE)["mail", "A"].a.addresses == ("192.0.2.1",)

    await world.edit(
        "zone", [item("www", generation=3), item("mail", generation=2, allowed=False, deletionRequested=True)]
    )
    await world.until(lambda: world.entry("zone", "mail") is None and world.caught_up("zone"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}


async def test_record_that_was_never_allowed_is_not_created(world: World) -> None:
    await served_zone(world, "www")
    await world.edit("zone", [item("www"), item("mail", allowed=False)])
    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderChangeDeferred"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}


async def test_record_without_a_wire_form_does_not_spoil_the_zone(world: World) -> None:
    await served_zone(world, "www")
    await world.edit("zone", [item("www"), item("mail", "not-an-address"), item("ftp")])
    await world.until(lambda: world.is_programmed("zone", "ftp"))
    await world.until(lambda: world.says(world.programmed("zone", "mail"), "False", "ProviderInvalidRequest"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www", "ftp"}


async def test_quiet_zone_is_not_written_to(world: World) -> None:
    await served_zone(world, "www", "mail")
    await world.quiet()
    request = {"metadata": {"annotations": {"dns.appthrust.io/reconcile-request": "now"}}}
    await world.client.patch_merge(world.unit_ref, request, namespace=TEAM, name="zone")
    before = await _versions(world)
    world.provider.controllers[1].enqueue(ZONE)
    await world.quiet()
    assert await _versions(world) == before


async def test_restart_writes_nothing_when_nothing_changed(world: World) -> None:
    await served_zone(world, "www", "mail")
    await world.quiet()
    before = await _versions(world)
    await world.stop("manager")
    await world.start_manager()
    await world.quiet()
    assert await _versions(world) == before


async def test_snapshot_deleted_by_hand_is_published_again(world: World) -> None:
    await served_zone(world, "www")
    hosted = await world.hosted("zone")
    assert hosted is not None
    await world.client.delete(world.hosted_ref, namespace=TEAM, name="zone")

    async def is_back() -> bool:
        found = await world.hosted("zone")
        return found is not None and found["metadata"]["uid"] != hosted["metadata"]["uid"]

    await world.until_async(is_back)
    found = await world.hosted("zone")
    assert found is not None
    assert found["spec"]["serial"] > hosted["spec"]["serial"]
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))


async def _versions(world: World) -> dict[str, str]:
    unit = await world.client.get(world.unit_ref, namespace=TEAM, name="zone")
    hosted = await world.hosted("zone")
    assert hosted is not None
    return {"unit": unit["metadata"]["resourceVersion"], "hosted": hosted["metadata"]["resourceVersion"]}


async def _has_events(world: World, reasons: set[str]) -> bool:
    return reasons <= await world.events("zone")
