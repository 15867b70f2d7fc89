"""Another client of the API under test, for what the commands do not do themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kube.access import Access
from kube.client import Client
from kube.resource import ResourceRef

CONFIG_MAPS = ResourceRef("", "v1", "configmaps", "ConfigMap")
EVENTS = ResourceRef("", "v1", "events", "Event")


@dataclass(frozen=True, slots=True)
class Api:
    """One API server, one request at a time."""

    url: str

    def apply(self, ref: ResourceRef, manifest: dict[str, Any], *, manager: str = "test") -> None:
        self._do(lambda client: client.apply(ref, manifest, manager=manager, force=True))

    def create(self, ref: ResourceRef, manifest: dict[str, Any]) -> None:
        self._do(lambda client: client.create(ref, manifest))

    def patch(self, ref: ResourceRef, namespace: str, name: str, patch: dict[str, Any]) -> None:
        self._do(lambda client: client.patch_merge(ref, patch, namespace=namespace, name=name))

    def delete(self, ref: ResourceRef, namespace: str, name: str) -> None:
        self._do(lambda client: client.delete(ref, namespace=namespace, name=name))

    def _do(self, request: Callable[[Client], Awaitable[object]]) -> None:
        async def send() -> None:
            async with Client(Access(self.url)) as client:
                await request(client)

        asyncio.run(send())
