"""The product in this process: API server, manager and name server, of which the latter two are ended and started one by one.

Owns the parts and the order in which they start. Admission is that of the newest manager, be it running or not.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from controllers.core.admission.handler import Hook
from controllers.manager import Manager, ManagerConfig
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.registration import hosted
from kube.access import Access
from kube.client import Client
from server.app import NameServer
from server.config import Address, ServerConfig
from standalone.up.config import SERVER_NAME, SERVER_SERVICE, SYSTEM_NAMESPACE
from standalone.up.install import announce_server
from tests.server.question import Target
from tests.standalone.installed import installed

LEASES = ("coordination.k8s.io", "leases")


class SmallWorld:
    """One product on one data directory."""

    client: Client

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = AsyncExitStack()
        self._hooks: dict[str, Hook] = {}
        self._manager: asyncio.Task[None] | None = None
        self._server: NameServer | None = None

    async def start(self) -> None:
        """Start everything."""
        self._api = await self._stack.enter_async_context(installed(self._folder / "api"))
        self.client = await self._stack.enter_async_context(Client(Access(self._api.url)))
        for hook in self._make_manager().admission.hooks():
            ref = hook.resource
            self._api.register_admission(
                ref.group,
                ref.version,
                ref.plural,
                hook.subresource,
                hook.operations,
                self._judge(hook.path),
                name="test",
            )
        await self.start_manager()
        await self.start_server()

    async def stop(self) -> None:
        """Stop everything."""
        await self.kill_manager()
        await self.stop_server()
        await self._stack.aclose()

    @property
    def has_manager(self) -> bool:
        return self._manager is not None

    @property
    def target(self) -> Target:
        """Where the name server is, which has to run."""
        assert self._server is not None
        return Target(*self._server.addresses[0])

    @property
    def writes(self) -> int:
        """How many writes the API has committed, without those that elect a leader."""
        return sum(count for resource, count in self._api.writes.items() if resource != LEASES)

    async def start_manager(self) -> None:
        """Start the manager, if it does not run, and wait until it has read everything."""
        if self._manager is None:
            manager = self._make_manager()
            self._manager = asyncio.create_task(manager.run())
            await manager.synced.wait()

    async def kill_manager(self) -> None:
        """End the manager wherever it is."""
        task, self._manager = self._manager, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def start_server(self) -> None:
        """Start the name server, if it does not run."""
        if self._server is None:
            config = ServerConfig(
                listen=(Address("127.0.0.1", 0),),
                name=SERVER_NAME,
                client=self.client,
                cache_dir=self._folder / "snapshots",
            )
            self._server = NameServer(config)
            await self._server.start()
            address = self._server.addresses[0]
            await announce_server(self.client, address.host, address.port)

    async def stop_server(self) -> None:
        """Stop the name server; it stays announced, as one that was killed does."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

    def _make_manager(self) -> Manager:
        config = ManagerConfig(SERVER_NAME, SYSTEM_NAMESPACE, (hosted(HostedConfig(SYSTEM_NAMESPACE, SERVER_SERVICE)),))
        manager = Manager(self.client, config)
        self._hooks = {hook.path: hook for hook in manager.admission.hooks()}
        return manager

    def _judge(self, path: str) -> Any:
        async def judge(review: Any) -> Any:
            return await self._hooks[path].handler(review)

        return judge
