"""Events: one object in two groups, with fields of different names."""

from __future__ import annotations

from typing import Any

from tests.standalone.rest import Rest
from tests.standalone.widget import NAMESPACES


def _core(namespace: str) -> str:
    return f"{NAMESPACES}/{namespace}/events"


def _newer(namespace: str) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"


def core_event(name: str, namespace: str, about: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name},
        "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "name": about, "namespace": namespace},
        "reason": "Checked",
        "message": "all is well",
        "type": "Normal",
        "source": {"component": "tester"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
    }


def newer_event(name: str, namespace: str, about: str) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "name": about, "namespace": namespace},
        "reason": "Checked",
        "note": "all is well",
        "action": "Check",
        "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "example.com/tester",
        "reportingInstance": "tester-1",
    }


async def test_a_core_event_is_shown_in_the_newer_group(rest: Rest, namespace: str) -> None:
    (await rest.post(_core(namespace), core_event("one", namespace, "a"))).ok()
    shown = (await rest.get(f"{_newer(namespace)}/one")).ok()
    assert (shown["apiVersion"], shown["note"], shown["regarding"]["name"]) == ("events.k8s.io/v1", "all is well", "a")
    assert (shown["deprecatedCount"], shown["deprecatedSource"]) == (1, {"component": "tester"})


async def test_a_newer_event_is_shown_in_the_core_group(rest: Rest, namespace: str) -> None:
    (await rest.post(_newer(namespace), newer_event("one", namespace, "a"))).ok()
    (shown,) = (await rest.get(_core(namespace))).ok()["items"]
    assert (shown["message"], shown["involvedObject"]["name"], shown["action"]) == ("all is well", "a", "Check")
    assert shown["reportingComponent"] == "example.com/tester"


async def test_fields_select_events_of_either_group(rest: Rest, namespace: str) -> None:
    (await rest.post(_core(namespace), core_event("one", namespace, "a"))).ok()
    (await rest.post(_newer(namespace), newer_event("two", namespace, "a"))).ok()
    (await rest.post(_core(namespace), core_event("three", namespace, "b"))).ok()
    selector = "involvedObject.kind=ConfigMap,involvedObject.name=a"
    found = (await rest.get(_core(namespace), fieldSelector=selector)).ok()["items"]
    assert [item["metadata"]["name"] for item in found] == ["one", "two"]


async def test_a_watch_shows_events_of_either_group(rest: Rest, namespace: str) -> None:
    async with rest.watch(_core(namespace), fieldSelector="involvedObject.name=a") as stream:
        (await rest.post(_newer(namespace), newer_event("one", namespace, "a"))).ok()
        event_type, shown = await stream.next()
    assert (event_type, shown["apiVersion"], shown["message"]) == ("ADDED", "v1", "all is well")


async def test_an_event_lies_where_its_object_lies(rest: Rest, namespace: str) -> None:
    message = (await rest.post(_core(namespace), core_event("one", "elsewhere", "a"))).refused(422, "Invalid")
    assert 'involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace' in message
