"""The product on the embedded API with the external provider, and a zone whose servers a test runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from controllers.api.group import PROVIDERS, RECONCILE_REQUEST, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.api.record_withdrawal import ADDRESS_LABEL, RECORD_WITHDRAWALS, address_label
from controllers.ledger.registration import AttachedProvider, EnabledProvider
from controllers.ledger.surroundings import Surroundings
from controllers.manager import Manager, ManagerConfig
from controllers.probe.exchange import Exchange, NetworkExchange
from controllers.probe.pace import Pace
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import Round
from controllers.providers.external.binding import BINDING, ExternalConfig
from controllers.providers.external.contract import provider_manifest
from controllers.providers.external.controller import ExternalProvider
from kube.access import Access
from kube.client import Client
from kube.errors import AlreadyExists, NotFound
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.config import SYSTEM_NAMESPACE
from tests.cluster.api import access_to, installed_api, manager_access_to

PROVIDER: Final = {"name": BINDING.provider_name, "version": BINDING.provider_version}
NAMESPACE: Final = "default"
DOMAIN: Final = "shop.test"
WAIT_S: Final = 60.0
ASK_AGAIN_S: Final = 0.05


class World:
    """Use as an asynchronous context manager. `now` is the wall clock of the provider, `elapsed_s` the clock that nobody puts."""

    def __init__(self, folder: Path, config: ExternalConfig | None = None, exchange: Exchange | None = None) -> None:
        self.api: ApiServer
        self._data_dir = folder / "data"
        self.now = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
        self.elapsed_s = 1000.0
        self._config = config or ExternalConfig(queries_per_s=1000.0)
        self._exchange = exchange
        self._stack = AsyncExitStack()
        self._requests = 0

    async def __aenter__(self) -> Self:
        self.api = await self._stack.enter_async_context(installed_api(self._data_dir))
        self.client = await self._stack.enter_async_context(Client(access_to(self.api), field_manager="test"))
        with suppress(AlreadyExists):
            await self.client.create(PROVIDERS, provider_manifest())
        provider = EnabledProvider(self._attach)
        self._manager_client = Client(await self.manager_access(), field_manager="dns-api")
        await self._stack.enter_async_context(self._manager_client)
        manager = Manager(self._manager_client, ManagerConfig("external", SYSTEM_NAMESPACE, (provider,)))
        for hook in manager.admission.hooks():
            ref = hook.resource
            self.api.register_admission(
                ref.group, ref.version, ref.plural, hook.subresource, hook.operations, hook.handler, name="test"
            )
        self._stack.push_async_callback(self._end)
        await self._run(manager)
        return self

    async def restart(self) -> None:
        """End the manager and begin another one, which remembers nothing."""
        await self._end()
        provider = EnabledProvider(self._attach)
        await self._run(Manager(self._manager_client, ManagerConfig("external", SYSTEM_NAMESPACE, (provider,))))

    async def _run(self, manager: Manager) -> None:
        self._task = asyncio.create_task(manager.run())
        await manager.synced.wait()

    async def _end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def manager_access(self) -> Access:
        """How the manager reaches the API."""
        return manager_access_to(self.api)

    def _attach(self, surroundings: Surroundings) -> AttachedProvider:
        own = Surroundings(surroundings.client, surroundings.informers, surroundings.recorder, lambda: self.now)
        exchange = self._exchange or NetworkExchange(Pace(self._config.queries_per_s))
        prober = _CountingProber(exchange, self._config.port, lambda: self.now, lambda: self.elapsed_s)
        self._prober = prober
        return AttachedProvider(lambda: ExternalProvider(own, prober, self._config))

    async def zone(self, *servers: object, **parameters: Any) -> None:
        """Create a class with these servers, and a Zone."""
        named = {"nameServers": [str(each) for each in servers]} if servers else {}
        spec = {"provider": PROVIDER, "controllerName": BINDING.controller_name}
        await self.create(
            ZONE_CLASSES, "external", {**spec, "parameters": {"probeTimeout": "1s", **named, **parameters}}
        )
        zone = {"domainName": DOMAIN, "zoneClassRef": {"name": "external"}, "provider": PROVIDER}
        await self.create(ZONES, "shop", zone)

    async def record(self, name: str, owner: str, kind: str, body: Mapping[str, Any], ttl: int = 300) -> None:
        spec = {"zoneRef": {"name": "shop"}, "provider": PROVIDER, "type": kind, "name": owner, "ttl": ttl}
        await self.create(RECORD_SETS, name, {**spec, kind.lower(): body})

    async def withdrawal(self, name: str, owner: str, address: str) -> None:
        spec = {"zoneRef": {"name": "shop"}, "provider": PROVIDER, "name": owner, "address": address}
        await self.create(RECORD_WITHDRAWALS, name, spec, labels={ADDRESS_LABEL: address_label(address)})

    async def create(self, ref: ResourceRef, name: str, spec: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
        body = {"namespace": NAMESPACE, "name": name, **metadata}
        return await self.client.create(
            ref, {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": body, "spec": spec}
        )

    async def patch(self, ref: ResourceRef, name: str, patch: Mapping[str, Any]) -> None:
        await self.client.patch_merge(ref, patch, name=name, namespace=NAMESPACE)

    async def delete(self, ref: ResourceRef, name: str) -> None:
        await self.client.delete(ref, name=name, namespace=NAMESPACE)

    async def get(self, ref: ResourceRef, name: str) -> dict[str, Any]:
        return await self.client.get(ref, name=name, namespace=NAMESPACE)

    async def look_again(self) -> None:
        """Have the zone's servers asked at once."""
        self._requests += 1
        await self.patch(ZONES, "shop", {"metadata": {"annotations": {RECONCILE_REQUEST: str(self._requests)}}})

    async def next_round(self) -> None:
        """Return when a round has ended that began after this call."""
        begun = self._prober.begun
        await self.look_again()

        async def ended() -> bool:
            return self._prober.ended > begun

        await self.until(ended)

    def go_on(self, seconds: float) -> None:
        """Let time pass, by both clocks of the provider."""
        self.put_forward(seconds)
        self.elapsed_s += seconds

    def put_forward(self, seconds: float) -> None:
        """Put the wall clock of the provider, as a host does whose clock was wrong."""
        self.now += timedelta(seconds=seconds)

    async def condition(self, ref: ResourceRef, name: str, kind: str = "Programmed") -> dict[str, Any]:
        found = (await self.get(ref, name)).get("status", {}).get("conditions", [])
        return next((each for each in found if each["type"] == kind), {})

    async def until_says(
        self, ref: ResourceRef, name: str, status: str, reason: str, kind: str = "Programmed", *, asking: bool = False
    ) -> str:
        """Wait for a condition and return its message; while `asking`, have the servers asked over and over."""

        async def says() -> bool:
            found = await self.condition(ref, name, kind)
            if (found.get("status"), found.get("reason")) == (status, reason):
                return True
            if asking:
                await self.look_again()
                await asyncio.sleep(0.2)  # a round takes its time
            return False

        try:
            await self.until(says)
        except TimeoutError:
            found = await self.condition(ref, name, kind)
            raise AssertionError(f"{ref.kind} {name} {kind}: wanted {status}/{reason}, found {found}") from None
        return str((await self.condition(ref, name, kind)).get("message", ""))

    async def until_message(self, ref: ResourceRef, name: str, kind: str, beginning: str) -> None:
        """Wait until a condition's message begins like this."""

        async def begins() -> bool:
            return str((await self.condition(ref, name, kind)).get("message", "")).startswith(beginning)

        await self.until(begins)

    async def until_gone(self, ref: ResourceRef, name: str) -> None:
        async def gone() -> bool:
            try:
                await self.get(ref, name)
            except NotFound:
                return True
            return False

        await self.until(gone)

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Return once the condition holds."""
        async with asyncio.timeout(WAIT_S):
            while not await condition():  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(ASK_AGAIN_S)


class _CountingProber(Prober):
    """Counts rounds: `begun` those that were begun, `ended` the number of the last one that has ended."""

    begun = 0
    ended = 0

    async def probe(self, plan: Plan) -> Round:
        self.begun += 1
        number = self.begun
        found = await super().probe(plan)
        self.ended = number
        return found
