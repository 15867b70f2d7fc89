"""The change guard in the running product: a large step is held until it is confirmed, and the answers stay as they are."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.group import CONFIRM_CHANGE, CORE_FINALIZER, NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.config import connect
from kube.errors import Invalid
from tests.product.claim import ZONE, ZONE_CLASS, Claim, claim, zone, zone_class
from tests.product.conftest import fresh_stage
from tests.product.product import ROOT, Product
from tests.product.stage import Object, Stage, condition, is_programmed

HOSTS = [claim(f"host-{number}", "A", f"192.0.2.{number}") for number in range(1, 21)]
MOVED = [claim(each.owner, "A", f"198.51.100.{number}") for number, each in enumerate(HOSTS, 1)]
GUARD = {"maxPercent": 30, "minRecords": 10}


def guarded(**guard: Any) -> Object:
    """The test's class with a change guard, or without one."""
    manifest = zone_class()
    return {**manifest, "spec": {**manifest["spec"], **({"changeGuard": guard} if guard else {})}}


async def set_up(stage: Stage, *claims: Claim) -> None:
    await stage.set_up(*claims)
    await stage.apply(guarded(**GUARD))
    await stage.until_condition(ZONE_CLASSES, ZONE_CLASS, "Accepted", "True", "Accepted")


async def apply_all(stage: Stage, claims: Iterable[Claim]) -> None:
    await asyncio.gather(*(stage.apply(each.manifest()) for each in claims))


async def delete_all(stage: Stage, claims: Iterable[Claim]) -> None:
    await asyncio.gather(*(stage.delete(RECORD_SETS, each.name) for each in claims))


async def until_held(stage: Stage, counts: str) -> str:
    """Wait until the Zone says that a step with these counts is held; returns the hash that confirms it."""

    def holds(obj: Object) -> bool:
        found = condition(obj, "Programmed")
        return found is not None and counts in found["message"]

    found = condition(await stage.until_there(ZONES, ZONE, holds), "Programmed")
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", "ProviderChangePending")
    match = re.search(rf"{re.escape(CONFIRM_CHANGE)}: ([0-9a-f]+)$", found["message"])
    assert match is not None, found["message"]
    return match[1]


async def annotate(stage: Stage, value: str) -> None:
    patch = {"metadata": {"annotations": {CONFIRM_CHANGE: value}}}
    await stage.client.patch_merge(ZONES, patch, name=ZONE, namespace=stage.namespace)


async def until_told_held(stage: Stage, each: Claim) -> Object:
    """Wait until a claim says of its newest generation that it is held."""

    def holds(obj: Object) -> bool:
        found = condition(obj, "Accepted")
        return found is not None and "change guard" in found["message"]

    return await stage.until_there(RECORD_SETS, each.name, holds)


async def until_zone_free(stage: Stage) -> None:
    await stage.until_there(ZONES, ZONE, is_programmed)


def raw(obj: Object, kind: str) -> Object:
    return next(each for each in obj["status"]["conditions"] if each["type"] == kind)


