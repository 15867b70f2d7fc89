"""The embedded API with the provider's controllers and name servers on it, and core played by the test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from controllers.api.condition import Condition, find_condition
from controllers.api.group import CORE_FINALIZER, HOSTED_ZONES, NAMESPACES, PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from controllers.api.provider import parse_provider
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnit, parse_zone_unit, part_name
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.manifests import definitions
from controllers.probe.address import DNS_PORT
from controllers.probe.exchange import NetworkExchange
from controllers.probe.prober import Prober
from controllers.providers.hosted.binding import HostedConfig, Patience
from controllers.providers.hosted.contract import provider_manifest
from controllers.providers.hosted.controller import HostedProvider
from controllers.providers.hosted.view import HostedInformers
from controllers.runtime.recorder import EVENTS, EventRecorder
from kube.access import Access
from kube.client import Client
from kube.errors import KubeError, NotFound
from kube.informer import Informer
from kube.object import ObjectKey
from kube.resource import ResourceRef
from tests.controllers.core.conversion.webhook import LocalResolver
from tests.controllers.providers.hosted.name_server import FakeNameServer, announce
from tests.standalone.installed import installed

SYSTEM = "dns-system"
TEAM = "team"
DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
PATIENCE = Patience(pending_s=0.1, outage_s=0.6, page_s=60.0, refusal_s=1.0, resync_s=600.0)
PARAMETERS: dict[str, Any] = {"nameServers": [{"name": "ns1.dns.test"}, {"name": "ns2.dns.test"}]}
WAIT_S = 60.0
ASK_AGAIN_S = 0.05


def item(
    name: str,
    address: str = "192.0.2.1",
    *,
    claim: str | None = None,
    generation: int = 1,
    ttl: int | None = 60,
    **more: Any,
) -> dict[str, Any]:
    """An A record set as it stands in the ledger."""
    found = {
        "recordSetNamespace": TEAM,
        "recordSetName": claim or name,
        "observedGeneration": generation,
        "name": name,
        "type": "A",
        "a": {"addresses": [address]},
        **more,
    }
    return {**found, "ttl": ttl} if ttl is not None else found


class World:
    """Use as an asynchronous context manager."""

    unit_ref = ZONE_UNITS
    hosted_ref = HOSTED_ZONES
    class_ref = ZONE_CLASSES

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._stack = AsyncExitStack()
        self.config = HostedConfig(namespace=SYSTEM, patience=PATIENCE)
        self.servers: dict[str, FakeNameServer] = {}
        self._changed = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> World:
        api = await self._stack.enter_async_context(installed(self._data_dir, _install))
        self.client = await self._stack.enter_async_context(Client(Access(api.url), field_manager="test"))
        await self.start_manager()
        return self

    async def __aexit__(self, *_: object) -> None:
        for name in list(self._tasks):
            await self.stop(name)
        await self._stack.aclose()

    async def start_manager(self, name: str = "manager") -> None:
        """Run the controllers with empty memory, as after a restart; a second name gives a second manager."""
        client = self.client
        self.informers = LedgerInformers(
            providers=Informer(client, PROVIDERS, parse_provider),
            zone_classes=Informer(client, ZONE_CLASSES, parse_zone_class),
            zone_units=Informer(client, ZONE_UNITS, parse_zone_unit),
        )
        self.informers.register_indexes()
        self.own = own = HostedInformers.of(client, self.config, self.informers)
        informers: tuple[Informer[Any], ...] = (
            self.informers.providers,
            self.informers.zone_classes,
            self.informers.zone_units,
            *own.all,
        )
        for informer in informers:
            informer.subscribe(lambda _: self._changed.set())
        self._tasks[name] = asyncio.create_task(self._manage(own, informers))
        for informer in informers:
            await informer.synced.wait()

    async def stop(self, name: str) -> None:
        """Stop the manager or a name server."""
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def start_servers(self, *names: str, ready: bool = True) -> None:
        """Start name servers and announce them as the live ones."""
        for name in names:
            server = self.servers[name] = FakeNameServer(self.client, name)
            self._tasks[name] = asyncio.create_task(server.run())
        await self.announce(**dict.fromkeys(self.servers, ready))

    async def announce(self, **ready: bool) -> None:
        """Say which name servers are ready."""
        await announce(self.client, SYSTEM, self.config.server_service, ready)

    async def zone_class(self, name: str = "hosted", **spec: Any) -> None:
        """Create a class in the team's namespace."""
        body = {
            "apiVersion": ZONE_CLASSES.api_version,
            "kind": ZONE_CLASSES.kind,
            "metadata": {"namespace": TEAM, "name": name},
            "spec": {
                "provider": {
                    "name": self.config.binding.provider_name,
                    "version": self.config.binding.provider_version,
                },
                "controllerName": self.config.binding.controller_name,
                "parameters": PARAMETERS,
                **spec,
            },
        }
        await self.client.create(ZONE_CLASSES, body)

    async def unit(
        self,
        name: str,
        items: list[dict[str, Any]],
        *,
        domain: str = "example.test",
        part: int = 0,
        parts: tuple[int, ...] = (),
        generation: int = 1,
    ) -> None:
        """Create one part of a ledger, as core does."""
        body = {
            "apiVersion": ZONE_UNITS.api_version,
            "kind": ZONE_UNITS.kind,
            "metadata": {"namespace": TEAM, "name": part_name(name, part), "finalizers": [CORE_FINALIZER]},
            "spec": {
                "provider": {
                    "name": self.config.binding.provider_name,
                    "version": self.config.binding.provider_version,
                },
                "zone": {
                    "ref": {"namespace": TEAM, "name": name},
                    "observedGeneration": generation,
                    "domainName": domain,
                    "zoneClassRef": {"namespace": TEAM, "name": "hosted"},
                },
                "part": part,
                "parts": list(parts),
                "recordSets": items,
            },
        }
        await self.client.create(ZONE_UNITS, body)

    async def edit(self, name: str, items: list[dict[str, Any]]) -> int:
        """Replace the items of a part; returns its new generation."""
        obj = await self.client.patch_merge(ZONE_UNITS, {"spec": {"recordSets": items}}, namespace=TEAM, name=name)
        return int(obj["metadata"]["generation"])

    async def delete_unit(self, name: str) -> None:
        """Delete a part and drop core's finalizer once the provider has dropped its own, as core does."""
        await self.client.delete(ZONE_UNITS, namespace=TEAM, name=name)

        async def released() -> bool:
            obj = await self.client.get(ZONE_UNITS, namespace=TEAM, name=name)
            return bool(obj["metadata"]["finalizers"] == [CORE_FINALIZER])

        await self.until_async(released)
        await self.client.patch_merge(ZONE_UNITS, {"metadata": {"finalizers": None}}, namespace=TEAM, name=name)

    def cached_unit(self, name: str) -> ZoneUnit | None:
        return self.informers.zone_units.get(ObjectKey(TEAM, name))

    def zone_condition(self, name: str, kind: str = "Programmed") -> Condition | None:
        unit = self.cached_unit(name)
        return find_condition(unit.status.zone.conditions, kind) if unit is not None and unit.status.zone else None

    def entry(self, unit: str, claim: str) -> UnitRecordSetStatus | None:
        """The result for one claim."""
        found = self.cached_unit(unit)
        entries = found.status.record_sets if found is not None else ()
        return next((entry for entry in entries if entry.record_set_name == claim), None)

    def programmed(self, unit: str, claim: str) -> Condition | None:
        entry = self.entry(unit, claim)
        return find_condition(entry.conditions, "Programmed") if entry is not None else None

    def says(self, condition: Condition | None, status: str, reason: str) -> bool:
        return condition is not None and (condition.status, condition.reason) == (status, reason)

    def is_programmed(self, unit: str, claim: str, generation: int = 1) -> bool:
        entry = self.entry(unit, claim)
        current = entry is not None and entry.observed_generation == generation
        return current and self.says(self.programmed(unit, claim), "True", "Programmed")

    def caught_up(self, name: str) -> bool:
        unit = self.cached_unit(name)
        return unit is not None and unit.status.observed_generation == unit.meta.generation

    async def hosted(self, name: str) -> dict[str, Any] | None:
        """The manifest as the API has it."""
        try:
            return await self.client.get(HOSTED_ZONES, namespace=TEAM, name=name)
        except NotFound:
            return None

    async def pages(self) -> set[str]:
        found = await self.client.list(HOSTED_ZONES, namespace=TEAM)
        return {obj["metadata"]["name"] for obj in found.items if "page" in obj["spec"]}

    async def events(self, name: str) -> set[str]:
        """Reasons of the events about an object."""
        found = await self.client.list(EVENTS, namespace=TEAM)
        return {obj["reason"] for obj in found.items if obj["involvedObject"]["name"] == name}

    async def until(self, condition: Callable[[], bool], wait_s: float = WAIT_S) -> None:
        """Return once the condition holds; it is asked whenever a cache has changed."""
        async with asyncio.timeout(wait_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def until_async(self, condition: Callable[[], Awaitable[bool]], wait_s: float = WAIT_S) -> None:
        """Return once a condition on the API itself holds."""
        async with asyncio.timeout(wait_s):
            while not await condition():
                await self._change_within(ASK_AGAIN_S)

    async def quiet(self) -> None:
        """Return once no cache has changed for longer than anything is held back."""
        while await self._change_within(4 * PATIENCE.pending_s):
            pass

    async def _change_within(self, wait_s: float) -> bool:
        self._changed.clear()
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _manage(self, own: HostedInformers, informers: Iterable[Informer[Any]]) -> None:
        recorder = EventRecorder(self.client, "hosted")
        surroundings = Surroundings(self.client, self.informers, recorder)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(recorder.run())
            for informer in informers:
                tasks.create_task(informer.run())
            for informer in informers:
                await informer.synced.wait()
            converter = ConversionClient(LocalResolver())
            prober = Prober(NetworkExchange(), DNS_PORT)
            self.provider = HostedProvider(surroundings, own, prober, self.config, converter=converter)
            tasks.create_task(self.provider.conversions.run())
            for controller in self.provider.controllers:
                tasks.create_task(controller.run())


async def _install(client: Client) -> None:
    for definition in definitions():
        await client.create(DEFINITIONS, definition)
    for name in (SYSTEM, TEAM):
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    async with asyncio.timeout(WAIT_S):
        while not await _are_served(client):  # noqa: ASYNC110 - only the API knows
            await asyncio.sleep(ASK_AGAIN_S)
    await client.create(PROVIDERS, provider_manifest())


async def _are_served(client: Client) -> bool:
    try:
        for ref in (PROVIDERS, ZONE_CLASSES, ZONE_UNITS, HOSTED_ZONES):
            await client.list(ref)
    except KubeError:
        return False
    return True


def keys(found: Mapping[tuple[str, str], Any]) -> set[str]:
    """Owner names of served records."""
    return {name for name, _ in found}
