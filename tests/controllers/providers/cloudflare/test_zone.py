"""Zones are created, adopted, observed, kept or deleted at Cloudflare; one of the same name is never taken for ours."""

from __future__ import annotations

import pytest

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import KubeError
from tests.controllers.providers.cloudflare.fake.failure import Kind
from tests.controllers.providers.cloudflare.fake.state import new_id
from tests.controllers.providers.cloudflare.world import DOMAIN, ZONE, ZONE_CLASS, World, a, secret, zone, zone_class


async def test_a_zone_is_created_and_told_of(world: World) -> None:
    zone_id = await world.ready_zone()
    found = world.zone
    assert found is not None
    assert found.status.name_servers == ("ada.ns.cloudflare.test", "bob.ns.cloudflare.test")
    assert found.status.provider is not None
    assert found.status.provider.data == {"zone": {"id": zone_id, "status": "pending", "type": "full"}}
    (created,) = [body for call, body in world.cloudflare.bodies if (call.method, call.path) == ("POST", "/zones")]
    assert created == {"account": {"id": world.account}, "name": DOMAIN, "type": "full"}
    assert world.says(found, "Accepted", "True", "Accepted")


async def test_a_zone_is_kept_unless_the_class_says_otherwise(world: World) -> None:
    zone_id = await world.ready_zone()
    await world.delete_and_wait(ZONES, ZONE)
    assert list(world.cloudflare.state.zones) == [zone_id]
    await world.until_event(ZONE, "ExternalResourceRetained")


async def test_a_zone_is_deleted_after_its_records_where_the_class_says_so(world: World) -> None:
    zone_id = await world.ready_zone(parameters={"zoneDeletionPolicy": "Delete"})
    await world.publish(a("www"))
    await world.delete(ZONES, ZONE)
    await world.quiet()
    assert list(world.cloudflare.state.zones) == [zone_id], "its record set is still there"
    await world.delete_and_wait(RECORD_SETS, "www")
    await world.until_gone(ZONES, ZONE)
    assert world.cloudflare.state.zones == {}
    await world.until_event(ZONE, "ExternalResourceDeleted")


async def test_another_zone_of_the_name_is_never_deleted(world: World) -> None:
    zone_id = await world.ready_zone(parameters={"zoneDeletionPolicy": "Delete"})
    del world.cloudflare.state.zones[zone_id], world.cloudflare.state.records[zone_id]
    other = world.cloudflare.state.add_zone(world.account, DOMAIN)
    await world.look_again()
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ExternalResourceNotFound"))
    await world.delete_and_wait(ZONES, ZONE)
    assert list(world.cloudflare.state.zones) == [other]


async def test_a_zone_of_the_same_name_is_a_conflict(world: World) -> None:
    other = world.cloudflare.state.add_zone(world.account, DOMAIN)
    await world.set_up(parameters={"zoneDeletionPolicy": "Delete"})
    await world.apply(a("www"))
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderConflict"))
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    await world.delete_and_wait(RECORD_SETS, "www")
    await world.delete_and_wait(ZONES, ZONE)
    assert list(world.cloudflare.state.zones) == [other]
    assert world.cloudflare.writes == []


async def test_an_existing_zone_is_adopted_by_its_identifier(world: World) -> None:
    zone_id = world.cloudflare.state.add_zone(world.account, DOMAIN, status="active")
    foreign = world.cloudflare.state.add_record(zone_id, type="A", name=DOMAIN, content="192.0.2.77", ttl=300)
    assert await world.ready_zone(adoption={"zoneID": zone_id}, parameters={"zoneCreationPolicy": "Deny"}) == zone_id
    await world.until_event(ZONE, "ExternalResourceAdopted")
    await world.publish(a("www"))
    assert foreign in world.cloudflare.state.records[zone_id]


@pytest.mark.parametrize("adopts", [False, True], ids=["created", "adopted"])
async def test_an_internationalised_domain_is_the_zone_that_cloudflare_tells_in_unicode(
    world: World, adopts: bool
) -> None:
    domain = "xn--bcher-kva.example.com"
    adoption = {"zoneID": world.cloudflare.state.add_zone(world.account, domain)} if adopts else None
    await world.set_up(domain=domain, adoption=adoption)
    await world.until(lambda: world.says(world.zone, "Programmed", "True", "Programmed"))
    ((zone_id, found),) = world.cloudflare.state.zones.items()
    assert found["name"] == "bücher.example.com"
    await world.publish(a("www"))
    assert [each["name"] for each in world.cloudflare.state.records[zone_id].values()] == [f"www.{domain}"]


async def test_an_internationalised_domain_that_is_there_is_a_conflict(world: World) -> None:
    world.cloudflare.state.add_zone(world.account, "bücher.example.com")
    await world.set_up(domain="xn--bcher-kva.example.com")
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderConflict"))
    assert world.cloudflare.writes == []


async def test_a_class_may_deny_creation(world: World) -> None:
    await world.set_up(parameters={"zoneCreationPolicy": "Deny"})
    await world.until(lambda: world.says(world.zone, "Accepted", "False", "DeniedByPolicy"))
    assert world.cloudflare.state.zones == {}
    zone_id = world.cloudflare.state.add_zone(world.account, DOMAIN)
    await world.apply(zone({"zoneID": zone_id}))
    await world.until(lambda: world.says(world.zone, "Programmed", "True", "Programmed"))


