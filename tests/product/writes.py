"""Which objects the product writes, told by watches of everything that it serves."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass

from controllers.api.group import LEASES
from kube.client import Client
from kube.discovery import Discovery
from kube.object import ObjectKey
from kube.resource import ResourceRef

Write = tuple[str, ObjectKey]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in the history of each resource."""

    versions: dict[ResourceRef, str]


async def every_resource(client: Client) -> list[ResourceRef]:
    """Everything that can be watched but Leases, which are there to be written again and again."""
    served = await Discovery(client).all_served()
    return [each.ref for each in served if {"list", "watch"} <= each.verbs and each.ref != LEASES]


async def moment(client: Client, refs: Iterable[ResourceRef]) -> Moment:
    """Return the present."""
    return Moment({ref: (await client.list(ref)).resource_version for ref in refs})


async def versions(client: Client, refs: Iterable[ResourceRef]) -> dict[Write, str]:
    """Return the version of every object."""
    return {
        (ref.kind, ObjectKey.parse(obj)): obj["metadata"]["resourceVersion"]
        for ref in refs
        for obj in (await client.list(ref)).items
    }


async def writes_since(client: Client, start: Moment, seconds: float, namespace: str = "") -> Counter[Write]:
    """Count the writes since a moment and for some seconds from now, by kind and object."""
    found: Counter[Write] = Counter()

    async def follow(ref: ResourceRef, version: str) -> None:
        scope = namespace if ref.namespaced else ""
        watch = client.watch(ref, resource_version=version, namespace=scope, timeout_s=seconds, bookmarks=False)
        async with aclosing(watch) as events:
            async for event in events:
                found[ref.kind, ObjectKey.parse(event.object)] += 1

    async with asyncio.TaskGroup() as tasks:
        for ref, version in start.versions.items():
            tasks.create_task(follow(ref, version))
    return found
