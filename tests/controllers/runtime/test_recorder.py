from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from controllers.runtime.recorder import EventPolicy, EventRecorder, EventType
from kube.client import Client
from kube.object import ObjectReference
from tests.kube.fake_api import FakeApi, refuse
from tests.kube.virtual_loop import eventually

EVENTS = "/api/v1/events"
ZONE = ObjectReference("x.io/v1", "Zone", "team-a", "example", "uid-z")
CLASS = ObjectReference("x.io/v1", "ZoneClass", "team-a", "hosted", "uid-c")
PROVIDER = ObjectReference("x.io/v1", "Provider", "", "hosted")


def clock() -> datetime:
    return datetime(2024, 5, 1, tzinfo=UTC) + timedelta(seconds=asyncio.get_running_loop().time() - 5000)


@pytest.fixture
async def recorder(client: Client) -> AsyncIterator[EventRecorder]:
    found = EventRecorder(client, "composer", instance="pod-1", clock=clock)
    task = asyncio.create_task(found.run())
    yield found
    assert not task.done()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def events(api: FakeApi) -> list[dict[str, Any]]:
    return api.all(EVENTS)


def dropped(cause: str) -> float:
    return REGISTRY.get_sample_value("dns_api_events_dropped_total", {"cause": cause}) or 0.0


async def test_an_event_says_what_happened_to_what(api: FakeApi, recorder: EventRecorder) -> None:
    recorder.event(ZONE, EventType.WARNING, "ProviderConflict", "two zones have this name", related=CLASS)
    await eventually(lambda: events(api))
    (event,) = events(api)
    metadata = event.pop("metadata")
    assert (metadata["namespace"], metadata["name"].split(".")[0]) == ("team-a", "example")
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "x.io/v1",
            "kind": "Zone",
            "namespace": "team-a",
            "name": "example",
            "uid": "uid-z",
        },
        "related": {
            "apiVersion": "x.io/v1",
            "kind": "ZoneClass",
            "namespace": "team-a",
            "name": "hosted",
            "uid": "uid-c",
        },
        "type": "Warning",
        "reason": "ProviderConflict",
        "message": "two zones have this name",
        "count": 1,
        "firstTimestamp": event["firstTimestamp"],
        "lastTimestamp": event["firstTimestamp"],
        "source": {"component": "composer"},
        "reportingComponent": "composer",
        "reportingInstance": "pod-1",
    }
    assert event["firstTimestamp"].startswith("2024-05-01T00:00:0")


async def test_events_of_cluster_scoped_objects_go_to_the_default_namespace(
    api: FakeApi, recorder: EventRecorder
) -> None:
    recorder.event(PROVIDER, "Normal", "Accepted", "accepted")
    await eventually(lambda: events(api))
    (event,) = events(api)
    assert event["metadata"]["namespace"] == "default"
    assert event["involvedObject"] == {"apiVersion": "x.io/v1", "kind": "Provider", "name": "hosted"}


async def test_repeats_count_on_one_event(api: FakeApi, recorder: EventRecorder) -> None:
    for _ in range(3):
        recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: events(api))
    assert [event["count"] for event in events(api)] == [3]
    await asyncio.sleep(100)
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: events(api)[0]["count"] == 4)
    (event,) = events(api)
    assert event["firstTimestamp"].startswith("2024-05-01T00:00:0")
    assert event["lastTimestamp"].startswith("2024-05-01T00:01:4")
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served elsewhere")
    await eventually(lambda: len(events(api)) == 2)


async def test_a_repeat_after_a_long_time_is_a_new_event(api: FakeApi, recorder: EventRecorder) -> None:
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: len(events(api)) == 1)
    await asyncio.sleep(700)
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: len(events(api)) == 2)


async def test_a_repeat_of_an_expired_event_is_a_new_event(api: FakeApi, recorder: EventRecorder) -> None:
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: events(api))
    metadata = events(api)[0]["metadata"]
    api.remove(EVENTS, metadata["namespace"], metadata["name"])
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: events(api))
    assert events(api)[0]["count"] == 1


async def test_long_names_and_messages_are_cut_to_what_the_api_takes(api: FakeApi, recorder: EventRecorder) -> None:
    name = "a" * 235 + "." + "b" * 17
    recorder.event(ObjectReference("x.io/v1", "Zone", "ns", name), "Normal", "Accepted", "m" * 5000)
    await eventually(lambda: events(api))
    (event,) = events(api)
    assert len(event["metadata"]["name"]) <= 253
    assert ".." not in event["metadata"]["name"]
    assert event["involvedObject"]["name"] == name
    assert len(event["message"]) == 1024


async def test_one_noisy_object_does_not_drown_the_others(api: FakeApi, recorder: EventRecorder) -> None:
    before = dropped("too many about one object")
    for number in range(100):
        recorder.event(ZONE, EventType.NORMAL, "Changed", f"value {number}")
    recorder.event(CLASS, EventType.NORMAL, "Accepted", "accepted")
    await eventually(lambda: len(events(api)) == 26)
    await asyncio.sleep(10)
    assert len(events(api)) == 26
    assert dropped("too many about one object") == before + 75


async def test_events_that_cannot_be_kept_up_with_are_dropped(api: FakeApi, client: Client) -> None:
    policy = EventPolicy(waiting=10, rate_per_s=1.0, burst=1)
    recorder = EventRecorder(client, "composer", policy=policy)
    before = dropped("queue full")
    for number in range(50):
        recorder.event(ObjectReference("x.io/v1", "Zone", "ns", f"z{number}"), "Normal", "Accepted", "accepted")
    assert dropped("queue full") == before + 40
    start = asyncio.get_running_loop().time()
    task = asyncio.create_task(recorder.run())
    await eventually(lambda: len(events(api)) == 10)
    assert 8.9 < asyncio.get_running_loop().time() - start < 11
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_refusal_drops_the_event_and_nothing_else(api: FakeApi, recorder: EventRecorder) -> None:
    before = dropped("refused")
    api.fail_next(lambda: refuse(403, "Forbidden", "namespace is being terminated"))
    recorder.event(ZONE, EventType.NORMAL, "Accepted", "accepted")
    recorder.event(CLASS, EventType.NORMAL, "Accepted", "accepted")
    await eventually(lambda: events(api))
    assert [event["involvedObject"]["kind"] for event in events(api)] == ["ZoneClass"]
    assert dropped("refused") == before + 1


async def test_a_short_outage_loses_no_event_and_a_long_one_is_bounded(api: FakeApi, recorder: EventRecorder) -> None:
    heal = api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    recorder.event(ZONE, EventType.NORMAL, "Accepted", "accepted")
    await asyncio.sleep(2)
    heal()
    await eventually(lambda: events(api))
    before = dropped("api unavailable")
    api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    recorder.event(ZONE, EventType.NORMAL, "Programmed", "served")
    await eventually(lambda: dropped("api unavailable") == before + 1)


async def test_many_objects_are_remembered_up_to_a_bound(client: Client) -> None:
    recorder = EventRecorder(client, "composer", policy=EventPolicy(waiting=10))
    for number in range(20_000):
        recorder.event(ObjectReference("x.io/v1", "Zone", "ns", f"z{number}"), "Normal", "Accepted", "accepted")
    assert recorder.waiting == 10
