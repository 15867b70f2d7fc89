"""Watching: where a stream begins, what it shows, how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standalone.rest import Rest
from tests.standalone.widget import Widgets, config_map, config_maps

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def version_of(rest: Rest, path: str) -> str:
    version: str = (await rest.get(path)).ok()["metadata"]["resourceVersion"]
    return version


async def test_changes_come_in_order(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start) as stream:
        created = (await rest.post(widgets.path, widgets.make("one"))).ok()
        assert await stream.next() == ("ADDED", created)
        patched = (await rest.patch(widgets.at("one"), {"spec": {"size": 2}})).ok()
        assert await stream.next() == ("MODIFIED", patched)
        (await rest.delete(widgets.at("one"))).ok()
        event_type, last = await stream.next()
        assert (event_type, last["spec"]) == ("DELETED", patched["spec"])
        assert int(last["metadata"]["resourceVersion"]) > int(patched["metadata"]["resourceVersion"])


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
async def test_without_a_version_the_state_comes_first(rest: Rest, widgets: Widgets, query: dict[str, str]) -> None:
    for name in ("a", "b"):
        (await rest.post(widgets.path, widgets.make(name))).ok()
    async with rest.watch(widgets.path, **query) as stream:
        assert await stream.names(2) == [("ADDED", "a"), ("ADDED", "b")]
        (await rest.delete(widgets.at("a"))).ok()
        assert await stream.names(1) == [("DELETED", "a")]


async def test_from_an_older_version_what_was_missed_comes_first(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    (await rest.post(widgets.path, widgets.make("a"))).ok()
    (await rest.patch(widgets.at("a"), {"spec": {"size": 2}})).ok()
    (await rest.delete(widgets.at("a"))).ok()
    async with rest.watch(widgets.path, resourceVersion=start) as stream:
        assert await stream.names(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_nothing_is_written_for_an_update_that_changes_nothing(rest: Rest, widgets: Widgets) -> None:
    stored = (await rest.post(widgets.path, widgets.make("a"))).ok()
    async with rest.watch(widgets.path, resourceVersion=stored["metadata"]["resourceVersion"]) as stream:
        (await rest.put(widgets.at("a"), stored)).ok()
        (await rest.post(widgets.path, widgets.make("b"))).ok()
        assert await stream.names(1) == [("ADDED", "b")]


async def test_a_selector_shows_coming_and_going(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start, labelSelector="on=yes") as stream:
        (await rest.post(widgets.path, widgets.make("a"))).ok()
        (await rest.patch(widgets.at("a"), {"metadata": {"labels": {"on": "yes"}}})).ok()
        (await rest.patch(widgets.at("a"), {"spec": {"size": 2}})).ok()
        left = (await rest.patch(widgets.at("a"), {"metadata": {"labels": {"on": "no"}}})).ok()
        (await rest.patch(widgets.at("a"), {"spec": {"size": 3}})).ok()
        (await rest.patch(widgets.at("a"), {"metadata": {"labels": {"on": "yes"}}})).ok()
        (await rest.delete(widgets.at("a"))).ok()
        events = [await stream.next() for _ in range(5)]
    assert [event_type for event_type, _ in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]
    gone = events[2][1]
    assert gone["metadata"]["labels"] == {"on": "yes"}
    assert gone["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


async def test_one_object_is_watched_by_name(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start, fieldSelector="metadata.name=b") as stream:
        for name in ("a", "b", "c"):
            (await rest.post(widgets.path, widgets.make(name))).ok()
        (await rest.delete(widgets.at("b"))).ok()
        assert await stream.names(2) == [("ADDED", "b"), ("DELETED", "b")]


async def test_all_namespaces_are_watched_together(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.everywhere)
    async with rest.watch(widgets.everywhere, resourceVersion=start) as stream:
        (await rest.post(widgets.path, widgets.make("a"))).ok()
        assert await stream.names(1) == [("ADDED", "a")]


async def test_other_namespaces_are_not_shown(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    elsewhere = widgets.path.replace(widgets.namespace, "default")
    async with rest.watch(elsewhere, resourceVersion=start) as stream:
        (await rest.post(widgets.path, widgets.make("here"))).ok()
        (await rest.post(elsewhere, widgets.make("there"))).ok()
        assert await stream.names(1) == [("ADDED", "there")]


async def test_initial_events_end_with_a_bookmark(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("a"))).ok()
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with rest.watch(widgets.path, **query) as stream:
        assert await stream.names(1) == [("ADDED", "a")]
        event_type, bookmark = await stream.next()
        assert event_type == "BOOKMARK"
        assert (bookmark["kind"], bookmark["apiVersion"]) == ("Widget", widgets.api_version)
        assert bookmark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert int(bookmark["metadata"]["resourceVersion"]) > 0
        (await rest.post(widgets.path, widgets.make("b"))).ok()
        assert await stream.names(1) == [("ADDED", "b")]


async def test_initial_events_need_their_companion_option(rest: Rest, widgets: Widgets) -> None:
    (await rest.get(widgets.path, watch="true", sendInitialEvents="true")).refused(422, "Invalid")
    reply = await rest.get(widgets.path, watch="true", resourceVersionMatch="NotOlderThan", resourceVersion="1")
    reply.refused(422, "Invalid")


async def test_a_stream_ends_at_its_timeout(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start, timeoutSeconds="1") as stream:
        await stream.ended()


async def test_a_watch_ends_with_its_definition(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start) as stream:
        (await rest.delete(widgets.definition_path)).ok()
        await stream.ended()


async def test_the_path_of_an_object_is_for_reading_it(rest: Rest, widgets: Widgets) -> None:
    made = (await rest.post(widgets.path, widgets.make("a"))).ok()
    assert (await rest.get(widgets.at("a"), watch="true")).ok() == made


async def test_one_object_is_watched_by_its_name(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("a"))).ok()
    async with rest.watch(widgets.path, fieldSelector="metadata.name=a") as stream:
        (await rest.post(widgets.path, widgets.make("b"))).ok()
        (await rest.delete(widgets.at("a"))).ok()
        assert await stream.names(2) == [("ADDED", "a"), ("DELETED", "a")]


async def test_a_large_state_comes_whole(rest: Rest, widgets: Widgets) -> None:
    for number in range(450):
        (await rest.post(widgets.path, widgets.make(f"n{number:03}"))).ok()
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with rest.watch(widgets.path, **query) as stream:
        assert await stream.names(450) == [("ADDED", f"n{number:03}") for number in range(450)]
        assert (await stream.next())[0] == "BOOKMARK"


async def test_table_events(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, accept=TABLE, resourceVersion=start) as stream:
        (await rest.post(widgets.path, widgets.make("a"))).ok()
        event_type, table = await stream.next()
    assert (event_type, table["kind"], table["rows"][0]["cells"][0]) == ("ADDED", "Table", "a")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Age"]


async def test_a_watch_sees_each_write_once_under_load(rest: Rest, widgets: Widgets) -> None:
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start) as stream:
        for number in range(50):
            (await rest.post(widgets.path, widgets.make(f"n{number}"))).ok()
        events = [await stream.next() for _ in range(50)]
    versions = [int(obj["metadata"]["resourceVersion"]) for _, obj in events]
    assert versions == sorted(set(versions))
    assert [obj["metadata"]["name"] for _, obj in events] == [f"n{number}" for number in range(50)]


async def test_a_finalized_object_is_shown_until_it_goes(rest: Rest, widgets: Widgets) -> None:
    held: dict[str, Any] = {"finalizers": ["example.com/hold"]}
    start = await version_of(rest, widgets.path)
    async with rest.watch(widgets.path, resourceVersion=start) as stream:
        (await rest.post(widgets.path, widgets.make("a", metadata=held))).ok()
        (await rest.delete(widgets.at("a"))).ok()
        (await rest.patch(widgets.at("a"), {"metadata": {"finalizers": None}})).ok()
        events = [await stream.next() for _ in range(3)]
    assert [event_type for event_type, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert "deletionTimestamp" in events[1][1]["metadata"]


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_watcher_is_told_where_the_state_ends_also_when_it_did_not_ask(
    rest: Rest, namespace: str, version: str
) -> None:
    path = config_maps(namespace)
    (await rest.post(path, config_map("a"))).ok()
    await rest.until(f"{path}/a?resourceVersion=0", lambda reply: reply.code == 200)  # what a watch may begin with
    query = {"allowWatchBookmarks": "true", "resourceVersion": version, "fieldSelector": "metadata.name=a"}
    async with rest.watch(path, **query) as stream:
        assert (await stream.next())[0] == "ADDED"
        event_type, obj = await stream.next()
        assert event_type == "BOOKMARK"
        assert obj["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_a_watcher_may_ask_for_no_state(rest: Rest, namespace: str) -> None:
    path = config_maps(namespace)
    created = (await rest.post(path, config_map("a"))).ok()
    (await rest.post(path, config_map("b"))).ok()
    query = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    async with rest.watch(path, resourceVersion=created["metadata"]["resourceVersion"], **query) as stream:
        assert await stream.names(1) == [("ADDED", "b")]


async def test_events_are_not_sent_as_yaml(rest: Rest, namespace: str) -> None:
    assert (await rest.get(config_maps(namespace), watch="true", accept="application/yaml")).code == 406