async def test_a_mass_deletion_is_held_until_it_is_confirmed(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await delete_all(stage, HOSTS[:15])
    confirmation = await until_held(stage, "15 of 20 programmed record sets would be deleted and 0 changed")
    held = await until_told_held(stage, HOSTS[0])
    assert CORE_FINALIZER in held["metadata"]["finalizers"]
    programmed = raw(held, "Programmed")
    assert (programmed["status"], programmed["observedGeneration"]) == ("True", 1)
    stage.assert_answered(HOSTS)

    new = claim("new", "A", "192.0.2.200")
    await stage.publish(new)
    stage.assert_answered([*HOSTS, new])
    assert await until_held(stage, "15 of 21") == confirmation, "creations are no part of the step"

    await annotate(stage, confirmation)
    for each in HOSTS[:15]:
        await stage.until_gone(RECORD_SETS, each.name)
    await until_zone_free(stage)
    assert {stage.rcode(each.owner, "A") for each in HOSTS[:15]} == {"NXDOMAIN"}
    stage.assert_answered([*HOSTS[15:], new])


async def test_a_mass_edit_is_held_and_another_set_needs_another_hash(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await apply_all(stage, MOVED[:10])
    first = await until_held(stage, "0 of 20 programmed record sets would be deleted and 10 changed")
    await until_told_held(stage, HOSTS[0])
    await stage.delete(RECORD_SETS, HOSTS[10].name)
    second = await until_held(stage, "1 of 20 programmed record sets would be deleted and 10 changed")
    assert first != second

    await annotate(stage, first)
    new = claim("new", "A", "192.0.2.200")
    await stage.publish(new)  # whatever is published now was composed with the annotation in sight
    stage.assert_answered([*HOSTS, new])
    assert await until_held(stage, "1 of 21") == second

    await annotate(stage, second)
    await stage.until_gone(RECORD_SETS, HOSTS[10].name)
    for each in MOVED[:10]:
        await stage.until_programmed(RECORD_SETS, each.name)
    await until_zone_free(stage)
    stage.assert_answered([*MOVED[:10], *HOSTS[11:], new])


async def test_a_confirmation_is_used_up(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await apply_all(stage, MOVED)
    await annotate(stage, await until_held(stage, "20 changed"))
    for each in MOVED:
        await stage.until_programmed(RECORD_SETS, each.name)
    await apply_all(stage, HOSTS)
    await until_held(stage, "20 changed")
    stage.assert_answered(MOVED)


async def test_small_steps_and_small_zones_go_through(stage: Stage) -> None:
    await set_up(stage, *HOSTS[:12])
    await stage.publish(MOVED[0])
    await stage.delete(RECORD_SETS, HOSTS[1].name)
    await stage.until_gone(RECORD_SETS, HOSTS[1].name)
    await stage.delete(RECORD_SETS, HOSTS[2].name)
    await stage.delete(RECORD_SETS, HOSTS[3].name)
    for each in HOSTS[2:4]:
        await stage.until_gone(RECORD_SETS, each.name)
    for each in HOSTS[4:12]:  # nine are left, fewer than the guard looks at
        await stage.delete(RECORD_SETS, each.name)
    for each in HOSTS[4:12]:
        await stage.until_gone(RECORD_SETS, each.name)
    stage.assert_answered(MOVED[:1])


async def test_what_is_taken_back_is_held_no_longer(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await apply_all(stage, MOVED)
    await until_held(stage, "20 changed")
    await apply_all(stage, HOSTS)
    for each in HOSTS:
        await stage.until_programmed(RECORD_SETS, each.name)
    await until_zone_free(stage)
    stage.assert_answered(HOSTS)


@pytest.mark.parametrize("how", ["guard switched off", "class gone"])
async def test_what_was_held_goes_on_without_a_guard(stage: Stage, how: str) -> None:
    await set_up(stage, *HOSTS)
    await delete_all(stage, HOSTS[:12])
    await stage.apply(MOVED[12].manifest())
    await until_held(stage, "12 of 20 programmed record sets would be deleted and 1 changed")
    if how == "class gone":
        await stage.delete(ZONE_CLASSES, ZONE_CLASS)
    else:
        await stage.apply(guarded())
    for each in HOSTS[:12]:
        await stage.until_gone(RECORD_SETS, each.name)
    if how == "class gone":
        stage.assert_answered(HOSTS[12:])
        await stage.apply(guarded(**GUARD))
    await stage.until_programmed(RECORD_SETS, MOVED[12].name)
    await until_zone_free(stage)
    stage.assert_answered([MOVED[12], *HOSTS[13:]])


async def test_a_zone_that_is_deleted_takes_its_held_records_with_it(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await delete_all(stage, HOSTS)
    await until_held(stage, "20 of 20")
    await stage.delete(ZONES, ZONE)
    await stage.until_gone(ZONES, ZONE)
    assert await stage.remains() == {"ZoneClass": [ZONE_CLASS]}
    assert stage.rcode("@", "SOA") == "REFUSED"


async def test_a_namespace_that_is_deleted_is_not_held(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert stage.rcode("host-1", "A") == "REFUSED"


async def test_a_tenant_that_leaves_with_its_namespace_is_not_held(stage: Stage) -> None:
    tenant = replace(stage, namespace=f"{stage.namespace}-tenant")
    labels = {"tenant": tenant.namespace}
    metadata = {"name": tenant.namespace, "labels": labels}
    await stage.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    grant = {
        "namespaces": {"selector": {"matchLabels": labels}},
        "records": [{"name": {"pattern": ".*"}, "types": ["A"]}],
    }
    manifest = zone(stage.domain)
    await set_up(stage, *HOSTS[:8])
    await stage.apply({**manifest, "spec": {**manifest["spec"], "allowedRecordSets": [grant]}})
    for each in HOSTS[8:]:
        theirs = each.manifest()
        theirs["spec"]["zoneRef"]["namespace"] = stage.namespace
        await tenant.apply(theirs)
    await tenant.until_all_programmed(RECORD_SETS, {each.name for each in HOSTS[8:]})

    await stage.client.delete(NAMESPACES, name=tenant.namespace)
    await stage.until_gone(NAMESPACES, tenant.namespace)
    await until_zone_free(stage)
    assert {stage.rcode(each.owner, "A") for each in HOSTS[8:]} == {"NXDOMAIN"}
    stage.assert_answered(HOSTS[:8])


async def test_deletions_that_come_one_after_the_other_are_one_step(stage: Stage) -> None:
    await set_up(stage, *HOSTS)
    for each in HOSTS:
        await stage.delete(RECORD_SETS, each.name)
        await asyncio.sleep(0.02)  # the pace of a client that is held back, which is what this is about
    await until_held(stage, "20 of 20")
    stage.assert_answered(HOSTS)


async def test_a_held_step_stays_held_over_a_crash(fragile: Product) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await set_up(stage, *HOSTS)
        await delete_all(stage, HOSTS[:10])
        confirmation = await until_held(stage, "10 of 20")
    fragile.kill()
    fragile.start()
    async with connect(fragile.kubeconfig) as client:
        live = replace(stage, client=client)
        new = claim("new", "A", "192.0.2.200")
        await live.publish(new)
        assert await until_held(live, "10 of 21") == confirmation
        live.assert_answered([*HOSTS, new])
        await annotate(live, confirmation)
        for each in HOSTS[:10]:
            await live.until_gone(RECORD_SETS, each.name)
        live.assert_answered([*HOSTS[10:], new])


async def test_a_plan_tells_of_the_hold_and_the_hash_that_confirms_it(stage: Stage, product: Product) -> None:
    await set_up(stage, *HOSTS)
    manifests = [each.manifest() for each in MOVED]
    words = ["plan", "-f", "-", "--force", "-n", stage.namespace, "--kubeconfig", str(product.kubeconfig)]

    async def plan(*more: str) -> str:
        command = [sys.executable, "-m", "cli.main", *words, *more]
        text = "\n---\n".join(json.dumps(each) for each in manifests)
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=ROOT, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done
        return str(done.stdout)

    (told,) = json.loads(await plan("-o", "json"))["zones"]
    assert {each["effect"] for each in told["recordSets"]} == {"none"}
    message, confirmation = told["held"]["message"], told["held"]["confirmation"]
    assert f"    held: {message}" in (await plan()).splitlines()

    await apply_all(stage, MOVED)
    assert await until_held(stage, "0 of 20 programmed record sets would be deleted and 20 changed") == confirmation


@pytest.mark.parametrize(
    ("guard", "field"),
    [
        ({"maxPercent": 0}, "spec.changeGuard.maxPercent"),
        ({"maxPercent": 101}, "spec.changeGuard.maxPercent"),
        ({"minRecords": -1}, "spec.changeGuard.minRecords"),
    ],
)
async def test_a_guard_out_of_bounds_is_refused_by_its_field(stage: Stage, guard: dict[str, int], field: str) -> None:
    with pytest.raises(Invalid, match=re.escape(field)):
        await stage.apply(guarded(**guard))


async def test_a_guard_has_defaults(stage: Stage) -> None:
    manifest = zone_class()
    found = await stage.apply({**manifest, "spec": {**manifest["spec"], "changeGuard": {}}})
    assert found["spec"]["changeGuard"] == GUARD
