"""The composer on an API with a conversion webhook behind real TLS: what its claims are told and what its ledger holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from controllers.api.crd import custom_resource_definitions
from controllers.api.group import NAMESPACES, PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.provider import parse_provider
from controllers.api.record_set import parse_record_set
from controllers.api.zone import parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import ZoneUnitParser
from controllers.core.controller import Composer
from controllers.core.inputs import CoreInformers
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.errors import NotFound, ResourceNotServed
from kube.informer import Informer
from kube.object import ObjectMeta
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from tests.controllers.core.admission.authority import Authority
from tests.controllers.core.build import PROVIDER, TYPES, condition, schema
from tests.controllers.core.conversion.webhook import ConversionServer, LocalResolver, failure, never, uid_of

DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
LIMIT_S = 60.0
Object = dict[str, Any]
Told = tuple[str, str]


class World:
    """A running composer, its API and its webhook; classes are accepted by the test."""

    def __init__(self, client: Client, webhook: ConversionServer) -> None:
        self.client = client
        self.webhook = webhook
        webhook.convert_payload = lambda request: {"options": {"raw": request["payload"]["options"]["mode"] == "raw"}}

    async def set_up(self) -> None:
        """A Provider whose v1alpha1 is converted to v2 by the webhook, a class, and a Zone."""
        await self.create(PROVIDERS, "", PROVIDER["name"], provider_spec(self.webhook.declaration()))
        await self.zone("example")

    async def zone(self, name: str) -> None:
        found = await self.find(ZONE_CLASSES, "hosted")
        if found is None:
            spec = {"provider": PROVIDER, "controllerName": "hosted.dns.appthrust.io/controller"}
            await self.create(ZONE_CLASSES, "default", "hosted", spec)
            status = {"status": {"conditions": [condition("Accepted", "True", "Accepted")]}}
            await self.client.patch_merge(
                ZONE_CLASSES, status, name="hosted", namespace="default", subresource="status"
            )
        spec = {"domainName": f"{name}.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER}
        await self.create(ZONES, "default", name, spec)

    async def claim(self, name: str, mode: str | None = "raw", zone: str = "example") -> None:
        options = {"options": {"mode": mode}} if mode is not None else {}
        body = {"type": "A", "a": {"addresses": ["192.0.2.1"]}, "name": name, "ttl": 60, "provider": PROVIDER}
        await self.create(RECORD_SETS, "default", name, {"zoneRef": {"name": zone}, **body, **options})

    async def text(self, name: str, count: int) -> None:
        body = {"type": "TXT", "txt": {"values": texts(count)}, "name": name, "ttl": 60, "provider": PROVIDER}
        await self.create(RECORD_SETS, "default", name, {"zoneRef": {"name": "example"}, **body})

    async def edit(self, name: str, **spec: Any) -> None:
        await self.client.patch_merge(RECORD_SETS, {"spec": spec}, name=name, namespace="default")

    async def create(self, ref: ResourceRef, namespace: str, name: str, spec: Object) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        await self.client.create(
            ref, {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
        )

    async def find(self, ref: ResourceRef, name: str) -> Object | None:
        try:
            return await self.client.get(ref, name=name, namespace="default")
        except NotFound:
            return None

    async def item(self, name: str, zone: str = "example") -> Object | None:
        unit = await self.find(ZONE_UNITS, zone)
        found = unit["spec"].get("recordSets", ()) if unit else ()
        return next((each for each in found if each["recordSetName"] == name), None)

    async def until_item(self, name: str, holds: Callable[[Object], bool], zone: str = "example") -> Object:
        async with asyncio.timeout(LIMIT_S):
            while (found := await self.item(name, zone)) is None or not holds(found):  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(0.02)
        return found

    async def until_told(self, name: str, told: Told, ref: ResourceRef = RECORD_SETS) -> str:
        """Wait until an object has an Accepted condition for its newest generation; returns the message."""
        last: Object | None = None
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    last = await self.find(ref, name)
                    for each in last.get("status", {}).get("conditions", ()) if last else ():
                        fresh = each["observedGeneration"] == last["metadata"]["generation"] if last else False
                        if each["type"] == "Accepted" and fresh and (each["status"], each["reason"]) == told:
                            return str(each["message"])
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{name} is {last and last.get('status')}") from None


def provider_spec(webhook: Object, **storage: Any) -> Object:
    mode = schema(mode={"type": "string", "enum": ["raw", "plain"]})
    served = {"supportedTypes": TYPES, "schemas": {"options": mode}, "conversion": {"toStorage": {"webhook": webhook}}}
    stored = {"supportedTypes": TYPES, "schemas": {"options": schema(raw={"type": "boolean"})}}
    versions = [
        {"name": "v1alpha1", "served": True, "storage": False, "recordSet": served},
        {"name": "v2", "served": True, "storage": True, "recordSet": stored, **storage},
    ]
    return {"display": {"name": "Hosted"}, "versions": versions}


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
async def world(tmp_path: Path, authority: Authority) -> AsyncIterator[World]:
    (tmp_path / "tls").mkdir()
    async with (
        ApiServer(tmp_path / "api") as api,
        Client(Access(api.url)) as client,
        ConversionServer(authority, tmp_path / "tls") as webhook,
    ):
        for definition in custom_resource_definitions():
            await client.create(DEFINITIONS, definition)
        await until_served(client)
        core = CoreInformers(
            providers=Informer(client, PROVIDERS, parse_provider),
            zone_classes=Informer(client, ZONE_CLASSES, parse_zone_class),
            zones=Informer(client, ZONES, parse_zone),
            record_sets=Informer(client, RECORD_SETS, parse_record_set),
            zone_units=Informer(client, ZONE_UNITS, ZoneUnitParser()),
            namespaces=Informer(client, NAMESPACES, ObjectMeta.parse),
        )
        core.register_indexes()
        recorder = EventRecorder(client, "test")
        composer = Composer(client, core, recorder, converter=ConversionClient(LocalResolver()))
        informers: tuple[Informer[Any], ...] = (
            core.providers,
            core.zone_classes,
            core.zones,
            core.record_sets,
            core.zone_units,
            core.namespaces,
        )
        running = [*(each.run() for each in informers), composer.controller.run(), composer.conversions.run()]
        async with asyncio.TaskGroup() as tasks:
            started = [tasks.create_task(each) for each in running]
            world = World(client, webhook)
            await world.set_up()
            yield world
            for task in started:
                task.cancel()
        composer.close()


async def test_payloads_stand_in_the_ledger_as_the_webhook_converted_them(world: World) -> None:
    await world.claim("www", "raw")
    await world.claim("plain", None)
    item = await world.until_item("www", lambda _: True)
    assert item["options"] == {"raw": True}
    unit = await world.find(ZONE_UNITS, "example")
    assert unit is not None
    assert unit["spec"]["provider"] == {**PROVIDER, "version": "v2"}
    (review,) = world.webhook.requests
    claim = await world.find(RECORD_SETS, "www")
    assert claim is not None
    assert review["request"]["context"]["recordSet"] == {
        "namespace": "default",
        "name": "www",
        "recordName": "www",
        "type": "A",
    }

    await world.edit("www", options={"mode": "plain"})
    await world.until_item("www", lambda item: item["options"] == {"raw": False})
    await world.client.patch_merge(
        RECORD_SETS, {"metadata": {"annotations": {"a": "b"}}}, name="www", namespace="default"
    )
    await world.edit("plain", ttl=61)
    await world.until_item("plain", lambda item: item["ttl"] == 61)
    assert len(world.webhook.requests) == 2


async def test_while_the_webhook_is_down_the_ledger_stays_and_afterwards_it_goes_on(world: World) -> None:
    await world.claim("www", "raw")
    before = await world.until_item("www", lambda _: True)

    async def down(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    up, world.webhook.handler = world.webhook.handler, down
    await world.edit("www", options={"mode": "plain"}, ttl=77)
    await world.claim("new", "raw")
    await world.claim("plain", None)
    message = await world.until_told("www", ("Unknown", "ProviderConversionUnavailable"))
    assert message == (
        "The conversion from v1alpha1 to v2 is not available: Service dns-system/convert answered with HTTP status 503."
    )
    await world.until_told("new", ("Unknown", "ProviderConversionUnavailable"))
    await world.until_item("plain", lambda _: True)
    assert await world.item("www") == before
    assert await world.item("new") is None

    world.webhook.handler = up
    await world.until_item("www", lambda item: item["options"] == {"raw": False} and item["ttl"] == 77)
    await world.until_item("new", lambda item: item["options"] == {"raw": True})


async def test_a_refusal_of_the_webhook_is_a_refusal_of_the_claim(world: World) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.json_response(failure(await uid_of(request), retryable=False, message="raw is gone"))

    world.webhook.handler = refuse
    await world.claim("www", "raw")
    message = await world.until_told("www", ("False", "ProviderConversionFailed"))
    assert message == "The conversion from v1alpha1 to v2 failed: the webhook says Unsupported: raw is gone."
    assert await world.item("www") is None


async def test_an_answer_that_the_storage_version_refuses_is_a_failure(world: World) -> None:
    world.webhook.convert_payload = lambda request: request["payload"]
    await world.claim("www", "raw")
    message = await world.until_told("www", ("False", "ProviderConversionFailed"))
    assert "v2 refuses what it gave: options.mode" in message


async def test_a_payload_that_the_named_version_refuses_never_reaches_the_webhook(world: World) -> None:
    await world.claim("www", "odd")
    message = await world.until_told("www", ("False", "InvalidProviderPayload"))
    assert 'spec.options.mode: found "odd"' in message
    assert world.webhook.requests == []


async def test_zones_do_not_wait_for_a_webhook_that_hangs(world: World) -> None:
    world.webhook.handler = never
    stuck = [f"stuck-{number}" for number in range(8)]
    for name in stuck:
        await world.zone(name)
        await world.claim(f"{name}-www", "raw", zone=name)
    while not world.webhook.requests:  # noqa: ASYNC110 - the webhook has no news to tell
        await asyncio.sleep(0.01)
    await world.zone("free")
    await world.claim("free-www", None, zone="free")
    await asyncio.wait_for(world.until_item("free-www", lambda _: True, zone="free"), 1.5)
    for name in stuck:
        await world.until_told(f"{name}-www", ("Unknown", "ProviderConversionUnavailable"))


async def test_a_provider_that_is_mended_is_asked_at_once(world: World) -> None:
    bundle, world.webhook.authority = world.webhook.authority, Authority()
    spec = provider_spec(world.webhook.declaration())
    world.webhook.authority = bundle
    await world.client.patch_merge(PROVIDERS, {"spec": spec}, name=PROVIDER["name"])
    await world.claim("www", "raw")
    message = await world.until_told("www", ("Unknown", "ProviderConversionUnavailable"))
    assert "cannot be trusted" in message
    mended = provider_spec(world.webhook.declaration())
    await world.client.patch_merge(PROVIDERS, {"spec": mended}, name=PROVIDER["name"])
    await asyncio.wait_for(world.until_item("www", lambda _: True), 5)


async def test_an_edit_that_the_ledger_has_no_room_for_is_told_so_and_changes_nothing(world: World) -> None:
    await world.text("first", 1)
    await world.text("second", 160)
    before = await world.until_item("first", lambda _: True)
    await world.until_item("second", lambda _: True)
    await world.edit("first", txt={"values": texts(300)})
    message = await world.until_told("first", ("Unknown", "ReconcileError"))
    assert message.startswith("The ledger has no room for it in part 0: ")
    assert await world.item("first") == before
    await world.edit("first", txt={"values": texts(2)})
    await world.until_item("first", lambda item: len(item["txt"]["values"]) == 2)


async def test_an_edit_that_the_ledger_has_no_room_for_holds_up_no_other(world: World) -> None:
    await world.text("first", 1)
    await world.text("second", 160)
    for name in ("edited", "leaving"):
        await world.claim(name, "raw")
        await world.until_item(name, lambda _: True)
    await world.edit("first", txt={"values": texts(300)})
    await world.until_told("first", ("Unknown", "ReconcileError"))
    await world.edit("edited", ttl=77)
    await world.until_item("edited", lambda item: item["ttl"] == 77)
    await world.client.delete(RECORD_SETS, name="leaving", namespace="default")
    await world.until_item("leaving", lambda item: item["deletionRequested"])
    await world.until_told("first", ("Unknown", "ReconcileError"))


def texts(count: int) -> list[str]:
    """So many texts of 4000 octets."""
    return [f"{number:04}" + "x" * 3996 for number in range(count)]


async def until_served(client: Client) -> None:
    async with asyncio.timeout(LIMIT_S):
        for ref in (PROVIDERS, ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS):
            while not await is_served(client, ref):  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(0.02)


async def is_served(client: Client, ref: ResourceRef) -> bool:
    try:
        await client.list(ref)
    except ResourceNotServed:
        return False
    return True
