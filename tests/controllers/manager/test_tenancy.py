"""A tenant who means harm: others are answered all the same, and soon.

Bounds of work are counted elsewhere; the clock here is a last guard, generous enough for a machine that is busy with other things.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from controllers.api.group import NAMESPACES, PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.core.admission.provider import validate_provider
from controllers.core.admission.record_grant import PATTERN_LIMIT, PROGRAM_LIMIT
from controllers.core.pattern import Pattern
from kube.object import ObjectKey
from tests.controllers.core.admission.build import Manifest, provider, record_set, zone, zone_class
from tests.controllers.core.admission.test_handler import review
from tests.controllers.core.admission.test_hostile import HUGE, put
from tests.controllers.manager.world import World, until
from tests.server.process import free_port

RECORD_SETS_PATH = "/validate/dns.appthrust.io/v1alpha1/recordsets"
PATHS = {
    "judge_record_set": (RECORD_SETS_PATH, "recordsets"),
    "judge_zone": ("/validate/dns.appthrust.io/v1alpha1/zones", "zones"),
    "judge_zone_class": ("/validate/dns.appthrust.io/v1alpha1/zoneclasses", "zoneclasses"),
    "validate_provider": ("/validate/dns.appthrust.io/v1alpha1/providers", "providers"),
}
GUARD_S = 15.0
GUESTS = 200


@asynccontextmanager
async def honest(world: World, port: int) -> AsyncIterator[list[float]]:
    """Somebody who asks about right claims all the while; yields how long each answer took."""
    taken: list[float] = []
    question = review("recordsets", "CREATE", record_set())

    async def ask() -> None:
        while True:
            started = time.monotonic()
            status, body = await world.post(port, RECORD_SETS_PATH, question)
            taken.append(time.monotonic() - started)
            assert (status, b'"allowed":true' in body) == (200, True)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(ask())
        yield taken
        task.cancel()


async def test_huge_objects_hold_nobody_up(world: World) -> None:
    port = free_port()
    await world.start_manager(port)
    hostile = []
    for name, (judge, manifest, path, value) in HUGE.items():
        if judge.__name__ in PATHS and "deep" not in name:
            put(manifest, path, value)
            address, plural = PATHS[judge.__name__]
            hostile.append((address, review(plural, "CREATE", manifest)))

    async with honest(world, port) as taken:
        for address, question in hostile:
            started = time.monotonic()
            status, body = await world.post(port, address, question)
            assert time.monotonic() - started < GUARD_S
            assert status == 200
            assert len(body) < 200_000
        await until_asked(taken, 10)

    assert max(taken) < GUARD_S


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 4_000_000,
        b'{"apiVersion":' + b'{"a":' * 1_000_000,
        b'{"apiVersion":"' + b"\\u0000" * 1_000_000 + b'"}',
        b"x" * 9_000_000,
    ],
    ids=["lists in lists", "objects in objects", "one long text", "larger than allowed"],
)
async def test_bodies_that_are_no_reviews_hold_nobody_up(world: World, body: bytes) -> None:
    port = free_port()
    await world.start_manager(port)

    async with honest(world, port) as taken:
        started = time.monotonic()
        status, _ = await world.send(port, RECORD_SETS_PATH, body)
        assert time.monotonic() - started < GUARD_S
        assert status in (400, 413)
        await until_asked(taken, 3)

    assert max(taken) < GUARD_S


async def test_senders_that_never_end_hold_nobody_up(world: World) -> None:
    """More of them than requests are answered at a time: none counts before its body is there."""
    port = free_port()
    await world.start_manager(port)
    context = world.authority.client_context()
    head = f"POST {RECORD_SETS_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    writers = []
    for _ in range(48):
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
        writer.write(head.encode())
        await writer.drain()
        writers.append(writer)

    async with honest(world, port) as taken:
        await until_asked(taken, 10)
    for writer in writers:
        writer.transport.abort()

    assert max(taken) < GUARD_S


async def test_the_heaviest_patterns_hold_nobody_up(world: World) -> None:
    """The manager that leads judges two hundred guests under as many slow patterns as a Zone may have, and answers meanwhile."""
    port = free_port()
    await world.start_manager(port)
    world.call_webhooks(port)
    for name, labels in (("platform", {}), ("app", {"team": "web"}), ("guest", {"team": "web"})):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        await world.client.apply(NAMESPACES, namespace, manager="test")
    await create(world, zone_class())
    await accept_class(world)
    pattern = "(a?){200}.*b"
    count = min(PATTERN_LIMIT, PROGRAM_LIMIT // Pattern(pattern).size)
    await create(
        world, zone({"spec.allowedRecordSets.0.records": [{"name": {"pattern": pattern}, "types": ["A"]}] * count})
    )
    for number in range(GUESTS):
        name = f"{'a' * 60}.{'a' * 60}.{'a' * 60}.a{number}"
        changes = {"metadata.namespace": "guest", "metadata.name": f"guest-{number}", "spec.name": name}
        await create(world, record_set("A", {**changes, "spec.zoneRef.namespace": "app"}))

    async with honest(world, port) as taken:
        # Every new state of the Zone has all guests judged again.
        for round_ in range(2):
            adoption = {"spec": {"adoption": {"zoneID": f"{round_:04x}"}}}
            await world.client.patch_merge(ZONES, adoption, namespace="app", name="example")
            await until_asked(taken, 20)

        async def all_refused() -> bool:
            found = await world.client.list(RECORD_SETS, namespace="guest")
            return all(reason_of(each) == "NotAllowedByZone" for each in found.items)

        await until(all_refused)

    assert max(taken) < GUARD_S


async def test_the_heaviest_rules_that_a_provider_may_have_hold_nobody_up(world: World) -> None:
    rule = {"rule": "self.spec.?txt.?values.orValue([]).all(v, v.matches('(a?){20}.*b') || true)", "message": "m"}
    rules = 1
    while not validate_provider(heavy(rule, rules + 1)):
        rules += 1
    installed = heavy(rule, rules)
    await world.client.patch_merge(PROVIDERS, {"spec": installed["spec"]}, name=installed["metadata"]["name"])
    port = free_port()
    await world.start_manager(port)
    values = [f"{number:04}{'a' * 3_990}" for number in range(250)]
    question = review("recordsets", "CREATE", record_set("TXT", {"spec.txt.values": values}))

    async with honest(world, port) as taken:
        started = time.monotonic()
        status, _ = await world.post(port, RECORD_SETS_PATH, question)
        assert time.monotonic() - started < GUARD_S
        assert status == 200
        await until_asked(taken, 3)

    assert rules > 1
    assert max(taken) < GUARD_S


def heavy(rule: dict[str, str], count: int) -> Manifest:
    return provider({"spec.versions.0.recordSet.validationRules": [rule] * count})


async def until_asked(taken: list[float], more: int) -> None:
    goal = len(taken) + more

    async def asked() -> bool:
        return len(taken) >= goal

    await until(asked)


async def create(world: World, content: Manifest) -> None:
    kinds = {"domainName": ZONES, "zoneRef": RECORD_SETS, "controllerName": ZONE_CLASSES}
    ref = next(ref for field, ref in kinds.items() if field in content["spec"])
    metadata = {name: value for name, value in content["metadata"].items() if name != "generation"}
    await world.client.create(ref, {"apiVersion": ref.api_version, "kind": ref.kind, **content, "metadata": metadata})


async def accept_class(world: World) -> None:
    """Say what the provider's controller would."""
    found = await world.client.get(ZONE_CLASSES, namespace="platform", name="edge")
    key = ObjectKey.parse(found)
    condition = {
        "type": "Accepted",
        "status": "True",
        "reason": "Accepted",
        "message": "",
        "observedGeneration": found["metadata"]["generation"],
        "lastTransitionTime": "2026-11-30T00:00:00Z",
    }
    await world.client.patch_merge(
        ZONE_CLASSES,
        {"status": {"conditions": [condition]}},
        namespace=key.namespace,
        name=key.name,
        subresource="status",
    )


def reason_of(claim: Manifest) -> str:
    conditions = claim.get("status", {}).get("conditions", ())
    return next((each["reason"] for each in conditions if each["type"] == "Accepted"), "")
