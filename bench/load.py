"""Applies many claims over the API and waits until all of them are served."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.manifest import NAMESPACE, record_set, zone, zone_class
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from kube.client import Client
from kube.config import connect

PARALLEL: Final = 16
POLL_S: Final = 0.25


async def apply_zones(client: Client, zones: int, records_each: int) -> None:
    """Create the class, the zones and all their record sets, several requests at a time."""
    await client.create(ZONE_CLASSES, zone_class())
    for number in range(zones):
        await client.create(ZONES, zone(number))
    claims = [record_set(number, record) for record in range(records_each) for number in range(zones)]
    await create_all(client, claims)


async def create_all(client: Client, claims: Sequence[dict[str, Any]]) -> None:
    """Create RecordSets, several at a time."""
    free = asyncio.Semaphore(PARALLEL)

    async def create(claim: dict[str, Any]) -> None:
        async with free:
            await client.create(RECORD_SETS, claim)

    async with asyncio.TaskGroup() as tasks:
        for claim in claims:
            tasks.create_task(create(claim))


async def until_programmed(client: Client, count: int, limit_s: float, poll_s: float = POLL_S) -> None:
    """Wait until `count` RecordSets are Programmed for their newest generation, with a look every `poll_s`.

    Raises TimeoutError after `limit_s`.
    """
    async with asyncio.timeout(limit_s):
        while True:
            claims = (await client.list(RECORD_SETS, namespace=NAMESPACE)).items
            if sum(map(_is_programmed, claims)) >= count:
                return
            await asyncio.sleep(poll_s)


def load(kubeconfig: Path, zones: int, records_each: int, limit_s: float) -> tuple[float, float]:
    """Return the seconds until everything was created, and until all of it was Programmed."""

    async def run() -> tuple[float, float]:
        async with connect(kubeconfig) as client:
            started = time.monotonic()
            await apply_zones(client, zones, records_each)
            created = time.monotonic() - started
            await until_programmed(client, zones * records_each, limit_s)
            return created, time.monotonic() - started

    return asyncio.run(run())


def _is_programmed(claim: dict[str, Any]) -> bool:
    generation = claim["metadata"]["generation"]
    return any(
        each["type"] == "Programmed" and each["status"] == "True" and each.get("observedGeneration") == generation
        for each in claim.get("status", {}).get("conditions", ())
    )
