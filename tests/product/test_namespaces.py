"""Zones, classes and records of different namespaces: what is granted is served, and no deletion waits for the wrong one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.client import Client
from tests.product.claim import ZONE, ZONE_CLASS, Claim, claim, zone, zone_class
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import Object, Stage, condition

WWW, API = claim("www", "A", "192.0.2.1"), claim("api", "A", "192.0.2.2")


@pytest.fixture
async def team(product: Product, client: Client, stage: Stage) -> Stage:
    """Another namespace that claims records of the zone."""
    return replace(await fresh_stage(product, client), domain=stage.domain)


def open_zone(domain: str, pattern: str, *types: str) -> Object:
    found = zone(domain)
    selector = {"matchLabels": {"team": "web"}}
    rule = {"namespaces": {"selector": selector}, "records": [{"name": {"pattern": pattern}, "types": list(types)}]}
    found["spec"]["allowedRecordSets"] = [rule]
    return found


def elsewhere(each: Claim, stage: Stage) -> Object:
    found = each.manifest()
    found["spec"]["zoneRef"]["namespace"] = stage.namespace
    return found


async def label(stage: Stage, **labels: Any) -> None:
    await stage.client.patch_merge(NAMESPACES, {"metadata": {"labels": labels}}, name=stage.namespace)


async def test_what_the_zone_allows_is_served_and_the_rest_is_told_why(stage: Stage, team: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(open_zone(stage.domain, "www|.*[.]www", "A"))
    await stage.until_programmed(ZONES, ZONE)
    await team.apply(elsewhere(WWW, stage))
    found = await team.until_condition(RECORD_SETS, WWW.name, "Accepted", "False", "NotAllowedByZone")
    assert found["message"] == "RecordSet namespace is not allowed by the referenced Zone."
    assert stage.rcode("www", "A") == "NXDOMAIN"

    await label(team, team="web")
    await team.until_programmed(RECORD_SETS, WWW.name)
    stage.assert_answered([WWW])

    await team.apply(elsewhere(API, stage))
    found = await team.until_condition(RECORD_SETS, API.name, "Accepted", "False", "NotAllowedByZone")
    assert found["message"] == "RecordSet name is not allowed by the referenced Zone."
    text = claim("www", "TXT", "text")
    await team.apply(elsewhere(text, stage))
    found = await team.until_condition(RECORD_SETS, text.name, "Accepted", "False", "NotAllowedByZone")
    assert found["message"] == "RecordSet type is not allowed for this RecordSet name by the referenced Zone."


async def test_what_is_no_longer_allowed_stays_served_until_it_is_deleted(stage: Stage, team: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(open_zone(stage.domain, ".*", "A"))
    await label(team, team="web")
    await team.apply(elsewhere(WWW, stage))
    await team.until_programmed(RECORD_SETS, WWW.name)
    await label(team, team=None)
    await team.until_condition(RECORD_SETS, WWW.name, "Accepted", "False", "NotAllowedByZone")
    stage.assert_answered([WWW])
    await team.apply(elsewhere(replace(WWW, values=("192.0.2.9",)), stage))
    await team.until_condition(RECORD_SETS, WWW.name, "Accepted", "False", "NotAllowedByZone")
    stage.assert_answered([WWW])
    await team.delete(RECORD_SETS, WWW.name)
    await team.until_gone(RECORD_SETS, WWW.name)
    assert stage.rcode("www", "A") == "NXDOMAIN"


async def test_a_namespace_of_records_goes_without_the_zone(stage: Stage, team: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(open_zone(stage.domain, ".*", "A"))
    await label(team, team="web")
    await team.apply(elsewhere(WWW, stage))
    await stage.publish(API)
    await team.until_programmed(RECORD_SETS, WWW.name)
    await team.delete(NAMESPACES, team.namespace)
    await team.until_gone(NAMESPACES, team.namespace)
    assert stage.rcode("www", "A") == "NXDOMAIN"
    stage.assert_answered([API])


async def test_a_zone_waits_for_records_of_other_namespaces(stage: Stage, team: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(open_zone(stage.domain, ".*", "A"))
    await label(team, team="web")
    await team.apply(elsewhere(WWW, stage))
    await team.until_programmed(RECORD_SETS, WWW.name)
    await stage.delete(ZONES, ZONE)
    found = await stage.until_condition(ZONES, ZONE, "Programmed", "False", "ProviderChangePending")
    assert f"{team.namespace}/{WWW.name}" in found["message"]
    stage.assert_answered([WWW])
    await team.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(ZONES, ZONE)
    assert await team.remains() == {}
    assert stage.rcode("www", "A") == "REFUSED"


async def test_a_namespace_of_the_zone_goes_whoever_has_records_in_it(stage: Stage, team: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(open_zone(stage.domain, ".*", "A"))
    await label(team, team="web")
    await team.apply(elsewhere(WWW, stage))
    await team.until_programmed(RECORD_SETS, WWW.name)
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert stage.rcode("www", "A") == "REFUSED"
    await team.until_condition(RECORD_SETS, WWW.name, "Accepted", "Unknown", "ZoneNotResolved")
    obj = await team.find(RECORD_SETS, WWW.name)
    assert obj is not None
    assert condition(obj, "Programmed") is None
    await team.delete(RECORD_SETS, WWW.name)
    await team.until_gone(RECORD_SETS, WWW.name)


async def test_a_class_of_another_namespace_has_to_allow_it(stage: Stage, team: Stage) -> None:
    theirs = zone(stage.domain)
    theirs["spec"]["zoneClassRef"]["namespace"] = stage.namespace
    await stage.apply(zone_class())
    await team.apply(theirs)
    await team.until_condition(ZONES, ZONE, "Accepted", "False", "NotAllowedByZoneClass")
    opened = zone_class()
    opened["spec"]["allowedZones"] = {"namespaces": {"from": "All"}}
    await stage.apply(opened)
    await team.until_programmed(ZONES, ZONE)
    await team.publish(WWW)
    team.assert_answered([WWW])
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.find(ZONE_CLASSES, ZONE_CLASS) is None
    team.assert_answered([WWW])
    await team.delete(NAMESPACES, team.namespace)
    await team.until_gone(NAMESPACES, team.namespace)
    assert team.rcode("www", "A") == "REFUSED"
