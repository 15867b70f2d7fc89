"""What a Zone grants to whom is told to nobody who is refused: not by conditions, not by events, not by refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import KubeError
from kube.resource import ResourceRef
from tests.product.claim import ZONE, claim, zone, zone_class
from tests.product.stage import Object, Stage
from tests.product.tenancy.conftest import claimed_in, granting, label

SECRET = "hush"
OUTSIDE = "RecordSet namespace is not allowed by the referenced Zone."
EVENTS = ResourceRef("", "v1", "events", "Event")
PATTERNS = [(f"{SECRET}-[a-z]+", "A"), (f"(?P<{SECRET}>api)", "TXT"), (f"www|{SECRET}", "MX")]
SELECTOR = {
    "matchLabels": {f"{SECRET}-label": f"{SECRET}-value"},
    "matchExpressions": [{"key": f"{SECRET}.example/key", "operator": "In", "values": [f"{SECRET}-1", f"{SECRET}-2"]}],
}
OWNERS = ("@", "*", "www", "api", "mail", "other")
CLAIMS = [claim(owner, "A", "192.0.2.66") for owner in OWNERS] + [claim("www", "TXT", "t"), claim("api", "TXT", "t")]
FITTING = {f"{SECRET}-label": f"{SECRET}-value", f"{SECRET}.example/key": f"{SECRET}-1"}


async def test_a_tenant_learns_nothing_of_selectors_and_patterns(stage: Stage, tenant: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(granting(stage.domain, SELECTOR, PATTERNS))
    await stage.until_programmed(ZONES, ZONE)
    heard = []

    for labels, is_judged in (
        ({}, is_outside),
        ({f"{SECRET}-label": f"{SECRET}-value"}, is_outside),
        (FITTING, is_inside),
    ):
        await label(tenant, **{**dict.fromkeys(FITTING), **labels})
        heard += [await said(tenant, claimed_in(stage, each)) for each in CLAIMS]
        heard += await statuses(tenant, RECORD_SETS, {each.name for each in CLAIMS}, is_judged)

    heard += [json.dumps(each) for each in (await tenant.client.list(EVENTS, namespace=tenant.namespace)).items]
    messages = set(re.findall(r"RecordSet [a-z]+ is not allowed[^\"]*", " ".join(heard)))
    assert messages == {
        OUTSIDE,
        "RecordSet name is not allowed by the referenced Zone.",
        "RecordSet type is not allowed for this RecordSet name by the referenced Zone.",
    }
    assert not [each for each in heard if SECRET in each]


async def test_a_tenant_learns_nothing_of_the_selector_of_a_class(stage: Stage, tenant: Stage) -> None:
    closed = zone_class()
    closed["spec"]["allowedZones"] = {"namespaces": {"from": "Selector", "selector": SELECTOR}}
    await stage.apply(closed)
    await stage.until_there(ZONE_CLASSES, "class", lambda obj: bool(obj.get("status", {}).get("conditions")))
    theirs = zone(tenant.domain)
    theirs["spec"]["zoneClassRef"]["namespace"] = stage.namespace

    heard = [await said(tenant, theirs), await said(tenant, claim("www", "A", "192.0.2.1").manifest())]
    await tenant.until_condition(ZONES, ZONE, "Accepted", "False", "NotAllowedByZoneClass")
    heard += await statuses(tenant, ZONES, {ZONE}, is_refused)
    heard += await statuses(tenant, RECORD_SETS, {"www-a"}, is_refused)
    heard += [json.dumps(each) for each in (await tenant.client.list(EVENTS, namespace=tenant.namespace)).items]

    assert not [each for each in heard if SECRET in each]


async def test_refusals_of_admission_tell_nothing_of_a_zone_that_is_not_the_tenants(
    stage: Stage, tenant: Stage
) -> None:
    await stage.apply(zone_class())
    await stage.apply(granting(stage.domain, SELECTOR, PATTERNS))
    await stage.until_programmed(ZONES, ZONE)
    wrong = claimed_in(stage, claim(".".join(["a" * 60] * 4), "A", "192.0.2.1"))
    wrong["metadata"]["name"] = "wrong"
    wrong["spec"] |= {"ttl": 0, "options": {"x": 1}}

    told = await said(tenant, wrong)

    assert "spec.ttl" in told
    assert SECRET not in told


async def said(stage: Stage, manifest: Object) -> str:
    """What the API answers, refused or not."""
    try:
        return json.dumps(await stage.apply(manifest))
    except KubeError as error:
        return f"{error.message} {error.causes}"


async def statuses(
    stage: Stage, ref: ResourceRef, names: Iterable[str], is_judged: Callable[[Object], bool]
) -> list[str]:
    """The objects as they are once all of them have been judged."""
    return [json.dumps(await stage.until_there(ref, name, is_judged)) for name in names]


def is_refused(obj: Object) -> bool:
    generation = obj["metadata"]["generation"]
    conditions = obj.get("status", {}).get("conditions", ())
    return any(each["status"] != "True" and each["observedGeneration"] == generation for each in conditions)


def is_outside(obj: Object) -> bool:
    return is_refused(obj) and OUTSIDE in json.dumps(obj)


def is_inside(obj: Object) -> bool:
    """Refused for something else, or granted."""
    return "conditions" in obj.get("status", {}) and OUTSIDE not in json.dumps(obj)
