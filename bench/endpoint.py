"""How long many load-balanced Services take from the first request until all their hostnames are Programmed.

python -m bench endpoint
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.figure import Figure
from bench.load import PARALLEL, until_programmed
from bench.manifest import NAMESPACE, domain, zone, zone_class
from bench.product import running
from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES
from kube.client import Client
from kube.config import connect

COUNT: Final = 1000
LIMIT_S: Final = 30.0


def measure() -> Iterator[Figure]:
    """Yield the time of the first convergence, and that of a change of every address."""
    with running() as product:
        first_s, change_s = asyncio.run(_run(product.kubeconfig))
        memory_mb = product.peak_memory_mb()
    yield Figure(f"{COUNT} Services in 1 zone: all Programmed", first_s, "s", LIMIT_S)
    yield Figure(f"{COUNT} Services get other addresses: all Programmed", change_s, "s", LIMIT_S)
    yield Figure(f"{COUNT} Services: peak memory of the whole product", memory_mb, "MB")


async def _run(kubeconfig: Path) -> tuple[float, float]:
    async with connect(kubeconfig) as client:
        await client.create(ZONE_CLASSES, zone_class())
        await client.create(ZONES, zone(0))
        started = time.monotonic()
        await _for_all(client, _publish)
        await until_programmed(client, COUNT, 4 * LIMIT_S)
        first_s = time.monotonic() - started
        started = time.monotonic()
        await _for_all(client, _move)
        await _until_moved(client)
        return first_s, time.monotonic() - started


async def _for_all(client: Client, work: Any) -> None:
    free = asyncio.Semaphore(PARALLEL)

    async def one(number: int) -> None:
        async with free:
            await work(client, number)

    async with asyncio.TaskGroup() as tasks:
        for number in range(COUNT):
            tasks.create_task(one(number))


async def _publish(client: Client, number: int) -> None:
    annotations = {HOSTNAMES_ANNOTATION: f"service-{number}.{domain(0)}"}
    metadata = {"namespace": NAMESPACE, "name": _name(number), "annotations": annotations}
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    await client.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    await _balance(client, number, f"10.1.{number // 250}.{number % 250 + 1}")


async def _move(client: Client, number: int) -> None:
    await _balance(client, number, f"10.2.{number // 250}.{number % 250 + 1}")


async def _balance(client: Client, number: int, address: str) -> None:
    status = {"status": {"loadBalancer": {"ingress": [{"ip": address}]}}}
    await client.patch_merge(SERVICES, status, namespace=NAMESPACE, name=_name(number), subresource="status")


async def _until_moved(client: Client) -> None:
    async with asyncio.timeout(4 * LIMIT_S):
        while True:
            claims = (await client.list(RECORD_SETS, namespace=NAMESPACE)).items
            if all(claim["spec"]["a"]["addresses"][0].startswith("10.2.") for claim in claims):
                break
            await asyncio.sleep(0.25)
    await until_programmed(client, COUNT, 4 * LIMIT_S)


def _name(number: int) -> str:
    return f"service-{number}"
