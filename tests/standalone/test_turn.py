"""No request keeps the event loop, and with it everything else in the process, for long."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import orjson
import pytest

from standalone.apiserver.server import ApiServer
from standalone.schema.cel import apart
from standalone.schema.fault import Fault
from standalone.store.record import Key
from tests.standalone.rest import APPLY_PATCH, Rest
from tests.standalone.widget import DEFINITIONS, Widgets

OBJECTS = 2_000
LIMIT_S = 0.1
"""In seconds of the processor, of which a busy machine does not make more. What is looked at here takes a multiple in one go."""
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@asynccontextmanager
async def attended(what: str) -> AsyncIterator[None]:
    """Fail when the loop does not come round within the limit."""
    longest_s = 0.0

    async def attend() -> None:
        nonlocal longest_s
        while True:
            began_s = time.thread_time()
            await asyncio.sleep(0.001)
            longest_s = max(longest_s, time.thread_time() - began_s)

    task = asyncio.create_task(attend())
    await asyncio.sleep(0)
    yield
    await asyncio.sleep(0.002)
    task.cancel()
    assert longest_s < LIMIT_S, what


@pytest.fixture
async def many(rest: Rest, server: ApiServer) -> Widgets:
    """A kind with many objects, straight into the store; `spec.color` can be selected by."""
    widgets = Widgets("many.example.com", "default")
    definition = widgets.definition
    definition["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": ".spec.color"}]
    (await rest.post(DEFINITIONS, definition)).ok()
    one = (await rest.post(widgets.path, widgets.make("one", color="red"))).ok()
    store = server._store
    assert store is not None
    metadata = [{**one["metadata"], "name": f"n{number:05}", "uid": str(number)} for number in range(OBJECTS)]
    await asyncio.gather(
        *(
            store.put(Key(widgets.group, widgets.plural, widgets.namespace, each["name"]), {**one, "metadata": each})
            for each in metadata
        )
    )
    return widgets


async def test_long_answers_let_others_have_their_turn(many: Widgets, server: ApiServer) -> None:
    assert server._store is not None
    start = server._store.version - OBJECTS - 1
    queries = {
        "a printed list": (TABLE, {}, OBJECTS + 1),
        "a list in YAML": ("application/yaml", {"limit": "300"}, 300),
        "a state that is watched as a Table": (TABLE, {"watch": "true", "timeoutSeconds": "1"}, OBJECTS + 1),
        "what was missed as a Table": (
            TABLE,
            {"watch": "true", "timeoutSeconds": "1", "resourceVersion": str(start)},
            OBJECTS + 1,
        ),
        "nothing that is selected": ("application/json", {"fieldSelector": "spec.color=blue"}, 0),
    }
    async with aiohttp.ClientSession() as session:
        for what, (accept, query, count) in queries.items():
            async with (
                attended(what),
                session.get(server.url + many.path, params=query, headers={"Accept": accept}) as response,
            ):
                content = b"".join([chunk async for chunk in response.content.iter_chunked(2**16)])
            assert response.status == 200
            assert content.count(b"uid") == count, what


async def test_a_rule_that_would_take_minutes_is_ended(
    rest: Rest, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "BUDGET_S", 0.2)
    widgets = Widgets("slow.example.com", "default")
    definition = widgets.definition
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["text"] = {"type": "string"}
    copies = " + ".join(["self.text"] * 8)
    spec["x-kubernetes-validations"] = [{"rule": f"!has(self.text) || self.tags.all(tag, ({copies}).size() > 0)"}]
    (await rest.post(DEFINITIONS, definition)).ok()
    tags = [str(number) for number in range(2_000)]
    async with attended("a long rule"):
        refused = await rest.post(widgets.path, widgets.make("slow", tags=tags, text="x" * 300_000))
    assert "running out of cost budget" in refused.refused(422, "Invalid")
    (await rest.post(widgets.path, widgets.make("quick", tags=tags, text="x"))).ok()
    del server


async def test_slow_rules_hold_up_no_large_objects_of_other_kinds(
    rest: Rest, server: ApiServer, widgets: Widgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = threading.Event(), threading.Event()

    def ask(*_: object) -> list[Fault]:
        asked.set()
        answered.wait()
        return []

    monkeypatch.setattr(apart._WORKER, "ask", ask)
    slow = Widgets("slow.example.com", "default")
    definition = slow.definition
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-validations"] = [{"rule": "self.tags.all(tag, tag != '')"}]
    (await rest.post(DEFINITIONS, definition)).ok()
    tags = [str(number) for number in range(3_000)]
    writing = asyncio.create_task(rest.post(slow.path, slow.make("slow", tags=tags)))
    try:
        assert await asyncio.to_thread(asked.wait, 30)
        async with asyncio.timeout(30):
            (await rest.post(widgets.path, widgets.make("large", tags=tags))).ok()
    finally:
        answered.set()
    (await writing).ok()
    del server


async def test_a_large_object_is_judged_beside_the_others(widgets: Widgets, server: ApiServer) -> None:
    parts = [{"name": f"p{number}", "weight": number} for number in range(3_000)]
    body = orjson.dumps(widgets.make("large", parts=parts))
    headers = {"Content-Type": APPLY_PATCH}
    async with aiohttp.ClientSession() as session:
        for manager, code in (("one", 201), ("one", 200), ("two", 200)):
            url = f"{server.url}{widgets.at('large')}?fieldManager={manager}"
            async with (
                attended(manager),
                session.patch(url, data=body.replace(b"2999}", b"%d}" % len(manager)), headers=headers) as response,
            ):
                await response.read()
            assert response.status == code
