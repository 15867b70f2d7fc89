from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import Any

import pytest
from aiohttp import web

from kube.access import Access, with_token
from kube.client import Client, Propagation
from kube.errors import (
    AlreadyExists,
    ConfigError,
    Conflict,
    Gone,
    KubeError,
    NotFound,
    ServerTimeout,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from kube.leadership import leading_while
from kube.resource import ResourceRef
from kube.watch import WatchEvent, WatchType
from tests.kube.fake_api import FakeApi, Request, refuse
from tests.kube.virtual_loop import eventually

THINGS = ResourceRef("x.io", "v1", "things", "Thing")
COLLECTION = "/apis/x.io/v1/things"


def thing(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "x.io/v1",
        "kind": "Thing",
        "metadata": {"namespace": "ns", "name": name},
        "spec": spec,
    }


async def test_objects_live_from_create_to_delete(api: FakeApi, client: Client) -> None:
    created = await client.create(THINGS, thing("a", size=1))
    assert await client.get(THINGS, namespace="ns", name="a") == created
    updated = await client.update(THINGS, created | {"spec": {"size": 2}})
    assert updated["spec"] == {"size": 2}
    patched = await client.patch_merge(THINGS, {"spec": {"colour": "red"}}, namespace="ns", name="a")
    assert patched["spec"] == {"size": 2, "colour": "red"}
    await client.delete(THINGS, namespace="ns", name="a")
    with pytest.raises(NotFound, match="a not found"):
        await client.get(THINGS, namespace="ns", name="a")


async def test_refusals_carry_their_class(api: FakeApi, client: Client) -> None:
    created = await client.create(THINGS, thing("a"))
    with pytest.raises(AlreadyExists):
        await client.create(THINGS, thing("a"))
    await client.update(THINGS, created)
    with pytest.raises(Conflict):
        await client.update(THINGS, created)
    with pytest.raises(Conflict):
        await client.delete(THINGS, namespace="ns", name="a", uid="another")


async def test_writes_say_who_writes_and_how(api: FakeApi, client: Client) -> None:
    await client.create(THINGS, thing("a"), dry_run=True, field_validation="Strict")
    await client.update(THINGS, thing("a"), field_manager="other")
    await client.patch_merge(THINGS, {"spec": {}}, namespace="ns", name="a")
    api.fault(lambda request: web.json_response({}) if request.method in ("PATCH", "DELETE", "POST") else None)
    await client.patch_json(
        THINGS, [{"op": "test", "path": "/spec", "value": {}}], namespace="ns", name="a", subresource="status"
    )
    await client.apply(THINGS, thing("a"), manager="composer", force=True)
    await client.apply(THINGS, thing("a"), subresource="status")
    await client.create(THINGS, thing("a"), subresource="eviction")
    await client.delete(
        THINGS,
        namespace="ns",
        name="a",
        uid="u",
        resource_version="7",
        propagation=Propagation.FOREGROUND,
        dry_run=True,
    )
    wire = [(r.method, r.path, dict(r.query), r.headers.get("Content-Type"), r.body) for r in api.requests]
    path = "/apis/x.io/v1/namespaces/ns/things"
    assert wire == [
        (
            "POST",
            path,
            {"fieldManager": "tester", "dryRun": "All", "fieldValidation": "Strict"},
            "application/json",
            thing("a"),
        ),
        ("PUT", f"{path}/a", {"fieldManager": "other"}, "application/json", thing("a")),
        ("PATCH", f"{path}/a", {"fieldManager": "tester"}, "application/merge-patch+json", {"spec": {}}),
        (
            "PATCH",
            f"{path}/a/status",
            {"fieldManager": "tester"},
            "application/json-patch+json",
            [{"op": "test", "path": "/spec", "value": {}}],
        ),
        (
            "PATCH",
            f"{path}/a",
            {"fieldManager": "composer", "force": "true"},
            "application/apply-patch+yaml",
            thing("a"),
        ),
        (
            "PATCH",
            f"{path}/a/status",
            {"fieldManager": "tester", "force": "false"},
            "application/apply-patch+yaml",
            thing("a"),
        ),
        ("POST", f"{path}/a/eviction", {"fieldManager": "tester"}, "application/json", thing("a")),
        (
            "DELETE",
            f"{path}/a",
            {},
            "application/json",
            {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "preconditions": {"uid": "u", "resourceVersion": "7"},
                "propagationPolicy": "Foreground",
                "dryRun": ["All"],
            },
        ),
    ]


async def test_list_gathers_all_pages_of_one_version(api: FakeApi, client: Client) -> None:
    for number in range(7):
        api.put(COLLECTION, thing(f"t{number}"))
    listing = await client.list(THINGS, limit=3, label_selector="a=b", field_selector="metadata.name!=x")
    assert [item["metadata"]["name"] for item in listing.items] == [f"t{number}" for number in range(7)]
    assert listing.resource_version == api.all(COLLECTION)[-1]["metadata"]["resourceVersion"]
    assert [request.query.get("limit") for request in api.requests] == ["3"] * 3
    assert {request.query["labelSelector"] for request in api.requests} == {"a=b"}
    assert {request.query["fieldSelector"] for request in api.requests} == {"metadata.name!=x"}


async def test_list_is_narrowed_to_a_namespace(api: FakeApi, client: Client) -> None:
    api.put(COLLECTION, thing("a"))
    other = thing("b")
    other["metadata"]["namespace"] = "other"
    api.put(COLLECTION, other)
    assert len((await client.list(THINGS)).items) == 2
    assert [item["metadata"]["name"] for item in (await client.list(THINGS, namespace="other")).items] == ["b"]


async def test_a_listing_that_expires_between_pages_is_no_result(api: FakeApi, client: Client) -> None:
    for number in range(3):
        api.put(COLLECTION, thing(f"t{number}"))
    pages = client.pages(THINGS, limit=2)
    async with aclosing(pages):
        await anext(pages)
        api.compact()
        with pytest.raises(Gone):
            await anext(pages)


async def test_server_messages_and_delays_reach_the_caller(api: FakeApi, client: Client) -> None:
    api.fail_next(lambda: refuse(429, "TooManyRequests", "slow down", headers={"Retry-After": "9"}))
    with pytest.raises(TooManyRequests, match="slow down") as caught:
        await client.list(THINGS)
    assert caught.value.retry_after_s == 9.0
    api.fail_next(lambda: refuse(504, "Timeout", "request did not complete"))
    with pytest.raises(ServerTimeout):
        await client.list(THINGS)


@pytest.mark.parametrize("text", ["<html>", "[]", "", "null"])
async def test_success_without_an_object_is_a_failure(api: FakeApi, client: Client, text: str) -> None:
    api.fail_next(lambda: web.Response(text=text))
    with pytest.raises(Unavailable):
        await client.get(THINGS, namespace="ns", name="a")


async def test_redirects_are_not_followed(api: FakeApi, client: Client) -> None:
    api.fail_next(lambda: web.Response(status=302, headers={"Location": api.url}))
    with pytest.raises(KubeError):
        await client.list(THINGS)
    assert len(api.requests) == 1


async def test_no_server_is_unavailable_and_says_where(api: FakeApi, client: Client) -> None:
    await api.stop()
    with pytest.raises(Unavailable, match=f"GET {api.url}/apis/x.io/v1/things: "):
        await client.list(THINGS)


async def test_a_silent_server_is_given_up(api: FakeApi, client: Client) -> None:
    async with Client(Access(api.url), timeout_s=5) as hasty:
        api.fault(lambda request: Never())
        before = asyncio.get_running_loop().time()
        with pytest.raises(Unavailable, match="no answer in time"):
            await hasty.list(THINGS)
        assert 4 < asyncio.get_running_loop().time() - before < 7


class Never(web.StreamResponse):
    """A response that begins only when nobody waits for it any more."""

    async def prepare(self, request: web.BaseRequest) -> None:
        await asyncio.sleep(3600)


async def test_connections_are_reused(api: FakeApi, client: Client) -> None:
    peers = set()
    api.fault(lambda request: peers.add(request.headers.get("Host")))
    for _ in range(5):
        await client.list(THINGS)
    assert api.connections == 1


async def test_many_requests_run_in_parallel(api: FakeApi, client: Client) -> None:
    api.put(COLLECTION, thing("a"))
    answers = await asyncio.gather(*(client.get(THINGS, namespace="ns", name="a") for _ in range(200)))
    assert len(answers) == 200
    assert 1 < api.connections <= 64


async def test_warnings_of_the_server_do_not_disturb(api: FakeApi, client: Client) -> None:
    api.fail_next(lambda: web.json_response(thing("a"), headers={"Warning": '299 - "x.io/v1 Thing is deprecated"'}))
    assert await client.get(THINGS, namespace="ns", name="a") == thing("a")


async def test_a_client_is_used_inside_async_with(api: FakeApi) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Client(Access(api.url)).list(THINGS)


async def test_a_client_is_opened_once(client: Client) -> None:
    with pytest.raises(RuntimeError, match="open already"):
        await client.__aenter__()


# credentials


async def test_token_is_sent_with_every_request(api: FakeApi) -> None:
    async with Client(with_token(api.url + "/", "secret")) as client:
        await client.list(THINGS)
        await client.create(THINGS, thing("a"))
    assert [request.headers["Authorization"] for request in api.requests] == ["Bearer secret"] * 2
    assert api.requests[0].path == COLLECTION


class Rotating:
    """Credentials that must be renewed before the server takes them."""

    def __init__(self, api: FakeApi) -> None:
        self.renewals = 0
        api.fault(self._check)

    def _check(self, request: Request) -> web.Response | None:
        good = self.renewals > 0 and request.headers.get("Authorization") == f"Bearer {self.renewals}"
        return None if good else refuse(401, "Unauthorized")

    async def authorization(self) -> str:
        return f"Bearer {self.renewals}"

    async def renew(self) -> bool:
        await asyncio.sleep(0.1)
        self.renewals += 1
        return True


async def test_refused_credentials_are_renewed_once_for_all_requests(api: FakeApi) -> None:
    rotating = Rotating(api)
    access = Access(api.url, authorization=rotating.authorization, renew=rotating.renew)
    async with Client(access) as client:
        await asyncio.gather(*(client.list(THINGS) for _ in range(10)))
        assert rotating.renewals == 1


async def test_credentials_that_stay_refused_are_an_error(api: FakeApi, client: Client) -> None:
    api.fault(lambda request: refuse(401, "Unauthorized", "who are you"))
    with pytest.raises(Unauthorized, match="who are you"):
        await client.list(THINGS)
    assert len(api.requests) == 1


async def test_what_was_refused_is_not_sent_again_for_a_leader_whose_time_is_up(api: FakeApi) -> None:
    leads = True
    rotating = Rotating(api)

    async def renew() -> bool:
        nonlocal leads
        leads = False
        return await rotating.renew()

    async def lead() -> None:
        leading_while(lambda: leads)
        await client.create(THINGS, thing("a"))

    async with Client(Access(api.url, authorization=rotating.authorization, renew=renew)) as client:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(lead())
    assert [each.method for each in api.requests] == ["POST"]


async def test_a_write_that_gets_its_connection_when_the_time_is_up_does_not_go_out(api: FakeApi) -> None:
    leads = True

    async def follow() -> None:
        async for _ in client.watch(THINGS, resource_version="100", timeout_s=60, idle_timeout_s=20):
            pass

    async def lead(write: Awaitable[object]) -> None:
        leading_while(lambda: leads)
        await write

    async with Client(Access(api.url), connections=1) as client:
        busy = asyncio.create_task(follow())
        await eventually(lambda: api.watching == 1)
        waiting = [
            asyncio.create_task(lead(client.create(THINGS, thing("a")))),
            asyncio.create_task(lead(client.list(THINGS))),
        ]
        await asyncio.sleep(0)
        leads = False
        busy.cancel()
        written, read = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(written, asyncio.CancelledError)
        assert read is None
        await client.create(THINGS, thing("b"))  # the one connection is not lost
    assert [each.method for each in api.requests if not each.is_watch] == ["GET", "POST"]


async def test_a_failing_renewal_is_an_error_of_ours(api: FakeApi) -> None:
    async def renew() -> bool:
        raise ConfigError("the credential plugin failed")

    api.fault(lambda request: refuse(401, "Unauthorized"))
    async with Client(Access(api.url, renew=renew)) as client:
        for _ in range(2):
            with pytest.raises(ConfigError, match="plugin failed"):
                await client.list(THINGS)
    assert api.connections == 1


async def test_access_may_be_found_out_when_the_client_opens(api: FakeApi) -> None:
    async def source() -> Access:
        return Access(api.url)

    async with Client(source) as client:
        assert (await client.list(THINGS)).items == []


# watches


@pytest.fixture
async def events(api: FakeApi, client: Client) -> AsyncIterator[AsyncGenerator[WatchEvent]]:
    stream = client.watch(THINGS, resource_version="100", timeout_s=60, idle_timeout_s=20)
    async with aclosing(stream):
        yield stream


async def test_watch_tells_what_happens_after_the_version(api: FakeApi, events: AsyncGenerator[WatchEvent]) -> None:
    api.put(COLLECTION, thing("a", size=1))
    added = await anext(events)
    assert (added.type, added.object["spec"]) == (WatchType.ADDED, {"size": 1})
    api.put(COLLECTION, thing("a", size=2))
    assert (await anext(events)).type is WatchType.MODIFIED
    gone = api.remove(COLLECTION, "ns", "a")
    deleted = await anext(events)
    assert (deleted.type, deleted.resource_version) == (WatchType.DELETED, gone["metadata"]["resourceVersion"])
    api.bookmark()
    assert (await anext(events)).type is WatchType.BOOKMARK
    query = api.requests[-1].query
    assert query == {
        "watch": "true",
        "resourceVersion": "100",
        "timeoutSeconds": "60",
        "allowWatchBookmarks": "true",
    }


async def test_watch_ends_quietly_with_its_timeout(api: FakeApi, client: Client) -> None:
    async with aclosing(client.watch(THINGS, resource_version="100", timeout_s=60)) as stream:
        assert [event async for event in stream] == []


async def test_expired_history_is_gone_by_status_and_in_the_stream(
    api: FakeApi, client: Client, events: AsyncGenerator[WatchEvent]
) -> None:
    api.put(COLLECTION, thing("a"))
    await anext(events)
    api.expire_in_stream()
    with pytest.raises(Gone):
        await anext(events)
    api.compact()
    async with aclosing(client.watch(THINGS, resource_version="100")) as stream:
        with pytest.raises(Gone):
            await anext(stream)


async def test_cut_connection_and_silence_are_unavailable(
    api: FakeApi, client: Client, events: AsyncGenerator[WatchEvent]
) -> None:
    api.put(COLLECTION, thing("a"))
    await anext(events)
    api.cut_watches()
    with pytest.raises(Unavailable):
        await anext(events)
    before = asyncio.get_running_loop().time()
    async with aclosing(client.watch(THINGS, resource_version="101", timeout_s=600, idle_timeout_s=20)) as stream:
        with pytest.raises(Unavailable, match="no answer in time"):
            await anext(stream)
    assert 19 < asyncio.get_running_loop().time() - before < 25


async def test_large_events_pass(api: FakeApi, events: AsyncGenerator[WatchEvent]) -> None:
    api.put(COLLECTION, thing("a", text="x" * 3_000_000))
    assert len((await anext(events)).object["spec"]["text"]) == 3_000_000


async def test_leaving_a_watch_closes_its_connection(api: FakeApi, client: Client) -> None:
    api.put(COLLECTION, thing("a"))
    async with aclosing(client.watch(THINGS, resource_version="100")) as stream:
        await anext(stream)
        assert api.watching == 1
    await eventually(lambda: api.watching == 0)


async def test_the_watcher_learns_when_the_server_has_accepted(api: FakeApi, client: Client) -> None:
    accepted = asyncio.Event()
    async with aclosing(client.watch(THINGS, resource_version="100", opened=accepted.set)) as stream:
        waiting = asyncio.ensure_future(anext(stream))
        await accepted.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
