"""`/metrics` over plain HTTP, on a listener of its own, and beside it whether the process is well: `/healthz` and `/readyz`.

Owns these paths. Never answers anything else, so that whoever may read numbers reaches nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from kube.monitoring import MonitoringServer

_log = structlog.get_logger(__name__)


class MetricsListenError(OSError):
    """The address cannot be taken; the text names it and says why."""


class MetricsServer:
    """An async context manager that listens while it is entered; a `host` of None means all addresses, port 0 any free one.

    `/healthz` is answered as long as anything is, `/readyz` with 503 until `is_ready` says yes.
    """

    def __init__(self, host: str | None, port: int, is_ready: Callable[[], bool]) -> None:
        self._address = (host, port)
        self._is_ready = is_ready
        self._http = MonitoringServer({"/healthz": _health, "/readyz": self._readiness, "/metrics": _show})

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._http.port

    async def __aenter__(self) -> MetricsServer:
        """Listen. Raises MetricsListenError."""
        host, port = self._address
        try:
            await self._http.listen(host, port)
        except OSError as error:
            await self._http.stop()
            message = f"metrics: cannot listen on {host or 'all addresses'}, port {port}: {error.strerror}"
            raise MetricsListenError(message) from error
        _log.info("metrics are served", port=self.port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening."""
        await self._http.stop()

    async def _readiness(self, request: web.Request) -> web.Response:
        if self._is_ready():
            return web.Response(text="ok\n")
        return web.Response(text="caches are not complete yet\n", status=503)


async def _health(request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


async def _show(request: web.Request) -> web.Response:
    return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
