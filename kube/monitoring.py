"""Plain HTTP for those who watch a process: the kubelet's probes and Prometheus.

Owns which connections are kept: a bounded number of them, so that strangers neither take a process its file descriptors nor keep a
probe out. Never knows what is told.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

MOST_CONNECTIONS: Final = 64
_STOP_S: Final = 0.5

_log = logging.getLogger(__name__)
_log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
"""What is no HTTP is told to whoever sent it and not to the log, which strangers could fill."""

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class MonitoringServer:
    """Answers GET on a few paths, from `listen` or `listen_on` to `stop`.

    Where more than MOST_CONNECTIONS are open, the address that has most of them loses its oldest.
    """

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers
        self._runner: web.AppRunner | None = None
        self._listeners: list[asyncio.Server] = []

    @property
    def port(self) -> int:
        """The port that is listened on first."""
        return int(self._listeners[0].sockets[0].getsockname()[1])

    async def listen(self, host: str | None, port: int) -> None:
        """Take an address, all for None, and answer there; raises OSError."""
        accept = await self._acceptor()
        self._listeners.append(await asyncio.get_running_loop().create_server(accept, host, port))

    async def listen_on(self, bound: socket.socket) -> None:
        """Answer on a socket, which is closed with the others."""
        accept = await self._acceptor()
        self._listeners.append(await asyncio.get_running_loop().create_server(accept, sock=bound))

    async def stop(self) -> None:
        """Listen no more; what is being answered gets a moment for it."""
        for listener in self._listeners:
            listener.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _acceptor(self) -> Callable[[], asyncio.Protocol]:
        if self._runner is None:
            application = web.Application()
            for path, answer in self._answers.items():
                application.router.add_get(path, answer)
            self._runner = web.AppRunner(application, access_log=None, logger=_log, shutdown_timeout=_STOP_S)
            await self._runner.setup()
        web_server = self._runner.server
        assert web_server is not None  # it has been set up

        def accept() -> asyncio.Protocol:
            _make_room(web_server)
            return web_server()

        return accept


def _make_room(web_server: web.Server) -> None:
    """Abort so many connections that there is room for another one."""
    by_client: defaultdict[str, list[asyncio.Transport]] = defaultdict(list)
    for connection in web_server.connections:  # oldest first
        if (transport := connection.transport) is not None and (peer := transport.get_extra_info("peername")):
            by_client[peer[0]].append(transport)
    for _ in range(sum(map(len, by_client.values())) + 1 - MOST_CONNECTIONS):
        max(by_client.values(), key=len).pop(0).abort()
