"""The same random requests to the embedded API and to a real one, which DNS_API_KUBE_PROGRAMS names the programs of.

Compared are codes, reasons, the fields that refusals name, warnings and objects with their owners of fields. Not compared are what each API
makes up by itself, the words of messages, and the order of causes and of managers, which goes by the second.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from standalone.apiserver.server import ApiServer
from tests.cluster.control_plane import programs, running
from tests.standalone.rest import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, Reply, Rest
from tests.standalone.widget import DEFINITIONS, Widgets

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(programs() is None, reason="needs a real API: DNS_API_KUBE_PROGRAMS"),
]

ROUNDS = 1_000
WIDGETS = Widgets("differential.example.com", "default")
NAMES = ("a", "b")
POINTERS = ("/spec/size", "/spec/tags", "/spec/tags/0", "/spec/tags/-", "/spec/parts/0/weight", "/spec/none", "/spec")
OWN_WORDS = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time"}
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[tuple[Rest, Rest]]:
    """A real API and an embedded one."""
    with running(programs() or tmp_path, tmp_path) as plane:
        async with (
            ApiServer(tmp_path / "data") as server,
            client(plane.url, plane.token) as real,
            client(server.url, "") as embedded,
        ):
            for rest in (real, embedded):
                (await rest.post(DEFINITIONS, WIDGETS.definition)).ok()
                await rest.until(WIDGETS.path, lambda reply: reply.code == 200)
            yield real, embedded


@asynccontextmanager
async def client(url: str, token: str) -> AsyncIterator[Rest]:
    headers = {"User-Agent": "differential"} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False), headers=headers) as session:
        yield Rest(session, url)


class Requests:
    """A stream of requests that is the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._verbs: list[Callable[[str], tuple[str, str, Any, dict[str, str]]]] = [
            self._create, self._put, self._merge, self._json, self._apply, self._apply, self._delete
        ]  # fmt: skip

    def next(self) -> tuple[str, str, Any, dict[str, str]]:
        """A verb, the name of an object with what follows it, a body, and a query."""
        verb, where, body, query = self._random.choice(self._verbs)(self._random.choice(NAMES))
        if verb != "delete":
            query["fieldManager"] = self._random.choice(("one", "two", "three"))
            if self._maybe(0.1):
                query["dryRun"] = "All"
        return verb, where, body, query

    def _create(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        return "post", "", self._widget(name), {}

    def _put(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        where, body = self._somewhere(name)
        body["metadata"]["resourceVersion"] = self._random.choice(("current", "current", "current", "1", ""))
        return "put", where, body, {}

    def _merge(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        where, widget = self._somewhere(name)
        body = {key: value for key, value in widget.items() if key in ("spec", "status") and self._maybe(0.8)}
        return MERGE_PATCH, where, body, {}

    def _json(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        body = [self._operation() for _ in range(self._random.randint(1, 3))]
        return JSON_PATCH, name, body, {}

    def _apply(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        query = {"force": "true"} if self._maybe(0.5) else {}
        where, body = self._somewhere(name)
        return APPLY_PATCH, where, body, query

    def _delete(self, name: str) -> tuple[str, str, Any, dict[str, str]]:
        return "delete", name, None, {}

    def _somewhere(self, name: str) -> tuple[str, dict[str, Any]]:
        """Mostly the object itself; a real API notes no owner of a status whose spec, which it passes over, has wrong types."""
        widget = self._widget(name)
        if self._maybe(0.8):
            return name, widget
        return f"{name}/status", widget | {"spec": {"size": self._random.randint(1, 3)}}

    def _operation(self) -> dict[str, Any]:
        kind = self._random.choice(("add", "replace", "remove", "test"))
        value = self._random.choice((1, 2, "a", [], ["a"], {"name": "x"}, {"size": 3}))
        return {"op": kind, "path": self._random.choice(POINTERS)} | ({} if kind == "remove" else {"value": value})

    def _widget(self, name: str) -> dict[str, Any]:
        some = self._random
        spec: dict[str, Any] = {"size": some.choice((1, 2, 3, 0, "x"))} if self._maybe(0.8) else {}
        spec |= {"color": some.choice(("red", "blue", "pink", None))} if self._maybe(0.4) else {}
        spec |= {"tags": some.sample("abcd", some.randint(0, 3))} if self._maybe(0.4) else {}
        spec |= {"parts": [self._part() for _ in range(some.randint(0, 3))]} if self._maybe(0.4) else {}
        spec |= {"frozen": some.choice(("1", "1", "2"))} if self._maybe(0.2) else {}
        metadata: dict[str, Any] = {}
        metadata |= {"labels": {key: some.choice("12") for key in some.sample("pq", 1)}} if self._maybe(0.3) else {}
        metadata |= {"finalizers": some.sample(["a.b/c", "a.b/d"], some.randint(0, 2))} if self._maybe(0.2) else {}
        status = {"status": {"seen": some.randint(1, 3), "note": some.choice("xy")}} if self._maybe(0.3) else {}
        return WIDGETS.make(name, metadata=metadata) | {"spec": spec} | status

    def _part(self) -> dict[str, Any]:
        weight = {"weight": self._random.randint(1, 2)} if self._maybe(0.6) else {}
        return {"name": self._random.choice("xyz")} | weight

    def _maybe(self, chance: float) -> bool:
        return self._random.random() < chance


async def send(rest: Rest, request: tuple[str, str, Any, dict[str, str]]) -> Reply:
    """Send it, with the resourceVersion that this API gave to the object."""
    verb, where, body, query = request
    path = f"{WIDGETS.path}/{where}".rstrip("/")
    if verb == "post":
        return await rest.post(path, body, **query)
    if verb == "delete":
        return await rest.delete(path)
    if verb != "put":
        return await rest.patch(path, body, verb, **query)
    if body["metadata"]["resourceVersion"] == "current":
        stored = await rest.get(WIDGETS.at(body["metadata"]["name"]))
        current = stored.body["metadata"]["resourceVersion"] if stored.code == 200 else "1"
        body = body | {"metadata": body["metadata"] | {"resourceVersion": current}}
    return await rest.put(path, body, **query)


def comparable(reply: Reply) -> Any:
    """What both have to say alike."""
    if reply.body.get("kind") != "Status":
        return reply.code, reply.warnings, own_words_out(reply.body)
    causes = (reply.body.get("details") or {}).get("causes") or ()
    return reply.code, reply.body.get("reason"), sorted({cause.get("field", "") for cause in causes})


def own_words_out(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: "" if name in OWN_WORDS else own_words_out(member) for name, member in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "fieldsV1" in value[0]:
        value = sorted(value, key=lambda entry: (entry["manager"], entry["operation"], entry.get("subresource", "")))
    if isinstance(value, list):
        return [own_words_out(item) for item in value]
    return UID.sub("", value) if isinstance(value, str) else value


def left_null(request: tuple[str, str, Any, dict[str, str]], real: Reply) -> bool:
    """Whether a real API refuses the null that it left itself where an apply took the last member of a list or map away."""
    return (
        request[0] == APPLY_PATCH
        and real.code == 422
        and "must be of type" in real.body["message"]
        and '"null"' in real.body["message"]
    )


async def forget(rest: Rest, name: str) -> None:
    await rest.patch(WIDGETS.at(name), {"metadata": {"finalizers": None}})
    await rest.delete(WIDGETS.at(name))
    await rest.gone(WIDGETS.at(name))


def unequal(real: Any, embedded: Any, where: str = "") -> Iterator[str]:
    """One line for each place at which they differ."""
    if isinstance(real, dict) and isinstance(embedded, dict):
        for name in sorted(real.keys() | embedded.keys()):
            yield from unequal(real.get(name), embedded.get(name), f"{where}.{name}")
    elif isinstance(real, list | tuple) and isinstance(embedded, list | tuple) and len(real) == len(embedded):
        for index, (one, other) in enumerate(zip(real, embedded, strict=True)):
            yield from unequal(one, other, f"{where}[{index}]")
    elif real != embedded:
        yield f"{where}: {real!r} is {embedded!r} here"


@pytest.mark.parametrize("seed", [1, 2])
async def test_both_answer_alike(both: tuple[Rest, Rest], seed: int) -> None:
    requests = Requests(seed)
    for number in range(ROUNDS):
        request = requests.next()
        real, embedded = await asyncio.gather(*(send(rest, request) for rest in both))
        if left_null(request, real):
            await asyncio.gather(*(forget(rest, name) for rest in both for name in NAMES))
            continue
        found = list(unequal(comparable(real), comparable(embedded)))
        assert not found, f"request {number}: {request}\n" + "\n".join(found)
