"""How long an API server waits for the admission of a RecordSet, under a Provider with many rules, over TLS.

python -m bench admission
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
import orjson
import uvloop

from bench.edge_provider import REF, provider
from bench.figure import Figure, median, percentile
from bench.product import Product, running
from bench.webhook import Webhook, serving
from controllers.api.group import API_VERSION, PROVIDERS, RECORD_SETS, ZONES
from kube.client import Client
from kube.config import connect

IN_FLIGHT: Final = 8
WARM_UP: Final = 400
REVIEWS: Final = 8_000
P99_MS: Final = 20.0
ZONE: Final = {"namespace": "default", "name": "edge"}
REFUSED_SHARE: Final = 0.1

_PATH: Final = f"/validate/{RECORD_SETS.group}/{RECORD_SETS.version}/{RECORD_SETS.plural}"


@dataclass(slots=True)
class Outcome:
    """What the callers saw."""

    latencies_s: list[float] = field(default_factory=list)
    refused: int = 0


def measure() -> Iterator[Figure]:
    """Yield the latencies of reviews, eight at a time."""
    with running() as product, serving(product) as webhook:
        outcome, duration_s = uvloop.run(_load(product, webhook))
    if not 0 < outcome.refused < REVIEWS:
        raise RuntimeError(f"{outcome.refused} of {REVIEWS} reviews were refused; what was measured is not admission")
    what = f"admission of a RecordSet, {IN_FLIGHT} in flight over TLS"
    yield Figure(f"{what}: p50", 1000 * median(outcome.latencies_s), "ms")
    yield Figure(f"{what}: p99", 1000 * percentile(outcome.latencies_s, 0.99), "ms", P99_MS)
    yield Figure(f"{what}: slowest", 1000 * max(outcome.latencies_s), "ms")
    yield Figure(f"{what}: reviews in a second", REVIEWS / duration_s, "/s")


async def _load(product: Product, webhook: Webhook) -> tuple[Outcome, float]:
    async with connect(product.kubeconfig) as client:
        await _prepare(client)
    connector = aiohttp.TCPConnector(ssl=webhook.trust, limit=IN_FLIGHT)
    async with aiohttp.ClientSession(f"https://localhost:{webhook.port}", connector=connector) as session:
        await _until_known(session)
        await _ask_all(session, [_review(number) for number in range(WARM_UP)])
        bodies = [_review(number) for number in range(WARM_UP, WARM_UP + REVIEWS)]
        started = time.perf_counter()
        outcome = await _ask_all(session, bodies)
        return outcome, time.perf_counter() - started


async def _prepare(client: Client) -> None:
    spec = {"domainName": "edge.bench.test", "zoneClassRef": {"name": "edge"}, "provider": REF}
    await client.create(PROVIDERS, provider())
    await client.create(ZONES, {"apiVersion": API_VERSION, "kind": "Zone", "metadata": ZONE, "spec": spec})


async def _until_known(session: aiohttp.ClientSession) -> None:
    """The manager follows the API a little behind; what it has not seen yet it looks up each time."""
    await asyncio.sleep(1.0)
    await _ask(session, _review(0), Outcome())


async def _ask_all(session: aiohttp.ClientSession, bodies: list[bytes]) -> Outcome:
    outcome, left = Outcome(), iter(bodies)

    async def caller() -> None:
        for body in left:
            await _ask(session, body, outcome)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(IN_FLIGHT):
            tasks.create_task(caller())
    return outcome


async def _ask(session: aiohttp.ClientSession, body: bytes, outcome: Outcome) -> None:
    started = time.perf_counter()
    async with session.post(_PATH, data=body, headers={"Content-Type": "application/json"}) as answer:
        text = await answer.read()
        outcome.latencies_s.append(time.perf_counter() - started)
        answer.raise_for_status()
    outcome.refused += not orjson.loads(text)["response"]["allowed"]


def _review(number: int) -> bytes:
    claim = _claim(number, random.Random(number))
    kind = {"group": RECORD_SETS.group, "version": RECORD_SETS.version, "kind": RECORD_SETS.kind}
    request = {
        "uid": f"00000000-0000-4000-8000-{number:012x}",
        "kind": kind,
        "operation": "CREATE",
        "namespace": "default",
        "name": claim["metadata"]["name"],
        "object": claim,
        "oldObject": None,
        "dryRun": False,
    }
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})


def _claim(number: int, chance: random.Random) -> dict[str, Any]:
    record_type, body = chance.choice(_BODIES)
    proxied = record_type in {"A", "AAAA", "CNAME"} and chance.random() < 0.5
    options: dict[str, Any] = {"comment": f"record {number}", "tags": [f"team:t{each}" for each in range(4)]}
    spec = {"zoneRef": {"name": ZONE["name"]}, "provider": REF, "type": record_type, "name": f"host-{number}", **body}
    if proxied:
        options |= {"ttl": "Auto", "proxied": True}
    else:
        spec["ttl"] = 300
    if chance.random() < REFUSED_SHARE:
        options["tags"].append("TEAM:T0")
    spec["options"] = options
    metadata = {"namespace": "default", "name": f"claim-{number}", "generation": 1, "labels": {"app": "bench"}}
    return {"apiVersion": API_VERSION, "kind": "RecordSet", "metadata": metadata, "spec": spec}


_BODIES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("A", {"a": {"addresses": ["192.0.2.1", "192.0.2.2", "192.0.2.3"]}}),
    ("AAAA", {"aaaa": {"addresses": ["2001:db8::1", "2001:db8::2"]}}),
    ("CNAME", {"cname": {"target": "www.example.net"}}),
    ("TXT", {"txt": {"values": ["v=spf1 include:_spf.example.net -all", "x" * 400]}}),
    ("MX", {"mx": {"records": [{"preference": each, "exchange": f"mx{each}.example.net"} for each in (10, 20)]}}),
)
