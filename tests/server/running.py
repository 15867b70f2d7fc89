"""A name server inside the test's own event loop, and questions that wait for what is to come."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import dns.asyncquery
import dns.message
import dns.rcode

from kube.access import Access
from kube.client import Client
from server.app import NameServer
from server.config import Address, ServerConfig
from tests.server.hosted_api import HostedApi

ANY_PORT = Address("127.0.0.1", 0)
PATIENCE_S = 60.0


@asynccontextmanager
async def running(config: ServerConfig) -> AsyncIterator[NameServer]:
    server = NameServer(config)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def following(api: HostedApi, **options: Any) -> AsyncIterator[NameServer]:
    """A server of the fake API's zones."""
    async with Client(Access(api.url), field_manager="server") as client:
        config = ServerConfig((ANY_PORT,), **{"name": "pod-a", "client": client, "http": (ANY_PORT,), **options})
        async with running(config) as server:
            yield server


async def ask(server: NameServer, name: str, rdtype: str = "A") -> dns.message.Message:
    query = dns.message.make_query(name, rdtype, flags=0)
    return await dns.asyncquery.udp(query, "127.0.0.1", PATIENCE_S, server.ports[0])


async def data(server: NameServer, name: str, rdtype: str = "A") -> list[str] | str:
    """The answer's data, sorted, or the RCODE when it is not NOERROR."""
    reply = await ask(server, name, rdtype)
    if reply.rcode() != dns.rcode.NOERROR:
        return dns.rcode.to_text(reply.rcode())
    return sorted(str(rdata) for rrset in reply.answer for rdata in rrset)


async def becomes(server: NameServer, name: str, expected: list[str] | str, rdtype: str = "A") -> None:
    """Wait until a question gets this answer."""
    found: list[str] | str = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            while (found := await data(server, name, rdtype)) != expected:  # noqa: ASYNC110 - a reply announces nothing
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"{name} {rdtype} is still {found}, expected {expected}") from None


async def until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition, which may be a coroutine function, holds."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await _holds(condition):  # noqa: ASYNC110 - any condition, so there is no event
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"still not: {what}") from None


async def _holds(condition: Callable[[], object]) -> bool:
    result = condition()
    return bool(await result if inspect.isawaitable(result) else result)
