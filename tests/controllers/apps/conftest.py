"""The embedded API and a manager that runs the apps, and one provider at most; what conversions answer is up to the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controllers.api.crd import definition_of
from controllers.api.endpoint import ENDPOINT_PROVIDER_CAPABILITIES, ENDPOINT_RECORD_SETS
from controllers.api.endpoint_conversion import CONVERSION_PLURAL, EndpointConversion, convert_plainly
from controllers.api.group import API_VERSION, NAMESPACES, PROVIDERS, RECORD_SETS, ZONES
from controllers.apps.endpoint.conversion_api import ConversionApi
from controllers.apps.gateway.kind import GATEWAYS, HTTP_ROUTES
from controllers.apps.registry import AppsConfig
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES
from controllers.ledger.registration import Choice
from controllers.manager import Manager, ManagerConfig
from controllers.providers.cloudflare.endpoint import ENDPOINT as CLOUDFLARE
from controllers.providers.external.endpoint import ENDPOINT as EXTERNAL
from controllers.providers.hosted.endpoint import ENDPOINT as HOSTED
from controllers.providers.route53.endpoint import ENDPOINT as ROUTE53
from kube.client import Client, Manifest
from kube.errors import NotFound
from kube.object import ObjectKey
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.config import SYSTEM_NAMESPACE
from standalone.up.install import DEFINITIONS, install
from standalone.up.run import serve_conversions
from tests.cluster.api import access_to, allow_manager, installed_api, manager_access_to
from tests.controllers.apps.gateway_api import definitions
from tests.controllers.ledger.notebook import BINDING, KINDS, Notebook, provider_manifest, registration

NAMESPACE = "default"
WAIT_S = 60.0
ASK_AGAIN_S = 0.02
PROVIDER = HOSTED.provider.dump()
MISSING_CLASS = {"name": "class"}
NOTEBOOK = EndpointConversion(BINDING.provider, partial(convert_plainly, apex_alias=False))

Fault = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


class ConvertingClient(Client):
    """A client whose questions to conversion APIs go wrong as a test has it."""

    fault: Fault | None = None
    asked = 0

    async def create(self, ref: ResourceRef, obj: Manifest, **options: Any) -> dict[str, Any]:
        if ref.plural == CONVERSION_PLURAL:
            self.asked += 1
            if self.fault is not None:
                return await self.fault(obj)
        return await super().create(ref, obj, **options)


async def install_all(client: Client) -> None:
    for definition in definitions():
        await client.apply(DEFINITIONS, definition, manager="test", force=True)
    await install(client)


async def install_with_notebook(client: Client) -> None:
    await install_all(client)
    for own in KINDS:
        await client.apply(DEFINITIONS, definition_of(own.kind), manager="test", force=True)
    await client.create(PROVIDERS, provider_manifest())
    await client.create(ENDPOINT_PROVIDER_CAPABILITIES, NOTEBOOK.capability())


class World:
    """Use as an asynchronous context manager."""

    def __init__(self, folder: Path, apps: AppsConfig, book: Notebook | None = None) -> None:
        """With a book the manager runs a provider that writes into it; without one nothing is ever Programmed."""
        self.api: ApiServer
        self._data_dir = folder / "data"
        self._apps = apps
        self._book = book
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        how = install_all if self._book is None else install_with_notebook
        self.api = await self._stack.enter_async_context(installed_api(self._data_dir, how))
        self.client = await self._stack.enter_async_context(Client(access_to(self.api), field_manager="test"))
        converting = ConvertingClient(manager_access_to(self.api), field_manager="manager")
        self.converting = await self._stack.enter_async_context(converting)
        served = [HOSTED, EXTERNAL, ROUTE53, CLOUDFLARE]
        if self._book is not None:
            for own in KINDS:
                allow_manager(self.api, own.kind.ref, "get", "list", "watch", "patch")
            allow_manager(self.api, ConversionApi(NOTEBOOK).conversion.resource, "create")
            served.append(NOTEBOOK)
        serve_conversions(self.api, [ConversionApi(each) for each in served])
        await self.start_manager()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_manager()
        await self._stack.aclose()

    async def start_manager(self) -> None:
        book = self._book
        enabled = [] if book is None else [registration(book).enable(Choice(SYSTEM_NAMESPACE, BINDING))]
        config = ManagerConfig("apps", SYSTEM_NAMESPACE, tuple(enabled), apps=self._apps)
        manager = Manager(self.converting, config)
        if not hasattr(self, "_task"):
            for hook in manager.admission.hooks():
                ref = hook.resource
                self.api.register_admission(
                    ref.group, ref.version, ref.plural, hook.subresource, hook.operations, hook.handler, name="test"
                )
        self._task = asyncio.create_task(manager.run())
        await manager.synced.wait()

    async def stop_manager(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def zone(
        self,
        name: str,
        domain: str,
        namespace: str = NAMESPACE,
        provider: Mapping[str, str] = PROVIDER,
        annotations: Mapping[str, str] | None = None,
        zone_class: Mapping[str, str] = MISSING_CLASS,
        **more: Any,
    ) -> None:
        spec = {"domainName": domain, "zoneClassRef": dict(zone_class), "provider": dict(provider), **more}
        await self.create(ZONES, name, spec, namespace, API_VERSION, annotations=annotations)

    async def endpoint(self, name: str, hostnames: list[str], *values: str, namespace: str = NAMESPACE) -> None:
        spec = {"hostnames": hostnames, "targets": [target(each) for each in values or ("192.0.2.1",)]}
        await self.create(ENDPOINT_RECORD_SETS, name, spec, namespace)

    async def service(self, name: str, hostnames: str, *ips: str, annotation: str = HOSTNAMES_ANNOTATION) -> None:
        spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
        await self.create(SERVICES, name, spec, annotations={annotation: hostnames})
        await self.balance(name, *ips)

    async def balance(self, name: str, *ips: str) -> None:
        ingress = [{"ip": each} if each[0].isdigit() else {"hostname": each} for each in ips]
        await self.status(SERVICES, name, {"loadBalancer": {"ingress": ingress}})

    async def gateway(self, name: str, *addresses: str, **listener: Any) -> None:
        listeners = [{"name": "http", "port": 80, "protocol": "HTTP", **listener}]
        await self.create(GATEWAYS, name, {"gatewayClassName": "any", "listeners": listeners})
        await self.status(GATEWAYS, name, {"addresses": [{"type": "IPAddress", "value": each} for each in addresses]})

    async def route(self, name: str, gateway: str, *hostnames: str, accepted: bool | None = True) -> None:
        await self.create(HTTP_ROUTES, name, {"hostnames": list(hostnames), "parentRefs": [{"name": gateway}]})
        if accepted is not None:
            await self.judge(name, gateway, accepted)

    async def judge(self, route: str, gateway: str, accepted: bool, since: str = "2020-01-01T00:00:00Z") -> None:
        condition = {
            "type": "Accepted",
            "status": str(accepted),
            "reason": "Accepted" if accepted else "NoMatchingParent",
            "observedGeneration": 1,
            "lastTransitionTime": since,
            "message": "",
        }
        parent = {"parentRef": {"name": gateway}, "controllerName": "test/test", "conditions": [condition]}
        await self.status(HTTP_ROUTES, route, {"parents": [parent]})

    async def create(
        self,
        ref: ResourceRef,
        name: str,
        spec: Mapping[str, Any],
        namespace: str = NAMESPACE,
        api_version: str | None = None,
        *,
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        metadata = {
            "namespace": namespace,
            "name": name,
            "annotations": dict(annotations or {}),
            "labels": dict(labels or {}),
        }
        manifest = {"apiVersion": api_version or ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
        await self.client.create(ref, manifest)

    async def namespace(self, name: str, **labels: str) -> None:
        metadata = {"name": name, "labels": labels}
        await self.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    async def status(self, ref: ResourceRef, name: str, status: Mapping[str, Any]) -> None:
        patch = {"status": status}
        await self.client.patch_merge(ref, patch, namespace=NAMESPACE, name=name, subresource="status")

    async def annotate(self, ref: ResourceRef, name: str, annotations: Mapping[str, str | None]) -> None:
        await self.client.patch_merge(ref, {"metadata": {"annotations": annotations}}, namespace=NAMESPACE, name=name)

    async def get(self, ref: ResourceRef, name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
        return await self.client.get(ref, name=name, namespace=namespace)

    async def records(self) -> set[tuple[str, str, str]]:
        """Every RecordSet as (name, type, values)."""
        found = set()
        for each in (await self.client.list(RECORD_SETS)).items:
            spec = each["spec"]
            body = spec.get(spec["type"].lower(), {})
            found.add((spec["name"], spec["type"], ",".join(body.get("addresses") or [body.get("target", "")])))
        return found

    async def hostname(self, endpoint: str, hostname: str, namespace: str = NAMESPACE) -> dict[str, Any]:
        """What the status says of a hostname, nothing while it says nothing."""
        found = (await self.get(ENDPOINT_RECORD_SETS, endpoint, namespace)).get("status", {}).get("hostnames", ())
        return next((dict(each) for each in found if each["hostname"] == hostname), {})

    async def reason(self, endpoint: str, hostname: str, namespace: str = NAMESPACE) -> str:
        conditions = (await self.hostname(endpoint, hostname, namespace)).get("conditions", ())
        return next((f"{each['status']}/{each['reason']}" for each in conditions), "")

    async def until_reason(self, endpoint: str, hostname: str, reason: str, namespace: str = NAMESPACE) -> None:
        async def holds() -> bool:
            return await self.reason(endpoint, hostname, namespace) == reason

        await self.until(holds)

    async def until_records(self, *wanted: tuple[str, str, str]) -> None:
        async def holds() -> bool:
            return await self.records() == set(wanted)

        await self.until(holds)

    async def endpoints(self) -> dict[ObjectKey, dict[str, Any]]:
        return {ObjectKey.parse(each): each for each in (await self.client.list(ENDPOINT_RECORD_SETS)).items}

    async def is_gone(self, ref: ResourceRef, name: str) -> bool:
        try:
            await self.get(ref, name)
        except NotFound:
            return True
        return False

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Return once the condition holds."""
        async with asyncio.timeout(WAIT_S):
            while not await condition():  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(ASK_AGAIN_S)


