"""Health and metrics over HTTP: `/healthz`, `/readyz`, `/metrics`.

Owns the three answers. Never serves anything that changes the server.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Sequence
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry

from kube.monitoring import MonitoringServer
from kube.quantity import counted
from server.config import Address
from server.health.metrics import ServerCollector, exposition
from server.health.state import ServerState
from server.listening.listen import ListenError, open_tcp

_FRESH_S: Final = 180.0
"""API servers send at least a bookmark a minute; three without one are an absence."""


class HealthServer:
    """The HTTP side of one name server."""

    def __init__(self, server: ServerState, addresses: Sequence[Address]) -> None:
        """Take the addresses; raises ListenError."""
        self._server = server
        self._sockets: list[socket.socket] = []
        try:
            for address in addresses:
                self._sockets.append(open_tcp(address))
        except ListenError:
            self._close()
            raise
        self._registry = CollectorRegistry()
        self._registry.register(ServerCollector(server))
        self._http = MonitoringServer({"/healthz": self._health, "/readyz": self._readiness, "/metrics": self._metrics})

    @property
    def port(self) -> int:
        """The port of the first address."""
        return int(self._sockets[0].getsockname()[1])

    async def start(self) -> None:
        for each in self._sockets:
            await self._http.listen_on(each)

    async def stop(self) -> None:
        await self._http.stop()
        self._close()

    def _close(self) -> None:
        for each in self._sockets:
            each.close()

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readiness(self, _request: web.Request) -> web.Response:
        server = self._server
        body = {
            "ready": server.is_ready,
            "zones": len(server.catalog.tables),
            "ageSeconds": _whole(server.snapshot_age_s()),
            "brokenFiles": {str(file.path): reason for file, reason in server.zone_files.broken.items()},
            "message": readiness_message(server),
        }
        return web.json_response(body, status=200 if server.is_ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=exposition(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


def readiness_message(server: ServerState) -> str:
    """Say in words what is served and, when the API is away, how old it is."""
    if server.is_draining:
        return "stopping"
    broken = len(server.zone_files.broken)
    hint = f"; {counted(broken, 'master file')} broken and served as before" if broken else ""
    return _what_is_served(len(server.catalog.tables), server.snapshot_age_s()) + hint


def _what_is_served(zones: int, age_s: float | None) -> str:
    serving = f"serving {counted(zones, 'zone')}"
    if age_s is None or age_s <= _FRESH_S:
        return serving
    if age_s == math.inf:
        if zones:
            return f"{serving} as of an unknown time: the API server has not been heard of since"
        return "waiting for the first view of the API server"
    return f"{serving} as of {age_s:.0f} s ago: the API server has not been heard of since"


def _whole(age_s: float | None) -> int | None:
    """Return an age in whole seconds, None for one that is not known."""
    return None if age_s is None or age_s == math.inf else round(age_s)
