"""The embedded API and a manager that runs nothing but the notebook provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from controllers.api.crd import definition_of
from controllers.api.group import API_VERSION, PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.ledger.registration import Choice
from controllers.manager import Manager, ManagerConfig
from kube.access import Access
from kube.client import Client
from kube.errors import KubeError, NotFound
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.config import SYSTEM_NAMESPACE
from standalone.up.install import DEFINITIONS, install
from tests.controllers.ledger.notebook import BINDING, KINDS, PENS, Notebook, provider_manifest, registration
from tests.standalone.installed import installed

PROVIDER = {"name": BINDING.provider_name, "version": BINDING.provider_version}
NAMESPACE = "default"
WAIT_S = 60.0
ASK_AGAIN_S = 0.02


class World:
    """Use as an asynchronous context manager."""

    def __init__(self, folder: Path) -> None:
        self.book = Notebook()
        self.api: ApiServer
        self._data_dir = folder / "data"
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        self.api = await self._stack.enter_async_context(installed(self._data_dir, _install))
        self.client = await self._stack.enter_async_context(Client(Access(self.api.url), field_manager="test"))
        provider = registration(self.book).enable(Choice(SYSTEM_NAMESPACE, BINDING))
        manager = Manager(self.client, ManagerConfig("notebook", SYSTEM_NAMESPACE, (provider,)))
        for hook in manager.admission.hooks():
            ref = hook.resource
            self.api.register_admission(
                ref.group, ref.version, ref.plural, hook.subresource, hook.operations, hook.handler, name="test"
            )
        task = asyncio.create_task(manager.run())
        self._stack.push_async_callback(_stop, task)
        await manager.synced.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def zone(self, *names: str) -> None:
        """Create a class, a Zone and RecordSets."""
        spec = {"provider": PROVIDER, "controllerName": BINDING.controller_name, "identityRef": {"name": "pen"}}
        await self.create(ZONE_CLASSES, "books", {**spec, "parameters": {}})
        await self.create(
            ZONES, "zone", {"domainName": "example.test", "zoneClassRef": {"name": "books"}, "provider": PROVIDER}
        )
        for name in names:
            await self.record_set(name)

    async def pen(self, colour: str = "blue") -> None:
        await self.create(PENS, "pen", {"colour": colour})

    async def record_set(self, name: str) -> None:
        spec = {"zoneRef": {"name": "zone"}, "provider": PROVIDER, "type": "A", "name": name, "ttl": 60}
        await self.create(RECORD_SETS, name, {**spec, "a": {"addresses": ["192.0.2.1"]}})

    async def create(self, ref: ResourceRef, name: str, spec: Mapping[str, Any]) -> None:
        metadata = {"namespace": NAMESPACE, "name": name}
        version = ref.api_version if ref is PENS else API_VERSION
        await self.client.create(ref, {"apiVersion": version, "kind": ref.kind, "metadata": metadata, "spec": spec})

    async def get(self, ref: ResourceRef, name: str) -> dict[str, Any]:
        return await self.client.get(ref, name=name, namespace=NAMESPACE)

    async def reason(self, ref: ResourceRef, name: str, kind: str = "Programmed") -> str | None:
        """The reason that a condition of an object stands with."""
        found = (await self.get(ref, name)).get("status", {}).get("conditions", [])
        return next((each["reason"] for each in found if each["type"] == kind), None)

    async def until_reason(self, ref: ResourceRef, name: str, reason: str, kind: str = "Programmed") -> None:
        async def holds() -> bool:
            return await self.reason(ref, name, kind) == reason

        await self.until(holds)

    async def until_gone(self, ref: ResourceRef, name: str) -> None:
        async def gone() -> bool:
            try:
                await self.get(ref, name)
            except NotFound:
                return True
            return False

        await self.until(gone)

    async def refusal(self, attempt: Awaitable[None]) -> str:
        try:
            await attempt
        except KubeError as error:
            return error.message
        raise AssertionError("nothing was refused")

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Return once the condition holds."""
        async with asyncio.timeout(WAIT_S):
            while not await condition():  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(ASK_AGAIN_S)


async def _install(client: Client) -> None:
    for own in KINDS:
        await client.create(DEFINITIONS, definition_of(own.kind))
    await install(client)
    await client.create(PROVIDERS, provider_manifest())


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as found:
        yield found
