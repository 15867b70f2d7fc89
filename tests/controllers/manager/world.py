"""An embedded API with managers on it that serve their webhooks over TLS, and the API server's side of the calls.

Owns what a cluster does around the managers: it calls the webhooks by the generated configuration and nothing else, with the test's
own certification authority.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from controllers.api.group import PROVIDERS
from controllers.core.admission.certificate import ServingCertificate
from controllers.core.admission.installation import validating_webhook_configuration
from controllers.core.admission.server import WebhookConfig
from controllers.manager import Manager, ManagerConfig
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.registration import hosted
from kube.access import Access
from kube.client import Client
from standalone.apiserver.server import ApiServer
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.core.admission.build import Manifest, provider
from tests.standalone.installed import installed

SYSTEM = "dns-api-system"
WAIT_S = 60.0
ASK_AGAIN_S = 0.02


class World:
    """Use as an asynchronous context manager."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority()
        self.pair = ServingPair(folder)
        self.authority.write(self.pair, serial=1)
        self.api: ApiServer
        self._data_dir = folder / "data"
        self.managers: list[Manager] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        self.api = await self._stack.enter_async_context(installed(self._data_dir))
        self.client = await self._stack.enter_async_context(Client(Access(self.api.url), field_manager="test"))
        connector = aiohttp.TCPConnector(ssl=self.authority.client_context())
        self.http = await self._stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        manifest = {"apiVersion": PROVIDERS.api_version, "kind": PROVIDERS.kind, **provider()}
        await self.client.create(PROVIDERS, manifest)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def start_manager(self, port: int) -> Manager:
        """Run a manager until the world ends, and wait until its webhook answers."""
        manager = self.manager(port)
        task = asyncio.create_task(manager.run())
        self._stack.push_async_callback(_stop, task)

        async def ready() -> bool:
            assert not task.done(), task.result()
            return await self.status(port, "/readyz") == 200

        await until(ready)
        self.managers.append(manager)
        return manager

    def manager(self, port: int) -> Manager:
        """A manager that does not run yet."""
        certificate = ServingCertificate(self.pair.certificate, self.pair.key)
        webhook = WebhookConfig(certificate, "127.0.0.1", port)
        return Manager(self.client, ManagerConfig(f"manager-{port}", SYSTEM, (hosted(HostedConfig(SYSTEM)),), webhook))

    async def status(self, port: int, path: str) -> int:
        """The HTTP status of a GET, 0 when nobody listens."""
        try:
            async with self.http.get(f"https://localhost:{port}{path}") as answer:
                return answer.status
        except aiohttp.ClientConnectorError:
            return 0

    async def post(self, port: int, path: str, review: object) -> tuple[int, bytes]:
        return await self.send(port, path, orjson.dumps(review))

    async def send(self, port: int, path: str, body: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        address = f"https://localhost:{port}{path}?timeout=10s"
        async with self.http.post(address, data=io.BytesIO(body), headers=headers) as answer:
            return answer.status, await answer.read()

    def call_webhooks(self, *ports: int) -> None:
        """Let the API ask the managers about every write, one after the other, as the generated configuration says."""
        configuration = validating_webhook_configuration(self.managers[0].admission.hooks())
        for number, webhook in enumerate(configuration["webhooks"]):
            (rule,) = webhook["rules"]
            (group,), (version,), (resource,) = rule["apiGroups"], rule["apiVersions"], rule["resources"]
            plural, _, subresource = resource.partition("/")
            caller = self._caller(webhook["clientConfig"]["service"]["path"], ports, number)
            self.api.register_admission(
                group, version, plural, subresource or None, rule["operations"], caller, name=webhook["name"]
            )

    def _caller(self, path: str, ports: tuple[int, ...], start: int) -> Callable[[Manifest], Awaitable[Manifest]]:
        calls = start

        async def call(review: Mapping[str, Any]) -> Manifest:
            nonlocal calls
            calls += 1
            status, body = await self.post(ports[calls % len(ports)], path, review)
            assert status == 200, body
            answer: Manifest = orjson.loads(body)
            return answer

        return call


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(WAIT_S):
        while not await holds():  # noqa: ASYNC110 - only the other side knows
            await asyncio.sleep(ASK_AGAIN_S)


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