class Gate:
    """Refuses to have anything of a kind written until it is open, as somebody else's webhook or a quota would."""

    def __init__(self, world: World, ref: ResourceRef) -> None:
        self.open = False
        self.asked = 0
        operations = ("CREATE", "UPDATE")
        world.api.register_admission(ref.group, ref.version, ref.plural, None, operations, self._judge, name="gate")

    async def was_asked(self) -> bool:
        return self.asked > 0

    async def _judge(self, review: Mapping[str, Any]) -> dict[str, Any]:
        self.asked += 1
        status = {"code": 403, "message": "The gate is shut."}
        response = {"uid": review["request"]["uid"], "allowed": self.open, **({} if self.open else {"status": status})}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


def target(value: str) -> dict[str, str]:
    kind = "IPAddress" if value[0].isdigit() or ":" in value else "Hostname"
    return {"type": kind, "value": value}


def grant(namespace: str, pattern: str) -> dict[str, Any]:
    """A grant of A records to a namespace."""
    labels = {"kubernetes.io/metadata.name": namespace}
    records = [{"name": {"pattern": pattern}, "types": ["A"]}]
    return {"namespaces": {"selector": {"matchLabels": labels}}, "records": records}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    apps = AppsConfig(gateway=True, conversion_timeout_s=0.3, acceptance_grace_s=3600.0)
    async with World(tmp_path, apps) as found:
        yield found
