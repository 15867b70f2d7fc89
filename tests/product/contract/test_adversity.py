"""What goes wrong around claims: made again by force, written past what a ledger takes, or deleted in a moment that suits nobody."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controllers.api.group import (
    CORE_FINALIZER,
    NAMESPACES,
    PROVIDER_FINALIZER,
    RECORD_SETS,
    ZONE_CLASSES,
    ZONE_UNITS,
    ZONES,
)
from kube.errors import Invalid
from tests.product.claim import ZONE, ZONE_CLASS, claim, zone, zone_class
from tests.product.contract.ledger import item, ledger
from tests.product.contract.other_provider import OtherProvider, version
from tests.product.contract.row import WWW
from tests.product.contract.small_world import SmallWorld
from tests.product.stage import Object, Stage, condition

GOOD = [("Accepted", "True", "Accepted"), ("Programmed", "True", "Programmed")]
AGAIN = replace(WWW, values=("192.0.2.99",))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SmallWorld]:
    world = SmallWorld(tmp_path)
    await world.start()
    yield world
    await world.stop()


async def stage_in(world: SmallWorld, **labels: str) -> Stage:
    name = f"adverse-{secrets.token_hex(4)}"
    metadata = {"name": name, "labels": labels}
    await world.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    return Stage(world.client, world.target, name, f"{name}.test")


async def make_again_by_force(stage: Stage, other: OtherProvider) -> None:
    """As `kubectl replace --force` does it, with the finalizer taken off by hand."""
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.client.patch_merge(
        RECORD_SETS, {"metadata": {"finalizers": None}}, name=WWW.name, namespace=stage.namespace
    )
    await other.apply_record_set(AGAIN)


def says(kind: str, status: str) -> Any:
    def holds(obj: Object | None) -> bool:
        found = condition(obj, kind) if obj is not None else None
        return found is not None and found["status"] == status

    return holds


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_claim_that_was_made_again_is_programmed_when_the_provider_says_so_of_it(
    world: SmallWorld, restarted: bool
) -> None:
    stage = await stage_in(world)
    other = OtherProvider(stage)
    await other.set_up(WWW)
    await other.say(GOOD, GOOD)
    await stage.until_programmed(RECORD_SETS, WWW.name)
    if restarted:
        await world.kill_manager()
    await make_again_by_force(stage, other)
    await world.start_manager()
    await stage.until(RECORD_SETS, WWW.name, says("Programmed", "Unknown"))
    unit = await stage.find(ZONE_UNITS, ZONE)
    assert unit is not None
    assert unit["spec"]["recordSets"][0]["a"] == {"addresses": ["192.0.2.99"]}
    await world.kill_manager()
    await world.start_manager()
    assert says("Programmed", "Unknown")(await stage.find(RECORD_SETS, WWW.name))
    await other.say(GOOD, GOOD)
    await stage.until_programmed(RECORD_SETS, WWW.name)


async def test_the_ledger_of_another_domain_outlives_a_zone_that_was_mistyped(world: SmallWorld) -> None:
    stage = await stage_in(world)
    unit = ledger(stage.namespace, item(stage.namespace, "lost"), domain="elsewhere.test")
    await world.client.create(ZONE_UNITS, {**unit, "metadata": {"name": ZONE, "namespace": stage.namespace}})
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    await stage.until_condition(ZONES, ZONE, "Accepted", "False", "ManagedResourceMismatch")
    await stage.delete(ZONES, ZONE)
    await stage.until_gone(ZONES, ZONE)
    kept = await stage.find(ZONE_UNITS, ZONE)
    assert kept is not None
    assert "deletionTimestamp" not in kept["metadata"]
    assert [each["recordSetName"] for each in kept["spec"]["recordSets"]] == ["lost"]
    await stage.apply(zone("elsewhere.test"))
    await stage.until_programmed(ZONES, ZONE)


async def test_a_claim_that_comes_while_a_zone_is_cleaned_up_is_told(world: SmallWorld) -> None:
    stage = await stage_in(world)
    other = OtherProvider(stage)
    await other.set_up()
    held = {"metadata": {"finalizers": [CORE_FINALIZER, PROVIDER_FINALIZER]}}
    await world.client.patch_merge(ZONE_UNITS, held, name=ZONE, namespace=stage.namespace)
    await stage.delete(ZONES, ZONE)
    await stage.until_there(ZONE_UNITS, ZONE, lambda unit: "deletionTimestamp" in unit["metadata"])
    await other.apply_record_set(WWW)
    await stage.until_condition(RECORD_SETS, WWW.name, "Accepted", "False", "ZoneNotAccepted")
    cleaned = {"metadata": {"finalizers": [CORE_FINALIZER]}}
    await world.client.patch_merge(ZONE_UNITS, cleaned, name=ZONE, namespace=stage.namespace)
    await stage.until_gone(ZONES, ZONE)
    await stage.until_condition(RECORD_SETS, WWW.name, "Accepted", "Unknown", "ZoneNotResolved")


async def test_claims_that_only_their_provider_takes_hold_up_no_others(world: SmallWorld) -> None:
    stage = await stage_in(world)
    other = OtherProvider(stage)
    toggles = [{"name": f"require-{kind}", "when": "true"} for kind in ("a-addresses", "txt-values")]
    await other.install(version(recordSet={"supportedTypes": ["A", "TXT"], "disableValidations": toggles}))
    await other.apply_class()
    await other.judge_class()
    await other.apply_zone()
    bodies: list[Object] = [
        {"a": {"addresses": ["192.0.2.1", "192.0.2.1"]}},
        {"a": {"addresses": ["not-an-address"]}},
        {"type": "TXT", "txt": {"values": ["x", "x"]}, "a": None},
        {"type": "TXT", "txt": {"values": [""]}, "a": None},
    ]
    for number, body in enumerate(bodies):
        await other.apply_record_set(claim(f"bad-{number}", "A", "192.0.2.1"), **body)
    await other.apply_record_set(claim("empty", "A", "192.0.2.1"), a={"addresses": []})
    await other.apply_record_set(WWW)
    unit = await stage.until_there(ZONE_UNITS, ZONE, lambda unit: len(unit["spec"].get("recordSets", ())) == 2)
    assert {each["name"]: each.get("a") for each in unit["spec"]["recordSets"]} == {
        "empty": None,
        "www": {"addresses": ["192.0.2.1"]},
    }
    for number in range(len(bodies)):
        await stage.until_condition(RECORD_SETS, f"bad-{number}-a", "Accepted", "False", "InvalidProviderPayload")
    for name in await stage.names(RECORD_SETS):
        await stage.delete(RECORD_SETS, name)
    await other.say(GOOD)  # nothing of records any more
    await stage.until_gone(RECORD_SETS, "bad-0-a")


async def test_a_class_that_changes_its_mind_is_heard_without_anything_else_changing(world: SmallWorld) -> None:
    """The Zone's own provider does not run, so that nobody but the class's event tells of it."""
    stage = await stage_in(world)
    other = OtherProvider(stage)
    await other.set_up(WWW)
    await other.judge_class("False", "DeniedByPolicy")
    await stage.until_condition(ZONES, ZONE, "Accepted", "False", "ZoneClassNotAccepted")
    await other.judge_class()
    await stage.until_condition(ZONES, ZONE, "Accepted", "Unknown", "Reconciling")
    await stage.delete(ZONE_CLASSES, ZONE_CLASS)
    await stage.until_condition(ZONES, ZONE, "Accepted", "Unknown", "ZoneClassNotResolved")


async def test_a_ledger_is_not_made_one_of_something_else_by_hand(world: SmallWorld) -> None:
    stage = await stage_in(world)
    await stage.set_up(WWW)
    elsewhere = {"namespace": stage.namespace, "name": "elsewhere"}
    for spec in ({"zone": {"domainName": "elsewhere.test"}}, {"zone": {"zoneClassRef": elsewhere}}):
        with pytest.raises(Invalid, match="immutable"):
            await world.client.patch_merge(ZONE_UNITS, {"spec": spec}, name=ZONE, namespace=stage.namespace)
    assert await asyncio.to_thread(stage.answer, "www", "A") == WWW.records(stage.domain)


async def test_a_reason_that_the_provider_gave_up_keeps_no_status_from_being_written(world: SmallWorld) -> None:
    stage = await stage_in(world)
    other = OtherProvider(stage)
    own = {"conditionType": "Programmed", "status": "False", "reason": "QuotaIsUsedUp", "description": "No more."}
    types = ["A", "TXT"]
    await other.install(version(recordSet={"supportedTypes": types, "additionalConditionReasons": [own]}))
    await other.apply_class()
    await other.judge_class()
    await other.apply_zone()
    await other.apply_record_set(WWW)
    await stage.until_there(ZONE_UNITS, ZONE, lambda unit: len(unit["spec"].get("recordSets", ())) == 1)
    await world.kill_manager()
    await other.say(GOOD, [("Accepted", "True", "Accepted"), ("Programmed", "False", "QuotaIsUsedUp")])
    await other.install()
    await world.start_manager()
    found = await stage.until_condition(RECORD_SETS, WWW.name, "Programmed", "Unknown", "ReconcileError")
    assert found["message"].startswith("The provider's QuotaIsUsedUp cannot be told: ")
    await stage.until_condition(RECORD_SETS, WWW.name, "Accepted", "True", "Accepted")
    await other.say(GOOD, GOOD)
    await stage.until_programmed(RECORD_SETS, WWW.name)