@pytest.mark.parametrize("fault", ["name", "type", "moved"])
async def test_a_zone_that_is_another_one_is_not_adopted(world: World, fault: str) -> None:
    zone_id = world.cloudflare.state.add_zone(
        world.account,
        "example.org" if fault == "name" else DOMAIN,
        kind="partial" if fault == "type" else "full",
        status="moved" if fault == "moved" else "active",
    )
    await world.set_up(adoption={"zoneID": zone_id})
    await world.apply(a("www"))
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ExternalResourceMismatch"))
    await world.delete_and_wait(RECORD_SETS, "www")
    await world.delete_and_wait(ZONES, ZONE)
    assert world.cloudflare.writes == []


async def test_a_zone_that_was_not_adopted_is_not_deleted(world: World) -> None:
    zone_id = world.cloudflare.state.add_zone(world.account, DOMAIN, status="moved")
    await world.set_up(adoption={"zoneID": zone_id}, parameters={"zoneDeletionPolicy": "Delete"})
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ExternalResourceMismatch"))
    await world.delete_and_wait(ZONES, ZONE)
    assert list(world.cloudflare.state.zones) == [zone_id]


async def test_a_zone_in_another_account_is_not_called_gone(world: World) -> None:
    zone_id = await world.ready_zone(parameters={"zoneDeletionPolicy": "Delete"})
    world.cloudflare.state.add_token("another-token", world.cloudflare.state.add_account("Other"))
    fault = world.cloudflare.fail(Kind.NOT_THERE, lambda call: zone_id in call.path, times=10_000)
    await world.apply(secret("another-token"))
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderConflict"))
    await world.delete(ZONES, ZONE)
    await world.until(lambda: world.unit is not None and world.unit.deleting)
    await world.quiet()
    assert world.unit is not None
    assert list(world.cloudflare.state.zones) == [zone_id]
    fault.times = 0
    await world.apply(secret())
    await world.until_gone(ZONES, ZONE)
    assert world.cloudflare.state.zones == {}


async def test_a_page_that_is_not_the_apis_makes_no_zone_missing(world: World) -> None:
    await world.ready_zone(parameters={"zoneDeletionPolicy": "Delete"})
    await world.publish(a("www"))
    fault = world.cloudflare.fail(Kind.NOT_FOUND_HTML, lambda call: call.path.startswith("/zones"), times=10_000)
    await world.apply(a("www", "192.0.2.9"))
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderUnavailable"))
    await world.delete(RECORD_SETS, "www")
    await world.delete(ZONES, ZONE)
    left = fault.times
    await world.until_async(lambda: _is(fault.times < left - 3))
    assert world.record_set("www") is not None
    fault.times = 0
    await world.until_gone(RECORD_SETS, "www")
    await world.until_gone(ZONES, ZONE)
    assert world.cloudflare.state.zones == {}


async def test_a_zone_that_is_not_there_is_not_found(world: World) -> None:
    await world.set_up(adoption={"zoneID": new_id()})
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ExternalResourceNotFound"))
    await world.delete_and_wait(ZONES, ZONE)


async def test_a_zone_of_another_account_is_not_adopted(world: World) -> None:
    other = world.cloudflare.state.add_account("Other")
    zone_id = world.cloudflare.state.add_zone(other, DOMAIN)
    await world.set_up(adoption={"zoneID": zone_id})
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderAccessDenied"))
    assert world.cloudflare.writes == []


async def test_an_adoption_that_names_another_zone_later_is_refused(world: World) -> None:
    await world.ready_zone()
    other = world.cloudflare.state.add_zone(world.account, "example.org")
    await world.apply(zone({"zoneID": other}))
    await world.until(lambda: world.says(world.zone, "Accepted", "False", "ManagedResourceMismatch"))


@pytest.mark.parametrize(
    ("state", "reason"), [("initializing", "ProviderChangePending"), ("moved", "ProviderConflict")]
)
async def test_records_wait_for_a_zone_that_is_not_working(world: World, state: str, reason: str) -> None:
    zone_id = await world.ready_zone()
    await world.publish(a("kept"))
    world.cloudflare.state.zones[zone_id]["status"] = state
    world.cloudflare.calls.clear()
    await world.apply(a("www"))
    await world.until(lambda: world.says(world.zone, "Programmed", "False", reason))
    await world.until(lambda: world.record_says("www", "False", reason))
    assert world.cloudflare.writes == []
    world.cloudflare.state.zones[zone_id]["status"] = "active"
    await world.until(lambda: world.is_programmed("www"))
    await world.until(lambda: world.says(world.zone, "Programmed", "True", "Programmed"))


async def test_a_zone_whose_creation_was_not_answered_is_recognised(world: World) -> None:
    fault = world.cloudflare.fail(Kind.AFTER_HANG_UP, lambda call: (call.method, call.path) == ("POST", "/zones"))
    await world.ready_zone()
    assert fault.times == 0
    assert len(world.cloudflare.state.zones) == 1


async def test_the_policy_outlives_its_class(world: World) -> None:
    await world.ready_zone()
    await world.delete(ZONE_CLASSES, ZONE_CLASS)
    await world.delete_and_wait(ZONES, ZONE)
    assert len(world.cloudflare.state.zones) == 1


async def test_a_zone_that_could_not_be_deleted_is_tried_again(world: World) -> None:
    await world.ready_zone(parameters={"zoneDeletionPolicy": "Delete"})
    world.cloudflare.fail(Kind.SERVER_ERROR, lambda call: call.method == "DELETE", times=2)
    await world.delete(ZONES, ZONE)
    await world.until_gone(ZONES, ZONE)
    assert world.cloudflare.state.zones == {}


async def test_parameters_that_say_nothing_known_are_refused(world: World) -> None:
    with pytest.raises(KubeError, match="zoneDeletionPolicy"):
        await world.apply(zone_class({"zoneDeletionPolicy": "Sometimes"}))


async def _is(value: bool) -> bool:
    return value
