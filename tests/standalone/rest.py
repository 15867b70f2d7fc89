"""A plain HTTP client of the Kubernetes API for tests: paths and JSON in, codes and JSON out."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

TIMEOUT_S = 90.0 if os.environ.get("DNS_API_KUBE_URL") else 60.0
"""A real garbage collector takes half a minute to notice a new kind."""

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; `body` is decoded when it is JSON, and the text otherwise."""

    code: int
    body: Any
    headers: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def ok(self) -> Any:
        """The body of a success."""
        assert self.code in (200, 201), f"{self.code}: {self.body}"
        return self.body

    def refused(self, code: int, reason: str) -> str:
        """The message of a refusal with this code and reason."""
        assert (self.code, self.body.get("reason")) == (code, reason), f"{self.code}: {self.body}"
        assert (self.body["kind"], self.body["apiVersion"], self.body["status"]) == ("Status", "v1", "Failure")
        assert self.body["code"] == code
        message: str = self.body["message"]
        return message


class Stream:
    """The events of one watch, read one at a time."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, Any]:
        """The type and object of the next event; fails when none comes."""
        line = await asyncio.wait_for(self._response.content.readline(), TIMEOUT_S)
        assert line, "the stream ended"
        event = orjson.loads(line)
        return event["type"], event["object"]

    async def names(self, count: int) -> list[tuple[str, str]]:
        """The types and object names of the next events."""
        found = [await self.next() for _ in range(count)]
        return [(event_type, obj["metadata"]["name"]) for event_type, obj in found]

    async def count(self) -> int:
        """Read to the end of the stream and count its events."""
        count = 0
        async with asyncio.timeout(TIMEOUT_S):
            while await self._response.content.readline():
                count += 1
        return count

    async def ended(self) -> None:
        """Wait for the server to end the stream; fails when it says anything more."""
        assert await asyncio.wait_for(self._response.content.readline(), TIMEOUT_S) == b""


class Rest:
    """One API server as a client sees it."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self.url = url

    async def get(self, path: str, *, accept: str = JSON, **query: str) -> Reply:
        return await self._send("GET", path, None, {"Accept": accept}, query)

    async def post(self, path: str, obj: Any, *, content_type: str = JSON, **query: str) -> Reply:
        return await self._send("POST", path, obj, {"Content-Type": content_type}, query)

    async def put(self, path: str, obj: Any, **query: str) -> Reply:
        return await self._send("PUT", path, obj, {"Content-Type": JSON}, query)

    async def patch(self, path: str, obj: Any, content_type: str = MERGE_PATCH, **query: str) -> Reply:
        return await self._send("PATCH", path, obj, {"Content-Type": content_type}, query)

    async def apply(self, path: str, obj: Any, manager: str, **query: str) -> Reply:
        return await self.patch(path, obj, APPLY_PATCH, fieldManager=manager, **query)

    async def delete(self, path: str, options: Any = None, **query: str) -> Reply:
        headers = {"Content-Type": JSON} if options is not None else {}
        return await self._send("DELETE", path, options, headers, query)

    @asynccontextmanager
    async def watch(self, path: str, *, accept: str = JSON, **query: str) -> AsyncIterator[Stream]:
        parameters = {"watch": "true", **query}
        async with self._session.get(self.url + path, params=parameters, headers={"Accept": accept}) as response:
            assert response.status == 200, await response.text()
            try:
                yield Stream(response)
            finally:
                if response.connection is not None and response.connection.transport is not None:
                    response.connection.transport.abort()  # a farewell in TLS waits for a peer that goes on talking

    async def gone(self, path: str) -> None:
        """Wait until the object is not there any more."""
        await self.until(path, lambda reply: reply.code == 404)

    async def until(self, path: str, holds: Any) -> Any:
        """Read until `holds(reply)`; return the body. Fails when that does not come true."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                reply = await self.get(path)
                if holds(reply):
                    return reply.body
                await asyncio.sleep(0.01)

    async def _send(self, method: str, path: str, obj: Any, headers: dict[str, str], query: dict[str, str]) -> Reply:
        content = obj if isinstance(obj, bytes | None) else orjson.dumps(obj)
        data = None if content is None else io.BytesIO(content)
        async with self._session.request(method, self.url + path, data=data, headers=headers, params=query) as response:
            answer = await response.read()
            is_json = response.content_type == JSON or response.content_type.endswith("+json")
            body = orjson.loads(answer) if is_json else answer.decode()
            warnings = tuple(response.headers.getall("Warning", ()))
            return Reply(response.status, body, response.headers, warnings)
