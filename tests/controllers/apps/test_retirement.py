"""Addresses that names give up leave a RecordWithdrawal behind, and no others do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controllers.api.endpoint import (
    ENDPOINT_RECORD_SETS,
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    RETIREMENT_ANNOTATION,
)
from controllers.api.group import PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.apps.registry import AppsConfig
from controllers.providers.external.endpoint import ENDPOINT as EXTERNAL
from kube.client import Manifest
from kube.errors import Unauthorized
from kube.resource import ResourceRef
from tests.controllers.apps.conftest import NAMESPACE, World, grant
from tests.controllers.apps.shelf import PROVIDER, READY, Shelf
from tests.controllers.ledger.notebook import BINDING, Notebook

APP = ("app", "A", "192.0.2.1")
MARKER = ("marker", "A", "192.0.2.1")


async def test_addresses_given_up_leave_a_claim_behind_where_the_provider_can_prove_it(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"], "192.0.2.1", "192.0.2.2")
    await world.until_records(("app", "A", "192.0.2.1,192.0.2.2"))
    spec = {"targets": [{"type": "IPAddress", "value": "192.0.2.2"}]}
    await world.client.patch_merge(ENDPOINT_RECORD_SETS, {"spec": spec}, namespace=NAMESPACE, name="one")
    await world.until_records(("app", "A", "192.0.2.2"))
    assert await claims(world) == {("app", "192.0.2.1")}
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    assert await claims(world) == {("app", "192.0.2.1"), ("app", "192.0.2.2")}


async def test_no_claim_is_left_where_somebody_declined_it(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await world.annotate(ZONES, "zone", {RETIREMENT_ANNOTATION: "disabled"})
    await world.endpoint("marker", ["marker.example.test"])
    await world.until_reason("marker", "marker.example.test", "True/Resolved")
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records(("marker", "A", "192.0.2.1"))
    assert await claims(world) == set()


async def claims(world: World) -> set[tuple[str, str]]:
    found = (await world.client.list(RECORD_WITHDRAWALS)).items
    return {(each["spec"]["name"], each["spec"]["address"]) for each in found}


async def test_a_label_is_no_licence_to_leave_claims_in_a_zone_that_grants_nothing(world: World) -> None:
    await world.namespace("tenant")
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    labels = {MANAGED_BY_LABEL: "dns-api-endpoint", OWNER_NAMESPACE_LABEL: "tenant", OWNER_NAME_LABEL: "nobody"}
    spec = {
        "zoneRef": {"namespace": NAMESPACE, "name": "zone"},
        "provider": EXTERNAL.provider.dump(),
        "type": "A",
        "name": "spoofed",
        "ttl": 60,
        "a": {"addresses": ["192.0.2.66"]},
    }
    await world.create(RECORD_SETS, "spoofed", spec, "tenant", labels=labels)
    await world.until_records(APP)
    assert await claims(world) == set()


async def retarget(world: World, *addresses: str, name: str = "one", **annotations: str | None) -> None:
    spec = {"targets": [{"type": "IPAddress", "value": each} for each in addresses]}
    patch = {"metadata": {"annotations": annotations}, "spec": spec}
    await world.client.patch_merge(ENDPOINT_RECORD_SETS, patch, namespace=NAMESPACE, name=name)


async def test_a_name_that_moves_to_another_zone_gives_up_only_what_it_does_not_have_there(tmp_path: Path) -> None:
    async with Shelf(tmp_path, AppsConfig(), Notebook()) as shelf:
        await prove(shelf)
        await shelf.page("short", "example.test", READY)
        await shelf.endpoint("one", ["a.eu.example.test"])
        await shelf.until_programmed("a.eu")
        await shelf.page("long", "eu.example.test", READY)
        await shelf.until_records(("a", "A", "192.0.2.1"))
        assert await claims(shelf) == set()
        await retarget(shelf, "192.0.2.2")
        await shelf.until_records(("a", "A", "192.0.2.2"))
        assert await claims(shelf) == {("a", "192.0.2.1")}


async def prove(shelf: Shelf) -> None:
    """Have the notebook's provider say that it can prove withdrawals."""
    version = (await shelf.client.get(PROVIDERS, name=BINDING.provider_name))["spec"]["versions"][0]
    proof = {"schemas": {"statusProviderData": version["recordSet"]["schemas"]["statusProviderData"]}}
    spec = {"versions": [{**version, "recordWithdrawal": proof}]}
    await shelf.client.patch_merge(PROVIDERS, {"spec": spec}, name=BINDING.provider_name)


async def test_an_address_that_another_endpoint_has_at_the_same_name_is_not_given_up(tmp_path: Path) -> None:
    async with Shelf(tmp_path, AppsConfig(), Notebook()) as shelf:
        await prove(shelf)
        await shelf.page("zone", "example.test", READY)
        await shelf.endpoint("one", ["app.example.test"], "192.0.2.1", "192.0.2.3")
        await shelf.until_programmed("app")
        await shelf.endpoint("two", ["app.example.test"], "192.0.2.1", "192.0.2.2")
        both = {("app", "A", "192.0.2.1,192.0.2.3"), ("app", "A", "192.0.2.1,192.0.2.2")}
        await shelf.until_records(*both)
        await shelf.until_conflict()
        await shelf.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
        await shelf.until_records(("app", "A", "192.0.2.1,192.0.2.2"))
        assert await claims(shelf) == {("app", "192.0.2.3")}


