"""A gate in front of an API server that lets through only what rendered roles allow, and remembers what was asked.

Speaks for the authorizer of a real cluster where the server behind has none. Each client has a gate of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web

from tests.helm.rights import Right, right_needed

_APPLY = "application/apply-patch+yaml"
_DROPPED = {"transfer-encoding", "content-length", "connection", "host", "date", "server"}
_WATCH_LIMIT_S = 3600.0


class Gate:
    """An asynchronous context manager that listens on a free port of the loopback."""

    def __init__(self, upstream: str, rights: frozenset[Right]) -> None:
        self._upstream = upstream
        self._rights = rights
        self.used: set[Right] = set()
        """Rights that something needed."""
        self.refused: set[Right] = set()
        """What was asked for without a right."""
        # A watch is over when its client is gone, whatever the server behind has to say yet.
        self._runner = web.AppRunner(
            _application(self), access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        self._session: aiohttp.ClientSession | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            auto_decompress=False, timeout=aiohttp.ClientTimeout(total=_WATCH_LIMIT_S)
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """Answer a request: with 403 when no right covers it, otherwise with what the server behind says."""
        asked = right_needed(request.method, request.raw_path)
        if asked is not None and not self._allows(asked):
            return _forbidden(asked)
        assert self._session is not None
        body = await request.read()
        if asked is not None and request.content_type == _APPLY and not await self._is_there(request.raw_path):
            # An apply that makes the object needs the right to create it, too.
            creates = Right(asked.group, asked.resource, "create", asked.namespace)
            if not self._allows(creates):
                return _forbidden(creates)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _DROPPED}
        async with self._session.request(
            request.method, f"{self._upstream}{request.raw_path}", data=body or None, headers=headers
        ) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _DROPPED}
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            with contextlib.suppress(ConnectionResetError):  # the client ends watches when it likes
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
            return response

    def _allows(self, asked: Right) -> bool:
        covering = {right for right in self._rights if right.covers(asked)}
        self.used |= covering
        if not covering:
            self.refused.add(asked)
        return bool(covering)

    async def _is_there(self, target: str) -> bool:
        assert self._session is not None
        if re.search(r"/status\?", target):
            return True
        async with self._session.get(f"{self._upstream}{target.partition('?')[0]}") as answer:
            return answer.status == 200


def _application(gate: Gate) -> web.Application:
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_route("*", "/{rest:.*}", gate.pass_on)
    return application


def _forbidden(asked: Right) -> web.Response:
    message = f"the rendered roles do not allow: {asked}"
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
    return web.json_response({**status, "message": message, "metadata": {}}, status=403)


@contextmanager
def own_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Give an event loop that runs in a thread of its own, for tests that wait for programs; fails when tasks are left on it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="gates", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        left = asyncio.all_tasks(loop)
        loop.close()
        assert not left, f"{len(left)} tasks are left, such as {next(iter(left))}"


def write_kubeconfig(path: Path, url: str) -> Path:
    """Write how to get to a server without credentials."""
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(configuration), encoding="utf-8")
    return path
