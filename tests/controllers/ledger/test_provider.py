"""A provider that is written on the ledger package, in a real manager: claims, facts, identity, deletion, admission of its own kind."""

from __future__ import annotations

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from tests.controllers.ledger.conftest import NAMESPACE, World


async def test_claims_are_programmed_with_the_public_facts_of_the_provider(world: World) -> None:
    await world.pen()
    await world.zone("a", "b")
    for name in ("a", "b"):
        await world.until_reason(RECORD_SETS, name, "Programmed")
    await world.until_reason(ZONES, "zone", "Programmed")
    record_set, zone = await world.get(RECORD_SETS, "b"), await world.get(ZONES, "zone")

    async def told() -> bool:
        return bool((await world.get(RECORD_SETS, "b"))["status"].get("provider") == {"data": {"line": 1}})

    await world.until(told)
    assert zone["status"]["provider"] == {"data": {"page": 1}}
    assert zone["status"]["nameServers"] == ["shelf.example"]
    assert "state" not in str(record_set["status"]) + str(zone["status"])
    assert set(world.book.lines["example.test"]) == {("a", "A"), ("b", "A")}


async def test_notes_of_the_provider_stay_in_the_ledger(world: World) -> None:
    await world.pen()
    await world.zone("a")
    await world.until_reason(RECORD_SETS, "a", "Programmed")
    status = (await world.get(ZONE_UNITS, "zone"))["status"]
    assert status["provider"] == {"state": {"page": 1}}
    assert status["zone"]["provider"]["state"] == {"ink": "wet"}
    assert status["recordSets"][0]["provider"] == {"data": {"line": 0}, "state": {"secret": True}}


async def test_facts_outlive_an_outage(world: World) -> None:
    await world.pen()
    await world.zone("a")
    await world.until_reason(RECORD_SETS, "a", "Programmed")
    world.book.torn = True
    await world.record_set("b")
    await world.until_reason(RECORD_SETS, "b", "ProviderUnavailable")
    await world.until_reason(RECORD_SETS, "a", "ProviderUnavailable")
    unit = (await world.get(ZONE_UNITS, "zone"))["status"]
    assert unit["recordSets"][0]["provider"] == {"data": {"line": 0}, "state": {"secret": True}}
    assert unit["provider"] == {"state": {"page": 1}}
    assert (await world.get(RECORD_SETS, "a"))["status"]["provider"] == {"data": {"line": 0}}


async def test_class_and_its_zones_wait_for_the_identity(world: World) -> None:
    await world.zone("a")
    await world.until_reason(ZONE_CLASSES, "books", "IdentityNotResolved", "Accepted")
    await world.until_reason(ZONES, "zone", "IdentityNotResolved", "Accepted")
    await world.pen()
    await world.until_reason(ZONE_CLASSES, "books", "Accepted", "Accepted")
    await world.until_reason(RECORD_SETS, "a", "Programmed")


async def test_deletion_is_complete_when_nothing_is_left_outside(world: World) -> None:
    await world.pen()
    await world.zone("a", "b")
    await world.until_reason(RECORD_SETS, "a", "Programmed")
    await world.client.delete(RECORD_SETS, name="a", namespace=NAMESPACE)
    await world.until_gone(RECORD_SETS, "a")
    assert ("a", "A") not in world.book.lines["example.test"]
    await world.client.delete(RECORD_SETS, name="b", namespace=NAMESPACE)
    await world.client.delete(ZONES, name="zone", namespace=NAMESPACE)
    await world.until_gone(ZONES, "zone")
    await world.until_gone(ZONE_UNITS, "zone")
    assert world.book.lines == {}


async def test_class_of_another_controller_is_left_alone(world: World) -> None:
    await world.pen()
    await world.zone("a")
    await world.until_reason(RECORD_SETS, "a", "Programmed")
    before = await world.get(ZONE_CLASSES, "books")
    spec = {key: value for key, value in before["spec"].items() if key != "allowedZones"}
    await world.create(ZONE_CLASSES, "foreign", {**spec, "controllerName": "other.example/controller"})
    await world.record_set("b")
    await world.until_reason(RECORD_SETS, "b", "Programmed")
    assert "status" not in await world.get(ZONE_CLASSES, "foreign")


async def test_own_kind_is_judged_at_admission(world: World) -> None:
    refused = await world.refusal(world.pen("pink"))
    assert "spec.colour" in refused
    assert 'found "pink", allowed: blue or black' in refused