async def test_addresses_that_never_were_in_dns_are_not_given_up(tmp_path: Path) -> None:
    async with Shelf(tmp_path, AppsConfig(), Notebook()) as shelf:
        await prove(shelf)
        await shelf.page("zone", "example.test", READY)
        await shelf.endpoint("one", ["app.example.test"], "192.0.2.1")
        await shelf.until_programmed("app")
        await shelf.endpoint("two", ["app.example.test"], "192.0.2.2")
        await shelf.until_records(APP, ("app", "A", "192.0.2.2"))
        await shelf.until_conflict()
        await shelf.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="two")
        await shelf.until_records(APP)
        assert await claims(shelf) == set()


async def test_who_declines_claims_and_gives_an_address_up_in_one_step_has_declined_them(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await retarget(world, "192.0.2.2", **{RETIREMENT_ANNOTATION: "disabled"})
    await world.until_records(("app", "A", "192.0.2.2"))
    assert await claims(world) == set()


async def test_who_no_longer_declines_claims_gets_them_again(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.annotate(ENDPOINT_RECORD_SETS, "one", {RETIREMENT_ANNOTATION: "disabled"})
    await until_annotated(world, "disabled")
    await world.annotate(ENDPOINT_RECORD_SETS, "one", {RETIREMENT_ANNOTATION: None})
    await until_annotated(world, None)
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    assert await claims(world) == {("app", "192.0.2.1")}


async def until_annotated(world: World, value: str | None) -> None:
    async def annotated() -> bool:
        found = (await world.client.list(RECORD_SETS)).items
        return [each["metadata"].get("annotations", {}).get(RETIREMENT_ANNOTATION) for each in found] == [value]

    await world.until(annotated)


async def test_in_one_namespace_for_all_claims_need_the_endpoints_own_grant(tmp_path: Path) -> None:
    async with World(tmp_path, AppsConfig(record_set_namespace="dns")) as world:
        await world.namespace("dns")
        await world.namespace("team")
        grants = [grant("team", "app"), grant("team", "second")]
        external = EXTERNAL.provider.dump()
        await world.zone("zone", "example.test", namespace="dns", provider=external, allowedRecordSets=grants)
        await world.endpoint("one", ["app.example.test"], namespace="team")
        await world.endpoint("two", ["second.example.test"], namespace="team")
        await world.until_records(APP, ("second", "A", "192.0.2.1"))
        await world.client.patch_merge(ZONES, {"spec": {"allowedRecordSets": grants[:1]}}, namespace="dns", name="zone")
        await world.until_reason("two", "second.example.test", "False/NotAllowedByZone", "team")
        for name in ("one", "two"):
            await world.client.delete(ENDPOINT_RECORD_SETS, namespace="team", name=name)
        await world.until_records()
        assert await claims(world) == {("app", "192.0.2.1")}


async def test_a_name_that_gives_an_address_up_once_more_leaves_a_claim_behind_once_more(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    for _ in range(2):
        await world.endpoint("one", ["app.example.test"])
        await world.until_records(APP)
        await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
        await world.until_records()
        assert await claims(world) == {("app", "192.0.2.1")}
        for claim in (await world.client.list(RECORD_WITHDRAWALS)).items:
            await world.client.delete(RECORD_WITHDRAWALS, namespace=NAMESPACE, name=claim["metadata"]["name"])
        await until_archived(world)


async def until_archived(world: World) -> None:
    async def archived() -> bool:
        return await claims(world) == set()

    await world.until(archived)


async def test_a_record_set_in_another_tenants_zone_of_the_same_domain_keeps_no_claim_from_being_made(
    tmp_path: Path,
) -> None:
    async with Shelf(tmp_path, AppsConfig(), Notebook()) as shelf:
        await prove(shelf)
        await shelf.page("zone", "example.test", READY)
        await shelf.endpoint("one", ["app.example.test"])
        await shelf.until_programmed("app")
        ready = {"namespace": NAMESPACE, "name": "ready"}
        spec = {"allowedZones": {"namespaces": {"from": "All"}}}
        await shelf.client.patch_merge(ZONE_CLASSES, {"spec": spec}, namespace=NAMESPACE, name="ready")
        await shelf.zone("twin", "example.test", "elsewhere", provider=PROVIDER, zone_class=ready)
        twin = {
            "zoneRef": {"namespace": "elsewhere", "name": "twin"},
            "provider": PROVIDER,
            "type": "A",
            "name": "app",
            "ttl": 60,
            "a": {"addresses": ["192.0.2.1"]},
        }
        await shelf.create(RECORD_SETS, "twin", twin, "elsewhere")

        async def accepted() -> bool:
            found = await shelf.get(RECORD_SETS, "twin", "elsewhere")
            return "Accepted" in {each["reason"] for each in found.get("status", {}).get("conditions", ())}

        await shelf.until(accepted)
        await shelf.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
        await shelf.until(lambda: is_alone(shelf))
        assert await claims(shelf) == {("app", "192.0.2.1")}


async def is_alone(shelf: Shelf) -> bool:
    return [each["metadata"]["name"] for each in await shelf.made()] == ["twin"]


async def test_a_claim_that_could_not_be_made_is_made_before_the_record_goes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = world.converting.create
    refused: list[Manifest] = []

    async def create_later(ref: ResourceRef, obj: Manifest, **options: Any) -> dict[str, Any]:
        if ref == RECORD_WITHDRAWALS and not refused:
            refused.append(obj)
            raise Unauthorized("the token has expired", code=401)
        return await create(ref, obj, **options)

    monkeypatch.setattr(world.converting, "create", create_later)
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    assert len(refused) == 1
    assert await claims(world) == {("app", "192.0.2.1")}
