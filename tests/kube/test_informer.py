"""The informer against a server that forgets, breaks, stalls and restarts (Kubernetes API concepts, "Efficient
detection of changes" and "410 Gone responses")."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from kube.backoff import Backoff
from kube.client import Client
from kube.informer import Informer, WatchPolicy
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.store import Change
from tests.kube.fake_api import FakeApi, refuse
from tests.kube.virtual_loop import eventually

THINGS = ResourceRef("x.io", "v1", "things", "Thing")
COLLECTION = "/apis/x.io/v1/things"
POLICY = WatchPolicy(
    shortest_s=300,
    longest_s=400,
    idle_timeout_s=100,
    page_limit=3,
    backoff=Backoff(first_s=0.1, base_s=0.2, cap_s=10.0),
)


def thing(name: str, size: object = 1, namespace: str = "ns") -> dict[str, Any]:
    return {"kind": "Thing", "metadata": {"namespace": namespace, "name": name}, "spec": {"size": size}}


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def decode(obj: Mapping[str, Any]) -> int:
    size = obj["spec"]["size"]
    if not isinstance(size, int):
        raise ValueError(f"spec.size: found {size!r}, an integer is required")
    return size


@dataclass
class Follower:
    """An informer and everything it ever told."""

    informer: Informer[int]
    changes: list[Change[int]] = field(default_factory=list)
    sizes_seen: set[int] = field(default_factory=set)

    def note(self, change: Change[int]) -> None:
        self.changes.append(change)
        self.sizes_seen.add(len(self.informer))

    def taken(self) -> list[tuple[str, int | None, int | None]]:
        """What was told since the last call: name, old, new."""
        told = [(change.key.name, change.old, change.new) for change in self.changes]
        self.changes.clear()
        return told

    @property
    def state(self) -> dict[str, int]:
        return {found.name: value for found, value in self.informer.items()}


@asynccontextmanager
async def following(client: Client, *, wait: bool = True, **options: Any) -> AsyncIterator[Follower]:
    follower = Follower(Informer(client, THINGS, decode, policy=POLICY, **options))
    follower.informer.add_index("parity", lambda size: ["odd" if size % 2 else "even"])
    follower.informer.subscribe(follower.note)
    task = asyncio.create_task(follower.informer.run())
    try:
        if wait:
            await asyncio.wait(
                {task, asyncio.create_task(follower.informer.synced.wait())}, return_when="FIRST_COMPLETED"
            )
            assert not task.done()
        yield follower
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def follower(api: FakeApi, client: Client) -> AsyncIterator[Follower]:
    """Follows a, b and c from a list at some version, with a watch open."""
    for name in "abc":
        api.put(COLLECTION, thing(name))
    async with following(client) as found:
        await eventually(lambda: api.watching == 1)
        found.taken()
        yield found


def lists(api: FakeApi) -> int:
    return sum(request.is_list and "continue" not in request.query for request in api.requests)


def watch_versions(api: FakeApi) -> list[str]:
    return [request.query["resourceVersion"] for request in api.requests if request.is_watch]


async def test_first_listing_is_stored_and_told_before_synced(api: FakeApi, client: Client) -> None:
    for number in range(7):
        api.put(COLLECTION, thing(f"t{number}", number))
    async with following(client) as follower:
        assert sorted(follower.taken()) == [(f"t{number}", None, number) for number in range(7)]
        assert follower.informer.get(key("t3")) == 3
        assert follower.informer.get(key("none")) is None
        assert follower.sizes_seen == {7}  # whoever is told sees all of it
        assert sorted(follower.informer.by_index("parity", "odd")) == [1, 3, 5]
        assert sorted(follower.informer.keys_by_index("parity", "even"))[0] == key("t0")
        assert follower.informer.by_index("parity", "neither") == []


async def test_a_first_listing_that_fails_is_told(api: FakeApi, client: Client) -> None:
    back = api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    async with following(client, wait=False) as follower:
        await follower.informer.attempted.wait()
        assert not follower.informer.synced.is_set()
        back()
        await follower.informer.synced.wait()


async def test_an_empty_resource_is_synced_too(api: FakeApi, client: Client) -> None:
    async with following(client) as follower:
        assert follower.state == {}
        assert follower.taken() == []


async def test_changes_are_followed(api: FakeApi, follower: Follower) -> None:
    api.put(COLLECTION, thing("d", 4))
    api.put(COLLECTION, thing("a", 2))
    api.remove(COLLECTION, "ns", "b")
    await eventually(lambda: len(follower.changes) == 3)
    assert follower.taken() == [("d", None, 4), ("a", 1, 2), ("b", 1, None)]
    assert follower.state == {"a": 2, "c": 1, "d": 4}
    assert sorted(follower.informer.keys_by_index("parity", "even")) == [key("a"), key("d")]
    assert lists(api) == 1


Expiry = Callable[[FakeApi], None]


def expire_in_stream(api: FakeApi) -> None:
    api.compact()
    api.expire_in_stream()


def expire_by_status(api: FakeApi) -> None:
    api.put("/apis/x.io/v1/others", thing("z"))  # the history goes on without an event of ours
    api.compact()
    api.cut_watches()


@pytest.mark.parametrize("expire", [expire_in_stream, expire_by_status])
async def test_expired_history_is_bridged_by_a_diff(api: FakeApi, follower: Follower, expire: Expiry) -> None:
    undo = api.fault(lambda request: web.Response(status=500) if request.is_list else None)
    version_before = watch_versions(api)[-1]
    expire(api)
    await eventually(lambda: lists(api) > 1)
    # nothing of this is seen: the listing that would replace the history fails for a while
    api.remove(COLLECTION, "ns", "b")
    api.put(COLLECTION, thing("c", 3))
    api.put(COLLECTION, thing("d", 4))
    api.compact()
    await eventually(lambda: lists(api) > 3)
    assert follower.state == {"a": 1, "b": 1, "c": 1}
    undo()
    await eventually(lambda: len(follower.changes) == 3)
    assert follower.taken() == [("b", 1, None), ("c", 1, 3), ("d", None, 4)]
    assert follower.sizes_seen == {3}
    await eventually(lambda: watch_versions(api)[-1] > version_before and api.watching == 1)
    assert watch_versions(api)[-1] == api.stored(COLLECTION, "ns", "d")["metadata"]["resourceVersion"]
    api.put(COLLECTION, thing("a", 9))
    await eventually(lambda: follower.taken() == [("a", 1, 9)])


async def test_a_history_that_always_expires_is_no_hot_loop(api: FakeApi, client: Client) -> None:
    api.put(COLLECTION, thing("a"))
    api.fault(lambda request: refuse(410, "Expired") if request.is_watch else None)
    async with following(client) as follower:
        await asyncio.sleep(600)
        assert 30 < lists(api) < 130
        assert follower.taken() == [("a", None, 1)]


async def test_a_server_that_ends_watches_at_once_is_no_hot_loop(api: FakeApi, client: Client) -> None:
    api.fault(lambda request: web.Response() if request.is_watch else None)
    async with following(client):
        await asyncio.sleep(600)
        assert 30 < len(watch_versions(api)) < 130
        assert lists(api) == 1


async def test_a_cut_watch_goes_on_where_it_was(api: FakeApi, follower: Follower) -> None:
    api.put(COLLECTION, thing("a", 2))
    await eventually(lambda: follower.taken() == [("a", 1, 2)])
    api.cut_watches()
    api.put(COLLECTION, thing("b", 5))
    await eventually(lambda: follower.taken() == [("b", 1, 5)])
    assert lists(api) == 1
    assert watch_versions(api)[-1] == api.stored(COLLECTION, "ns", "a")["metadata"]["resourceVersion"]


async def test_silence_is_ended_by_its_timeout_without_a_new_listing(api: FakeApi, follower: Follower) -> None:
    loop = asyncio.get_running_loop()
    before = loop.time()
    await eventually(lambda: len(watch_versions(api)) == 2, timeout_s=200)
    assert 95 < loop.time() - before < 110
    api.put(COLLECTION, thing("a", 2))
    await eventually(lambda: follower.taken() == [("a", 1, 2)])
    assert lists(api) == 1


async def test_bookmarks_move_the_point_to_resume_from(api: FakeApi, follower: Follower) -> None:
    api.put("/apis/x.io/v1/others", thing("z"))  # moves the version without an event of ours
    api.compact()
    api.bookmark()
    await asyncio.sleep(1)
    api.cut_watches()
    await eventually(lambda: len(watch_versions(api)) == 2 and api.watching == 1)
    assert lists(api) == 1
    assert follower.taken() == []


async def test_watches_are_renewed_for_ever(api: FakeApi, follower: Follower) -> None:
    for _ in range(40):
        await asyncio.sleep(50)
        api.bookmark()
    assert 4 <= len(watch_versions(api)) <= 8  # 2000 s in watches of 300 to 400 s
    assert {int(request.query["timeoutSeconds"]) for request in api.requests if request.is_watch} <= set(
        range(300, 401)
    )
    assert lists(api) == 1


async def test_an_absent_server_is_waited_for_with_back_off(api: FakeApi, follower: Follower) -> None:
    port = api.port
    await api.stop()
    await asyncio.sleep(3600)
    assert follower.informer.contact_age_s() > 3590
    assert follower.state == {"a": 1, "b": 1, "c": 1}
    api.put(COLLECTION, thing("a", 2))
    await api.start(port)
    back = asyncio.get_running_loop().time()
    await eventually(lambda: follower.taken() == [("a", 1, 2)])
    assert asyncio.get_running_loop().time() - back < 11
    assert follower.informer.contact_age_s() < 1


async def test_contact_age_tells_how_current_the_copy_is(api: FakeApi, client: Client) -> None:
    silent = api.fault(lambda request: web.Response(status=503))
    async with following(client, wait=False) as follower:
        await asyncio.sleep(30)
        assert follower.informer.contact_age_s() == math.inf
        silent()
        await follower.informer.synced.wait()
        await asyncio.sleep(40)
        assert 39 < follower.informer.contact_age_s() < 41
        api.bookmark()
        await asyncio.sleep(1)
        assert 0.9 < follower.informer.contact_age_s() < 1.1


async def test_retry_after_is_obeyed(api: FakeApi, client: Client) -> None:
    api.fail_next(lambda: refuse(429, "TooManyRequests", headers={"Retry-After": "120"}))
    async with following(client, wait=False) as follower:
        await asyncio.sleep(115)
        assert len(api.requests) == 1
        await follower.informer.synced.wait()


async def test_a_listing_that_fails_half_way_changes_nothing(api: FakeApi, follower: Follower) -> None:
    api.put(COLLECTION, thing("d", 4))
    api.put(COLLECTION, thing("e", 5))
    await eventually(lambda: len(follower.changes) == 2)
    follower.taken()
    undo = api.fault(lambda request: web.Response(status=502) if "continue" in request.query else None)
    expire_in_stream(api)
    await eventually(lambda: lists(api) > 4)
    assert follower.taken() == []
    assert len(follower.state) == 5
    undo()
    await eventually(lambda: api.watching == 1)
    assert follower.taken() == []


async def test_a_listing_that_expires_between_pages_is_made_in_one_piece(api: FakeApi, client: Client) -> None:
    for number in range(7):
        api.put(COLLECTION, thing(f"t{number}", number))
    api.fault(lambda request: refuse(410, "Expired") if "continue" in request.query else None)
    async with following(client) as follower:
        assert len(follower.state) == 7
        assert [request.query.get("limit") for request in api.requests if request.is_list] == ["3", "3", None]


def shown_undecodable() -> float | None:
    return REGISTRY.get_sample_value("dns_api_informer_undecodable_objects", {"resource": "things.x.io"})


async def test_what_cannot_be_decoded_is_unknown_but_not_gone(api: FakeApi, follower: Follower) -> None:
    api.put(COLLECTION, thing("a", "broken"))
    api.put(COLLECTION, thing("n", "broken"))
    api.put(COLLECTION, thing("b", 2))
    await eventually(lambda: follower.taken() == [("b", 1, 2)])
    fault = "spec.size: found 'broken', an integer is required"
    assert follower.informer.undecodable == {key("a"): fault, key("n"): fault}
    assert shown_undecodable() == 2
    assert follower.state == {"a": 1, "b": 2, "c": 1}

    expire_in_stream(api)
    await eventually(lambda: lists(api) == 2 and api.watching == 1)
    assert follower.taken() == []
    assert follower.informer.undecodable == {key("a"): fault, key("n"): fault}
    assert shown_undecodable() == 2

    api.put(COLLECTION, thing("a", 3))
    api.remove(COLLECTION, "ns", "n")
    await eventually(lambda: follower.taken() == [("a", 1, 3)])
    await eventually(lambda: not follower.informer.undecodable)
    assert shown_undecodable() == 0


async def test_an_undecodable_object_that_is_deleted_is_gone(api: FakeApi, follower: Follower) -> None:
    api.put(COLLECTION, thing("a", "broken"))
    api.remove(COLLECTION, "ns", "a")
    await eventually(lambda: follower.taken() == [("a", 1, None)])


async def test_a_recreated_object_is_a_change(api: FakeApi, follower: Follower) -> None:
    undo = api.fault(lambda request: web.Response(status=500) if request.is_watch else None)
    api.cut_watches()
    await eventually(lambda: api.watching == 0)
    api.remove(COLLECTION, "ns", "a")
    api.put(COLLECTION, thing("a", 7))
    api.compact()
    undo()
    await eventually(lambda: follower.taken() == [("a", 1, 7)])


async def test_doubled_events_are_told_once(api: FakeApi, follower: Follower) -> None:
    stored = api.put(COLLECTION, thing("a", 2))
    api.send("MODIFIED", stored)
    api.send("ADDED", stored)
    api.put(COLLECTION, thing("b", 2))
    await eventually(lambda: len(follower.changes) == 2)
    assert follower.taken() == [("a", 1, 2), ("b", 1, 2)]


async def test_a_server_that_lost_its_data_is_read_anew(api: FakeApi, follower: Follower) -> None:
    port = api.port
    await api.stop()
    api.wipe()
    api.put(COLLECTION, thing("a", 8))
    await api.start(port)
    await eventually(lambda: api.watching == 1)
    api.bookmark()  # its version is lower than where the watch began
    await eventually(lambda: len(follower.changes) == 3)
    assert follower.taken() == [("b", 1, None), ("c", 1, None), ("a", 1, 8)]


async def test_objects_without_identity_break_the_watch_and_nothing_else(api: FakeApi, follower: Follower) -> None:
    api.send("ADDED", {"metadata": {"resourceVersion": "999"}})
    await eventually(lambda: len(watch_versions(api)) == 2 and api.watching == 1)
    api.send_raw(b"not json\n")
    await eventually(lambda: len(watch_versions(api)) == 3 and api.watching == 1)
    api.put(COLLECTION, thing("a", 2))
    await eventually(lambda: follower.taken() == [("a", 1, 2)])
    assert lists(api) == 1


async def test_a_failing_subscriber_does_not_keep_the_others_from_following(api: FakeApi, follower: Follower) -> None:
    def failing(change: Change[int]) -> None:
        raise RuntimeError("a fault of the subscriber")

    follower.informer.subscribe(failing)
    late = Follower(follower.informer)
    follower.informer.subscribe(late.note)
    assert sorted(late.taken()) == [("a", None, 1), ("b", None, 1), ("c", None, 1)]
    api.put(COLLECTION, thing("a", 2))
    await eventually(lambda: late.taken() == [("a", 1, 2)])
    assert follower.taken() == [("a", 1, 2)]


async def test_scope_is_passed_on_to_every_request(api: FakeApi, client: Client) -> None:
    async with following(client, namespace="ns", label_selector="a=b", field_selector="metadata.name=a"):
        await eventually(lambda: api.watching == 1)
    assert [request.path for request in api.requests] == ["/apis/x.io/v1/namespaces/ns/things"] * 2
    assert [request.query["labelSelector"] for request in api.requests] == ["a=b"] * 2
    assert [request.query["fieldSelector"] for request in api.requests] == ["metadata.name=a"] * 2


async def test_indexes_are_added_before_it_runs(api: FakeApi, follower: Follower) -> None:
    with pytest.raises(ValueError, match="before the informer runs"):
        follower.informer.add_index("late", lambda size: [size])


async def test_a_stopped_informer_can_go_on_later(api: FakeApi, client: Client) -> None:
    api.put(COLLECTION, thing("a"))
    informer = Informer(client, THINGS, decode, policy=POLICY)
    for expected in (1, 2):
        task = asyncio.create_task(informer.run())
        await informer.synced.wait()
        await eventually(lambda size=expected: informer.get(key("a")) == size)  # type: ignore[misc]  # mypy infers no lambda defaults
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        api.put(COLLECTION, thing("a", 2))
    assert lists(api) == 1


async def test_only_what_differs_is_decoded_again(api: FakeApi, client: Client) -> None:
    decoded: list[str] = []

    def counting(obj: Mapping[str, Any]) -> int:
        decoded.append(obj["metadata"]["name"])
        return decode(obj)

    for name in "abc":
        api.put(COLLECTION, thing(name))
    informer = Informer(client, THINGS, counting, policy=POLICY)
    task = asyncio.create_task(informer.run())
    await eventually(lambda: api.watching == 1)
    decoded.clear()
    undo = api.fault(lambda request: web.Response(status=500) if request.is_watch else None)
    api.cut_watches()
    await eventually(lambda: api.watching == 0)
    api.put(COLLECTION, thing("b", 2))
    api.compact()
    undo()
    await eventually(lambda: informer.get(key("b")) == 2)
    assert decoded == ["b"]
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_an_outage_is_told_once_by_all_then_rarely_and_when_it_is_over(api: FakeApi, client: Client) -> None:
    port = api.port
    with capture_logs() as logs:

        def told() -> list[tuple[str, str]]:
            return [(each["log_level"], each["event"]) for each in logs if each["log_level"] != "debug"]

        async with following(client), following(client):
            await api.stop()
            await asyncio.sleep(599)
            assert told() == [("warning", "following failed, will retry")]
            await asyncio.sleep(30)
            assert told() == [("warning", "following failed, will retry")] * 2
            await api.start(port)
            await eventually(lambda: api.watching == 2)
            assert told()[2:] == [("info", "the api answers again")]
            assert len([each for each in logs if each["log_level"] == "debug"]) > 50


async def test_a_resource_that_is_refused_is_told_for_itself(api: FakeApi, client: Client) -> None:
    api.fault(lambda request: refuse(403, "Forbidden", request.path))
    with capture_logs() as logs:
        other = Informer(client, ResourceRef("x.io", "v1", "others", "Other"), decode, policy=POLICY)
        async with following(client, wait=False), asyncio.TaskGroup() as group:
            task = group.create_task(other.run())
            await asyncio.sleep(60)
            task.cancel()
    warned = [each["resource"] for each in logs if each["log_level"] == "warning"]
    assert sorted(warned) == ["others.x.io", "things.x.io"]
