"""Health and metrics over HTTP: strangers neither pile up nor push out those who watch."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest
from aiohttp import web

from kube.monitoring import MOST_CONNECTIONS, MonitoringServer

ASK = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


class Clients:
    """Connections from addresses of this machine."""

    def __init__(self, stack: ExitStack, port: int) -> None:
        self._stack = stack
        self._port = port

    async def connect(self, client: str) -> socket.socket:
        made = self._stack.enter_context(socket.socket())
        made.setblocking(False)
        made.bind((client, 0))
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", self._port))
        return made


async def ask(connection: socket.socket, octets: bytes = ASK) -> bytes:
    """Return the reply, nothing when the connection has ended."""
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(connection, octets)
        return await asyncio.wait_for(loop.sock_recv(connection, 10_000), 5)
    except ConnectionError:
        return b""


@pytest.fixture
async def server() -> AsyncIterator[MonitoringServer]:
    async def healthy(_request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    made = MonitoringServer({"/healthz": healthy})
    await made.listen("127.0.0.1", 0)
    yield made
    await made.stop()


@pytest.fixture
def clients(server: MonitoringServer) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(stack, server.port)


async def test_strangers_push_out_only_each_other(clients: Clients) -> None:
    watching = await clients.connect("127.0.0.2")
    assert b" 200 " in await ask(watching)
    strangers = [await clients.connect("127.0.0.3") for _ in range(2 * MOST_CONNECTIONS)]
    assert b" 200 " in await ask(watching)
    assert b" 200 " in await ask(await clients.connect("127.0.0.4"))
    replies = [await ask(stranger) for stranger in strangers]
    assert replies[: MOST_CONNECTIONS + 2] == [b""] * (MOST_CONNECTIONS + 2)
    assert all(b" 200 " in reply for reply in replies[MOST_CONNECTIONS + 2 :])


async def test_what_is_no_http_is_refused_and_not_logged(clients: Clients, caplog: pytest.LogCaptureFixture) -> None:
    for octets in (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n"):
        assert b" 400 " in await ask(await clients.connect("127.0.0.2"), octets)
    assert not caplog.records
