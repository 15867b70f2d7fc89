"""A server's entry in HostedZone status: its own, true, written when it changes and not otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kube.timestamp import time_text
from server.hosted.report import ABANDONED_AFTER, MOST_ENTRIES, abandoned, field_manager
from tests.kube.fake_api import refuse
from tests.server.hosted_api import COLLECTION, NAMESPACE, HostedApi, a, manifest
from tests.server.running import becomes, following, until
from zonemodel.hosted_zone import ServerState, ServerStatus

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
async def api() -> AsyncIterator[HostedApi]:
    async with HostedApi() as server:
        yield server


def entry(name: str, digest: str = "sha256:old", age: timedelta = timedelta()) -> dict[str, Any]:
    return {
        "name": name,
        "observedGeneration": 1,
        "serial": 1,
        "digest": digest,
        "state": "Serving",
        "message": "",
        "lastTransitionTime": time_text(datetime.now(UTC) - age),
    }


def put_entries(api: HostedApi, name: str, *entries: dict[str, Any]) -> None:
    obj = api.stored(COLLECTION, NAMESPACE, name)
    api.write({**obj, "status": {"servers": list(entries)}})


async def test_each_server_applies_its_entry_as_a_field_manager_of_its_own(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, name="pod-a"), following(api, name="pod-b"):
        await until(lambda: set(api.servers("shop")) == {"pod-a", "pod-b"}, "both entries")
    assert {request.query["fieldManager"] for request in api.writes} == {"dns-api-server-pod-a", "dns-api-server-pod-b"}
    assert all(len(request.body["status"]["servers"]) == 1 for request in api.writes)


async def test_nothing_is_written_while_nothing_changes(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api) as server:
        await until(lambda: api.servers("shop"), "an entry")
        before = len(api.writes)
        for number in range(5):  # changes that are none to this server, and one that is, behind them
            put_entries(api, "shop", api.servers("shop")["pod-a"], entry(f"other-{number}"))
        api.cut_watches()
        api.write(manifest("marker", a("www", "192.0.2.9")))
        await becomes(server, "www.marker.example", ["192.0.2.9"])
        await until(lambda: api.servers("marker"), "the marker reported")
        assert [request.path for request in api.writes[before:]] == [api.writes[-1].path]


async def test_a_restart_writes_nothing_that_stands_already(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api):
        await until(lambda: api.servers("shop"), "an entry")
    before = len(api.writes)
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        api.write(manifest("marker", a("www", "192.0.2.9")))
        await until(lambda: api.servers("marker"), "the marker reported")
    assert len(api.writes) == before + 1


async def test_an_entry_that_was_taken_away_is_put_back(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api):
        await until(lambda: api.servers("shop"), "an entry")
        put_entries(api, "shop", entry("other"))
        await until(lambda: set(api.servers("shop")) == {"other", "pod-a"}, "the entry back")


async def test_an_entry_that_was_falsified_is_put_right(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api):
        await until(lambda: api.servers("shop"), "an entry")
        put_entries(api, "shop", {**api.servers("shop")["pod-a"], "state": "Rejected"})
        await until(lambda: api.servers("shop")["pod-a"]["state"] == "Serving", "the entry put right")


async def test_entries_that_cannot_be_read_do_not_hide_a_snapshot(api: HostedApi) -> None:
    obj = manifest("shop", a("www", "192.0.2.1"))
    api.write({**obj, "status": {"servers": [{"name": "odd", "serial": "no number"}]}})
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: "pod-a" in api.servers("shop"), "an entry")
        before = len(api.writes)
        api.write(manifest("marker", a("www", "192.0.2.9")))
        await until(lambda: api.servers("marker"), "the marker reported")
        assert len(api.writes) == before + 1


async def test_entries_of_gone_servers_are_removed_when_a_new_one_is_written(api: HostedApi) -> None:
    obj = manifest("shop", a("www", "192.0.2.1"))
    digest = obj["spec"]["digest"]
    long_ago = ABANDONED_AFTER + timedelta(minutes=1)
    others = (entry("gone", age=long_ago), entry("late", age=timedelta(minutes=1)), entry("same", digest, age=long_ago))
    api.write({**obj, "status": {"servers": list(others)}})
    async with following(api):
        await until(lambda: set(api.servers("shop")) == {"late", "same", "pod-a"}, "the gone server's entry removed")


async def test_a_refused_write_is_tried_again(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    api.fail_next(lambda: refuse(500, "InternalError"), when=lambda request: request.method == "PATCH")
    async with following(api):
        await until(lambda: api.servers("shop"), "an entry in the end")


def status(name: str, digest: str = "d", age: timedelta = timedelta()) -> ServerStatus:
    return ServerStatus(
        name=name,
        observed_generation=1,
        serial=1,
        digest=digest,
        state=ServerState.SERVING,
        last_transition_time=time_text(NOW - age),
    )


def test_what_is_abandoned() -> None:
    old = ABANDONED_AFTER + timedelta(seconds=1)
    servers = [status("own", "x", old), status("a", "x", old), status("b", "d", old), status("c", "x")]
    assert abandoned(servers, "own", "d", NOW) == [1]


def test_the_oldest_entries_past_the_most_are_abandoned() -> None:
    servers = [status(f"s{number}", age=timedelta(minutes=number)) for number in range(MOST_ENTRIES + 3)]
    assert abandoned(servers, "s34", "d", NOW) == [MOST_ENTRIES - 1, MOST_ENTRIES, MOST_ENTRIES + 1]


def test_field_managers_differ_even_for_names_that_are_too_long_for_one() -> None:
    long = "x" * 200
    assert len(field_manager(long + "a")) <= 128
    assert field_manager(long + "a") != field_manager(long + "b")
