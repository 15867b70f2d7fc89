"""A name server beside the test, in a thread and event loop of its own as in production, so that tests can use plain sockets."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from server.app import NameServer
from server.config import Address, ServerConfig, ZoneFile
from tests.server.question import Target
from tests.server.running import ANY_PORT

T = TypeVar("T")

PATIENCE_S = 60.0
ZONES = Path(__file__).parent / "zones"
EVERY_ZONE = tuple(ZoneFile(path) for path in sorted(ZONES.glob("*.zone")))


@dataclass
class Beside:
    """The server, and its event loop for what has to happen there."""

    server: NameServer
    loop: asyncio.AbstractEventLoop
    ending: asyncio.Event

    @property
    def target(self) -> Target:
        return target(self.server.addresses[0])

    @property
    def tls_target(self) -> Target:
        return target(self.server.tls_addresses[0])

    def reload(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.reload(), self.loop).result(PATIENCE_S)

    def read(self, value: Callable[[], T]) -> T:
        """Read something of the server between two of its steps."""

        async def step() -> T:
            return value()

        return asyncio.run_coroutine_threadsafe(step(), self.loop).result(PATIENCE_S)

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition of the server holds."""

        async def wait() -> None:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():  # noqa: ASYNC110 - any condition, so there is no event
                    await asyncio.sleep(0.005)

        try:
            asyncio.run_coroutine_threadsafe(wait(), self.loop).result(2 * PATIENCE_S)
        except TimeoutError:
            raise AssertionError(f"still not: {what}") from None


def target(address: Address) -> Target:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)
    return Target(host, address.port)


def config(**options: Any) -> ServerConfig:
    """A server of all test zones on a free port of this machine, unless the options say otherwise."""
    return ServerConfig(**{"listen": (ANY_PORT,), "zone_files": EVERY_ZONE, **options})


@contextmanager
def beside(what: ServerConfig) -> Iterator[Beside]:
    ready = threading.Event()
    found: list[Beside] = []
    failures: list[BaseException] = []

    async def serve() -> None:
        server, ending = NameServer(what), asyncio.Event()
        try:
            await server.start()
            loop = asyncio.get_running_loop()
            found.append(Beside(server, loop, ending))
            ready.set()
            await ending.wait()
        finally:
            await server.stop()

    def run() -> None:
        try:
            uvloop.run(serve())
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        ready.wait(PATIENCE_S)
        if not found:
            raise failures[0]
        yield found[0]
    finally:
        if found and thread.is_alive():
            with contextlib.suppress(RuntimeError):  # a test that ended the server itself: its loop may close meanwhile
                found[0].loop.call_soon_threadsafe(found[0].ending.set)
        thread.join(PATIENCE_S)
    if failures:
        raise failures[0]
