"""Large zones: their ledger and their snapshot stand in several objects, and a change in them writes no more than it has to."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from controllers.api.group import HOSTED_ZONES, LEASES, RECORD_SETS, ZONE_UNITS, ZONES
from controllers.runtime.recorder import EVENTS
from kube.client import Client
from kube.config import connect
from kube.object import ObjectKey
from kube.resource import ResourceRef
from tests.product.claim import ZONE, Claim, claim, zone, zone_class
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import EVERYTHING, Object, Stage
from tests.product.writes import every_resource, moment, writes_since

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

OBJECT_LIMIT_BYTES = 3 * 2**20 // 2
WRITERS = 16
LIMIT_S = 600.0
SETTLED_S = 5.0
QUIET_S = 60.0
SLACK = 60  # leases and events that are written while the watches begin and after they end
MEMORY_LIMIT_MB = 1500

Versions = dict[tuple[str, ObjectKey], str]


def claims(count: int) -> list[Claim]:
    return [_claim(number) for number in range(count)]


def _claim(number: int) -> Claim:
    owner = f"host-{number:05}"
    match number % 4:
        case 0:
            return claim(owner, "A", f"192.0.{number // 256 % 256}.{number % 256}", "198.51.100.1")
        case 1:
            return claim(owner, "TXT", f"{number:x}" * 60)
        case 2:
            return claim(owner, "CNAME", f"target-{number}.example.net")
    return claim(owner, "AAAA", f"2001:db8::{number:x}")


@pytest.mark.parametrize(
    ("count", "parts", "pages"), [(5_300, 4, 2), pytest.param(20_000, 14, 4, marks=pytest.mark.endurance)]
)
async def test_a_large_zone_is_programmed_and_a_change_writes_little(
    fragile: Product, count: int, parts: int, pages: int
) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        every = claims(count)
        await _publish(stage, every)
        print(f"{count} record sets: {_memory_mb(fragile)} MB")
        assert _memory_mb(fragile) < MEMORY_LIMIT_MB
        for ref in EVERYTHING:
            assert await _largest_bytes(stage, ref) < OBJECT_LIMIT_BYTES
        assert len(await stage.names(ZONE_UNITS)) >= parts
        assert len(await stage.names(HOSTED_ZONES)) > pages
        stage.assert_answered(every[:: count // 50])

        await _until_settled(client)
        for number in (0, count // 2, count - 1):
            await _hold_a_change(stage, _edited(every[number]))
        await _hold_the_quiet(client)


async def _publish(stage: Stage, every: list[Claim]) -> None:
    """Make a zone of many claims, by several writers at a time."""
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    remaining = iter(every)

    async def write() -> None:
        for each in remaining:
            manifest = each.manifest()
            manifest["metadata"]["namespace"] = stage.namespace
            await stage.client.create(RECORD_SETS, manifest)

    async with asyncio.TaskGroup() as writers:
        for _ in range(WRITERS):
            writers.create_task(write())
    await stage.until_all_programmed(RECORD_SETS, (each.name for each in every), LIMIT_S)
    await stage.until_all_programmed(ZONES, [ZONE])


async def _hold_a_change(stage: Stage, edited: Claim) -> None:
    """Publish an edit and hold what was written for it: its claim, the part that holds it, the manifest and one page."""
    before = await _versions(stage.client)
    await stage.publish(edited)
    stage.assert_answered([edited])
    await _until_settled(stage.client)
    after = await _versions(stage.client)
    written = {each for each in before.keys() | after.keys() if before.get(each) != after.get(each)}
    kinds = Counter(kind for kind, _ in written)
    snapshot = ("HostedZone", ObjectKey(stage.namespace, ZONE))
    assert written >= {("RecordSet", ObjectKey(stage.namespace, edited.name)), snapshot}
    assert kinds == {"RecordSet": 1, "ZoneUnit": 1, "HostedZone": 3}, written
    came, went = after.keys() - before.keys(), before.keys() - after.keys()
    assert [kind for kind, _ in came | went] == ["HostedZone"] * 2, "one page took the place of another"
    assert (len(came), len(went)) == (1, 1)


async def _hold_the_quiet(client: Client) -> None:
    """Count the writes of a while by the API's own counter, its version: leases and late events account for all of them."""
    others = [LEASES, EVENTS]
    begin = await _version(client)
    everything = await moment(client, [*await _all_but_events(client), *others])
    written = await writes_since(client, everything, QUIET_S)
    end = await _version(client)
    expected = {ref.kind for ref in others}
    assert {kind for kind, _ in written} <= expected, written
    counted = sum(written.values())
    assert end - begin - counted in range(SLACK), f"the API counts {end - begin} writes, its watches showed {counted}"


async def _version(client: Client) -> int:
    """The API's version, which each write of any resource moves by one."""
    return int((await client.list(ZONES)).resource_version)


async def _until_settled(client: Client) -> None:
    """Wait until nothing is written for some seconds."""
    async with asyncio.timeout(LIMIT_S):
        while await writes_since(client, await moment(client, EVERYTHING), SETTLED_S):
            pass


async def _versions(client: Client) -> Versions:
    """The version of every object."""
    found: Versions = {}
    for ref in await _all_but_events(client):
        for obj in (await client.list(ref)).items:
            found[ref.kind, ObjectKey.parse(obj)] = obj["metadata"]["resourceVersion"]
    return found


async def _all_but_events(client: Client) -> list[ResourceRef]:
    """Events of thousands of claims come out at a bounded rate, long after all is as it should be."""
    return [ref for ref in await every_resource(client) if ref.kind != EVENTS.kind]


async def _largest_bytes(stage: Stage, ref: ResourceRef) -> int:
    listing = await stage.client.list(ref, namespace=stage.namespace)
    return max(map(_size_bytes, listing.items))


def _size_bytes(obj: Object) -> int:
    return len(json.dumps(obj, separators=(",", ":"), ensure_ascii=False).encode())


def _edited(each: Claim) -> Claim:
    return Claim(each.owner, each.type, each.values, each.ttl + 1)


def _memory_mb(product: Product) -> int:
    """The resident memory of the product's process."""
    lines: Iterator[str] = iter(Path(f"/proc/{product.pid}/status").read_text(encoding="ascii").splitlines())
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) // 1024
