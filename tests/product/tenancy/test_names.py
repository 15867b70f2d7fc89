"""Names that a tenant was not granted stay with their owner, whatever the tenant applies."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_UNITS, ZONES
from kube.errors import Invalid
from tests.product.claim import ZONE, Claim, claim, zone, zone_class
from tests.product.stage import Stage, condition
from tests.product.tenancy.conftest import claimed_in, granting, label

WWW = claim("www", "A", "192.0.2.1")
GRANTS = (("app|api-[0-9]+", "A"), (".+[.]app", "A"), ("app", "TXT"))
GRANTED = [claim(owner, "A", "192.0.2.7") for owner in ("app", "api-1", "a.app", "a.b.app")] + [
    claim("app", "TXT", "t")
]
NOT_GRANTED = [
    claim(owner, "A", "192.0.2.66")
    for owner in ("@", "*", "www", "xapp", "app.x", "app-x", "api-x", "api-1x", "xapi-1", "api-1.x", "*.x", "a.xapp")
] + [claim("a.app", "TXT", "t"), claim("api-1", "MX", "10 mail.example"), claim("b.app", "AAAA", "2001:db8::1")]


async def test_a_tenant_gets_what_was_granted_and_nothing_beside_it(stage: Stage, tenant: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(granting(stage.domain, {"matchLabels": {"tenant": "a"}}, GRANTS))
    await label(tenant, tenant="a")
    for each in (*NOT_GRANTED, *GRANTED):
        await tenant.apply(claimed_in(stage, each))

    await tenant.until_all_programmed(RECORD_SETS, [each.name for each in GRANTED])
    for each in NOT_GRANTED:
        await tenant.until_condition(RECORD_SETS, each.name, "Accepted", "False", "NotAllowedByZone")

    stage.assert_answered(GRANTED)
    for each in NOT_GRANTED:
        if each.owner != "@":
            reply = stage.ask(each.owner, each.type)
            assert not reply.answer, each


async def test_a_namespace_that_is_labelled_as_it_is_created_gets_no_more_than_its_labels_say(
    stage: Stage, tenant: Stage
) -> None:
    """Records may be seen before their namespace is, and a grant may ask for labels that are not there."""
    await stage.apply(zone_class())
    selector = {"matchExpressions": [{"key": "untrusted", "operator": "DoesNotExist"}]}
    await stage.apply(granting(stage.domain, selector, [(".*", "A")]))
    await stage.until_programmed(ZONES, ZONE)
    names = [f"{tenant.namespace}-{number}" for number in range(8)]

    async def arrive(name: str) -> Stage:
        here = replace(tenant, namespace=name)
        metadata = {"name": name, "labels": {"untrusted": "yes"}}
        await stage.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        await here.apply(claimed_in(stage, claim(name, "A", "192.0.2.66")))
        return here

    for here in await asyncio.gather(*(arrive(name) for name in names)):
        name = claim(here.namespace, "A", "192.0.2.66").name
        await here.until_condition(RECORD_SETS, name, "Accepted", "False", "NotAllowedByZone")
        assert stage.rcode(here.namespace, "A") == "NXDOMAIN"
    unit = await stage.find(ZONE_UNITS, ZONE)
    assert unit is not None
    assert unit["spec"].get("recordSets", []) == []


async def test_a_record_cannot_be_made_older_than_its_owner(stage: Stage, tenant: Stage) -> None:
    await stage.set_up(WWW)
    await stage.apply(granting(stage.domain, {"matchLabels": {"tenant": "a"}}, [("www", "A")]))
    await label(tenant, tenant="a")
    forged = claimed_in(stage, claim("www", "A", "192.0.2.66"))
    forged["metadata"] |= {"namespace": tenant.namespace, "creationTimestamp": "2000-01-01T00:00:00Z"}

    created = await tenant.client.create(RECORD_SETS, forged)

    assert created["metadata"]["creationTimestamp"] > "2020"
    await tenant.until_condition(RECORD_SETS, WWW.name, "Accepted", "False", "RecordSetConflict")
    stage.assert_answered([WWW])


@pytest.mark.parametrize("name", ["zone", "zone.part-1", "other"])
async def test_a_ledger_in_the_tenants_namespace_is_no_ledger_of_the_zone(
    stage: Stage, tenant: Stage, name: str
) -> None:
    await stage.set_up(WWW)
    unit = await stage.find(ZONE_UNITS, ZONE)
    assert unit is not None
    part = int(name[-1]) if name[-1].isdigit() else 0
    forged = {
        "apiVersion": unit["apiVersion"],
        "kind": unit["kind"],
        "metadata": {"namespace": tenant.namespace, "name": name},
        "spec": {**unit["spec"], "part": part},
    }

    with pytest.raises(Invalid) as refusal:
        await tenant.client.create(ZONE_UNITS, forged)

    assert "metadata.namespace" in {cause.field for cause in refusal.value.causes}
    stage.assert_answered([WWW])


async def test_a_second_zone_for_the_same_domain_takes_nothing_over(stage: Stage, tenant: Stage) -> None:
    opened = zone_class()
    opened["spec"]["allowedZones"] = {"namespaces": {"from": "All"}}
    await stage.apply(opened)
    await stage.apply(zone(stage.domain))
    await stage.publish(WWW)
    theirs = zone(stage.domain)
    theirs["spec"]["zoneClassRef"]["namespace"] = stage.namespace

    await tenant.apply(theirs)
    await tenant.apply(claim("www", "A", "192.0.2.66").manifest())

    def decided(obj: object) -> bool:
        found = condition(obj, "Programmed") if isinstance(obj, dict) else None
        return found is not None and found["status"] == "False"

    await tenant.until_there(ZONES, ZONE, decided)
    stage.assert_answered([WWW])


async def test_a_reference_without_a_namespace_stays_in_the_tenants_own(stage: Stage, tenant: Stage) -> None:
    await stage.set_up(WWW)
    await stage.apply(granting(stage.domain, {"matchLabels": {"tenant": "a"}}, [(".*", "A")]))
    await label(tenant, tenant="a")
    evil: Claim = claim("evil", "A", "192.0.2.66")

    await tenant.apply(evil.manifest())

    await tenant.until_condition(RECORD_SETS, evil.name, "Accepted", "Unknown", "ZoneNotResolved")
    assert stage.rcode("evil", "A") == "NXDOMAIN"
