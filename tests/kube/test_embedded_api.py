"""Client, informer, elector and recorder against the embedded API server: the fake of the other tests is held to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from controllers.runtime.recorder import EVENTS, EventRecorder, EventType
from kube.access import Access
from kube.client import Client
from kube.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Invalid,
    KubeError,
    NotFound,
    ResourceNotServed,
    TooLarge,
)
from kube.informer import Informer
from kube.lease import LEASES, LeaseElector
from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.resource import ResourceRef
from kube.watch import WatchType
from standalone.apiserver.server import ApiServer

CONFIG_MAPS = ResourceRef("", "v1", "configmaps", "ConfigMap")
DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
THINGS = ResourceRef("x.io", "v1", "things", "Thing")
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.x.io"},
    "spec": {
        "group": "x.io",
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "colour": {"type": "string"},
                                },
                            },
                            "status": {"type": "object", "properties": {"seen": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ApiServer]:
    async with ApiServer(tmp_path) as running:
        yield running


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[Client]:
    async with Client(Access(server.url), field_manager="tester") as opened:
        yield opened


@pytest.fixture
async def things(client: Client) -> Client:
    """A client of a server that serves things."""
    await client.create(DEFINITIONS, DEFINITION)
    await until(lambda: client.list(THINGS))
    return client


async def until(attempt: Callable[[], Any]) -> Any:
    """Repeat until it raises no KubeError and its result is not False."""
    async with asyncio.timeout(30):
        while True:
            try:
                result = await attempt()
            except KubeError:
                result = False
            if result is not False:
                return result
            await asyncio.sleep(0.01)


def config(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "default", "name": name},
        "data": data,
    }


def thing(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"namespace": "default", "name": name}, "spec": spec}


@asynccontextmanager
async def background(work: Any) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_verbs(client: Client) -> None:
    created = await client.create(CONFIG_MAPS, config("a", x="1"))
    with pytest.raises(AlreadyExists):
        await client.create(CONFIG_MAPS, config("a"))
    updated = await client.update(CONFIG_MAPS, created | {"data": {"x": "2"}})
    with pytest.raises(Conflict, match="has been modified"):
        await client.update(CONFIG_MAPS, created)
    assert (await client.get(CONFIG_MAPS, namespace="default", name="a")) == updated
    patched = await client.patch_merge(CONFIG_MAPS, {"data": {"y": "3"}}, namespace="default", name="a")
    assert patched["data"] == {"x": "2", "y": "3"}
    ops = [{"op": "test", "path": "/data/y", "value": "3"}, {"op": "remove", "path": "/data/y"}]
    patched = await client.patch_json(CONFIG_MAPS, ops, namespace="default", name="a")
    assert patched["data"] == {"x": "2"}
    with pytest.raises(Invalid):
        await client.patch_json(CONFIG_MAPS, ops[:1], namespace="default", name="a")
    with pytest.raises(Conflict):
        await client.delete(CONFIG_MAPS, namespace="default", name="a", uid="another")
    await client.delete(CONFIG_MAPS, namespace="default", name="a", uid=created["metadata"]["uid"])
    for verb in (client.get, client.delete):
        with pytest.raises(NotFound):
            await verb(CONFIG_MAPS, namespace="default", name="a")


async def test_dry_run_stores_nothing(client: Client) -> None:
    await client.create(CONFIG_MAPS, config("a"), dry_run=True)
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, namespace="default", name="a")


async def test_server_side_apply(things: Client) -> None:
    await things.apply(THINGS, thing("a", size=1), manager="one")
    merged = await things.apply(THINGS, thing("a", colour="red"), manager="two")
    assert merged["spec"] == {"size": 1, "colour": "red"}
    with pytest.raises(Conflict) as caught:
        await things.apply(THINGS, thing("a", size=2), manager="two")
    assert [cause.field for cause in caught.value.causes] == [".spec.size"]
    forced = await things.apply(THINGS, thing("a", size=2), manager="two", force=True)
    assert forced["spec"] == {"size": 2}
    seen = thing("a") | {"status": {"seen": 1}}
    del seen["spec"]
    with_status = await things.apply(THINGS, seen, manager="watcher", subresource="status")
    assert (with_status["spec"], with_status["status"]) == ({"size": 2}, {"seen": 1})


async def test_refusals_name_their_fields(things: Client) -> None:
    with pytest.raises(Invalid) as caught:
        await things.create(THINGS, thing("a", size=0))
    assert [cause.field for cause in caught.value.causes] == ["spec.size"]
    with pytest.raises(BadRequest, match="shape"):
        await things.create(THINGS, thing("a", shape="round"), field_validation="Strict")
    with pytest.raises(TooLarge):
        await things.create(THINGS, thing("big", colour="x" * 2_000_000))
    large = await things.create(THINGS, thing("large", colour="x" * 1_400_000))
    assert len(large["spec"]["colour"]) == 1_400_000


async def test_missing_resources_are_not_missing_objects(client: Client) -> None:
    for attempt in (
        client.list(THINGS),
        client.get(THINGS, namespace="default", name="a"),
        client.delete(THINGS, namespace="default", name="a"),
        client.create(THINGS, thing("a")),
    ):
        with pytest.raises(ResourceNotServed):
            await attempt
    with pytest.raises(NotFound, match="nowhere"):
        await client.create(CONFIG_MAPS, config("a") | {"metadata": {"namespace": "nowhere", "name": "a"}})


async def test_pages(client: Client) -> None:
    for number in range(7):
        await client.create(CONFIG_MAPS, config(f"c{number}"))
    listing = await client.list(CONFIG_MAPS, namespace="default", limit=3)
    assert [ObjectKey.parse(item).name for item in listing.items] == [f"c{number}" for number in range(7)]


async def test_watch(client: Client) -> None:
    version = (await client.list(CONFIG_MAPS)).resource_version
    async with aclosing(client.watch(CONFIG_MAPS, resource_version=version, timeout_s=5)) as events:
        created = await client.create(CONFIG_MAPS, config("a"))
        event = await anext(events)
        assert (event.type, event.object) == (WatchType.ADDED, created)


async def test_informer_follows_through_a_restart(tmp_path: Path) -> None:
    first = ApiServer(tmp_path)
    await first.start()
    port = first.port
    async with Client(Access(first.url)) as client:
        informer = Informer(client, CONFIG_MAPS, ObjectMeta.parse, namespace="default")
        async with background(informer.run()):
            await client.create(CONFIG_MAPS, config("a"))
            await client.create(CONFIG_MAPS, config("b"))
            await until(lambda: holds(lambda: len(informer) == 2))
            await first.stop()
            async with ApiServer(tmp_path, port=port):
                await until(lambda: client.create(CONFIG_MAPS, config("c")))
                await client.delete(CONFIG_MAPS, namespace="default", name="a")
                await until(lambda: holds(lambda: {key.name for key, _ in informer.items()} == {"b", "c"}))
                assert informer.contact_age_s() < 10


async def holds(condition: Callable[[], bool]) -> bool:
    return condition()


async def test_a_finalizer_holds_the_object_until_it_is_removed(things: Client) -> None:
    held = thing("a", size=1)
    held["metadata"]["finalizers"] = ["x.io/held"]
    await things.create(THINGS, held)
    deleting = await things.delete(THINGS, namespace="default", name="a")
    assert ObjectMeta.parse(deleting).deleting
    await things.patch_merge(THINGS, {"metadata": {"finalizers": None}}, namespace="default", name="a")
    with pytest.raises(NotFound):
        await things.get(THINGS, namespace="default", name="a")


async def test_lease_passes_from_one_process_to_another(client: Client) -> None:
    leaders: list[str] = []

    def contender(name: str) -> Any:
        async def body() -> None:
            leaders.append(name)
            await asyncio.Event().wait()

        elector = LeaseElector(
            client, "default", "manager", name, lease_duration_s=2.0, renew_deadline_s=1.0, retry_period_s=0.05
        )
        return elector.run(body)

    async with background(contender("a")):
        await until(lambda: holds(lambda: leaders == ["a"]))
        async with background(contender("b")) as b:
            await client.patch_merge(LEASES, {"metadata": {"labels": {"x": "y"}}}, namespace="default", name="manager")
            await until(lambda: holds(lambda: not b.done()))
        assert leaders == ["a"]
    async with background(contender("c")):
        await until(lambda: holds(lambda: leaders == ["a", "c"]))
        lease = await client.get(LEASES, namespace="default", name="manager")
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]) == ("c", 1)


async def test_events_are_found_by_what_they_are_about(client: Client) -> None:
    created = await client.create(CONFIG_MAPS, config("a"))
    regarding = ObjectReference.of(CONFIG_MAPS, ObjectMeta.parse(created))
    recorder = EventRecorder(client, "composer")
    async with background(recorder.run()):
        for _ in range(2):
            recorder.event(regarding, EventType.NORMAL, "Programmed", "served")
            await until(lambda: holds(lambda: recorder.waiting == 0))

        async def counted() -> bool:
            found = await client.list(
                EVENTS, namespace="default", field_selector="involvedObject.name=a,involvedObject.kind=ConfigMap"
            )
            return [event["count"] for event in found.items] == [2]

        await until(counted)
