"""Two claims for one thing: the owner keeps it, the other one is told whose it is, and has it once the owner is gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controllers.api.group import HOSTED_ZONES, RECORD_SETS, ZONES
from kube.client import Client
from tests.product.claim import ZONE, Claim, claim, zone, zone_class
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import Stage

OWNER = claim("www", "A", "192.0.2.1")
RIVALS = [claim("www", "A", "192.0.2.2"), claim("www", "CNAME", "elsewhere.example.net")]


@pytest.mark.parametrize("rival", RIVALS, ids=lambda each: each.type)
async def test_a_rival_waits_for_the_owner_and_takes_over(stage: Stage, rival: Claim) -> None:
    await stage.set_up(OWNER)
    await stage.apply(rival.manifest(name="rival"))
    found = await stage.until_condition(RECORD_SETS, "rival", "Accepted", "False", "RecordSetConflict")
    assert f"{stage.namespace}/{OWNER.name}" in found["message"]
    stage.assert_answered([OWNER])

    edited = replace(OWNER, values=("192.0.2.9",))
    await stage.publish(edited)
    stage.assert_answered([edited])

    await stage.delete(RECORD_SETS, OWNER.name)
    await stage.until_programmed(RECORD_SETS, "rival")
    stage.assert_answered([rival])
    assert await stage.find(RECORD_SETS, OWNER.name) is None


async def test_nothing_stands_beside_an_alias(stage: Stage) -> None:
    alias, beside = claim("www", "CNAME", "elsewhere.example.net"), claim("www", "TXT", "text")
    await stage.set_up(alias)
    await stage.apply(beside.manifest())
    found = await stage.until_condition(RECORD_SETS, beside.name, "Accepted", "False", "RecordSetConflict")
    assert f"{stage.namespace}/{alias.name}" in found["message"]
    assert stage.answer("www", "TXT") == alias.records(stage.domain)


async def test_a_rival_that_gives_up_leaves_the_owner_alone(stage: Stage) -> None:
    await stage.set_up(OWNER)
    await stage.apply(RIVALS[0].manifest(name="rival"))
    await stage.until_condition(RECORD_SETS, "rival", "Accepted", "False", "RecordSetConflict")
    await stage.delete(RECORD_SETS, "rival")
    await stage.until_gone(RECORD_SETS, "rival")
    stage.assert_answered([OWNER])


async def test_of_rivals_that_come_before_their_zone_one_is_served(stage: Stage) -> None:
    """Timestamps are whole seconds, so that the name decides between claims of one moment."""
    names = [f"rival-{number}" for number in range(4)]
    for number, name in enumerate(names):
        await stage.apply(claim("www", "A", f"192.0.2.{number}").manifest(name=name))
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    await stage.until_programmed(RECORD_SETS, names[0])
    stage.assert_answered([claim("www", "A", "192.0.2.0")])
    for name in names[1:]:
        found = await stage.until_condition(RECORD_SETS, name, "Accepted", "False", "RecordSetConflict")
        assert f"{stage.namespace}/{names[0]}" in found["message"]


async def test_a_domain_has_one_zone_and_the_next_one_follows(product: Product, client: Client, stage: Stage) -> None:
    loser = replace(await fresh_stage(product, client), domain=stage.domain)
    theirs = claim("www", "A", "192.0.2.2")
    await stage.set_up(OWNER)
    for manifest in (zone_class(), zone(loser.domain), theirs.manifest()):
        await loser.apply(manifest)
    found = await loser.until_condition(ZONES, ZONE, "Programmed", "False", "ProviderConflict")
    assert f"{stage.namespace}/{ZONE}" in found["message"]
    await loser.until_condition(RECORD_SETS, theirs.name, "Programmed", "False", "ProviderConflict")
    assert await loser.names(HOSTED_ZONES) == []
    stage.assert_answered([OWNER])
    serial = stage.serial()

    await stage.delete(ZONES, ZONE)
    await stage.delete(RECORD_SETS, OWNER.name)
    await loser.until_programmed(ZONES, ZONE)
    await loser.until_programmed(RECORD_SETS, theirs.name)
    loser.assert_answered([theirs])
    assert loser.serial() >= serial
    await stage.until_gone(ZONES, ZONE)


async def test_two_zones_of_one_namespace_do_not_share_a_domain(stage: Stage) -> None:
    await stage.set_up(OWNER)
    await stage.apply(zone(stage.domain, name="second"))
    found = await stage.until_condition(ZONES, "second", "Programmed", "False", "ProviderConflict")
    assert f"{stage.namespace}/{ZONE}" in found["message"]
    await stage.delete(ZONES, "second")
    await stage.until_gone(ZONES, "second")
    stage.assert_answered([OWNER])


async def test_a_child_zone_of_another_team_is_served_beside_its_parent(
    product: Product, client: Client, stage: Stage
) -> None:
    child = replace(await fresh_stage(product, client), domain=f"lab.{stage.domain}")
    inside = claim("www.lab", "A", "192.0.2.66")
    await stage.set_up(OWNER, inside)
    await child.set_up(claim("www", "A", "192.0.2.3"))
    child.assert_answered([claim("www", "A", "192.0.2.3")])
    stage.assert_answered([OWNER])
    await child.delete(RECORD_SETS, "www-a")
    await child.delete(ZONES, ZONE)
    await child.until_gone(ZONES, ZONE)
    stage.assert_answered([OWNER, inside])
