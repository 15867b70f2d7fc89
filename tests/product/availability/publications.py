"""What managers publish while they are disturbed: every spec of every HostedZone manifest, as a watch tells it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from controllers.api.group import HOSTED_ZONES
from kube.client import Client


@dataclass(slots=True)
class Publications:
    """(serial, digest) of a zone in the order in which they were written."""

    seen: list[tuple[int, str]] = field(default_factory=list)

    def assert_each_once(self) -> None:
        """Every content was written once, under a serial of its own that is larger than the one before."""
        serials = [serial for serial, _ in self.seen]
        assert serials == sorted(set(serials)), serials
        assert len({digest for _, digest in self.seen}) == len(self.seen), self.seen


@asynccontextmanager
async def following(client: Client, namespace: str) -> AsyncIterator[Publications]:
    """Follow a namespace with a watch that nothing disturbs."""
    found = Publications()
    start = (await client.list(HOSTED_ZONES, namespace=namespace)).resource_version

    async def follow() -> None:
        generation = 0
        async for event in client.watch(HOSTED_ZONES, resource_version=start, namespace=namespace, bookmarks=False):
            spec = event.object["spec"]
            if spec.get("serial") is None or event.object["metadata"]["generation"] == generation:
                continue
            generation = event.object["metadata"]["generation"]
            found.seen.append((spec["serial"], spec["digest"]))

    task = asyncio.create_task(follow())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
