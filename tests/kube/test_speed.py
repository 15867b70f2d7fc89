"""Bounds on processor time, several times over what an idle machine needs: they catch accidents of order, not noise."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectMeta
from kube.resource import ResourceRef
from kube.store import Change
from tests.kube.fake_api import FakeApi
from tests.kube.virtual_loop import eventually

THINGS = ResourceRef("x.io", "v1", "things", "Thing")
COLLECTION = "/apis/x.io/v1/things"
COUNT = 5000


def thing(number: int) -> dict[str, Any]:
    """About 1 KB, like a claim with its status and managed fields."""
    return {
        "apiVersion": "x.io/v1",
        "kind": "Thing",
        "metadata": {
            "namespace": f"team-{number % 5}",
            "name": f"thing-{number}",
            "generation": 1,
            "labels": {"app": "tested"},
            "finalizers": ["x.io/cleanup"],
            "managedFields": [{"manager": "kubectl", "fieldsV1": {f"f:field-{n}": {} for n in range(15)}}],
        },
        "spec": {"name": f"www-{number}", "type": "A", "ttl": 300, "a": {"addresses": ["192.0.2.1"]}},
        "status": {
            "conditions": [{"type": kind, "status": "True", "reason": kind} for kind in ("Accepted", "Programmed")]
        },
    }


def decode(obj: Mapping[str, Any]) -> tuple[ObjectMeta, str]:
    return ObjectMeta.parse(obj), obj["spec"]["name"]


async def test_five_thousand_objects_are_listed_quickly(api: FakeApi, client: Client) -> None:
    for number in range(COUNT):
        api.put(COLLECTION, thing(number))
    started = time.process_time()
    listing = await client.list(THINGS)
    assert len(listing.items) == COUNT
    assert time.process_time() - started < 1.0  # the fake server's part included


async def test_an_event_costs_less_than_a_tenth_of_a_millisecond(api: FakeApi, client: Client) -> None:
    informer = Informer(client, THINGS, decode)
    informer.add_index("namespace", lambda value: [value[0].namespace])
    told = 0
    all_told = asyncio.Event()

    def note(change: Change[tuple[ObjectMeta, str]]) -> None:
        nonlocal told
        told += 1
        if told == COUNT:
            all_told.set()

    informer.subscribe(note)
    task = asyncio.create_task(informer.run())
    await eventually(lambda: api.watching == 1)

    events = []
    for number in range(COUNT):
        obj = thing(number)
        obj["metadata"] |= {"uid": f"u{number}", "resourceVersion": str(1000 + number)}
        events.append(orjson.dumps({"type": "ADDED", "object": obj}) + b"\n")
    started = time.process_time()
    for event in events:
        orjson.loads(event)
    decoding_s = time.process_time() - started

    started = time.process_time()
    api.send_raw(b"".join(events))
    await all_told.wait()
    spent_s = time.process_time() - started - decoding_s
    assert spent_s / COUNT < 100e-6
    assert len(informer.by_index("namespace", "team-3")) == COUNT // 5

    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
