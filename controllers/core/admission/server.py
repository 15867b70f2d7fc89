"""The webhook server: admission hooks over HTTPS, as an API server calls them, and health for whoever watches the process.

Owns sockets, bounds and timeouts. Decides nothing and keeps nothing, so any number of replicas may serve at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from aiohttp import web

from controllers.core.admission.certificate import ServingCertificate
from controllers.core.admission.handler import Hook
from controllers.core.admission.review import ReviewError
from controllers.runtime.tracing import span

_log = structlog.get_logger(__name__)

PORT: Final = 9443
HEALTH_PATHS: Final = ("/healthz", "/readyz")
"""Answered with 200 as long as hooks are answered at all: whoever starts the server does so when admission can judge."""

BODY_LIMIT_OCTETS: Final = 8 * 1024 * 1024
"""Two objects of the largest size that etcd takes, with what JSON and the request around them add."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of the server; times are those after which a connection or a request is given up.

    A request is read before it takes one of the `in_flight` places, so that slow senders keep nobody from being answered.
    """

    body_octets: int = BODY_LIMIT_OCTETS
    reading: int = 128
    in_flight: int = 32
    handshake_s: float = 5.0
    read_s: float = 3.0
    request_s: float = 8.0
    idle_s: float = 75.0
    drain_s: float = 5.0


Mount = Callable[[web.Application], None]


class ListenError(OSError):
    """The address cannot be taken; the text names it and says why."""


@dataclass(frozen=True, slots=True)
class WebhookConfig:
    """Where hooks are served and with which certificate; a `host` of None means all addresses, port 0 any free one."""

    certificate: ServingCertificate
    host: str | None = None
    port: int = PORT


class WebhookServer:
    """Serves hooks at their paths; an async context manager that listens while it is entered."""

    def __init__(
        self,
        hooks: Sequence[Hook],
        certificate: ServingCertificate,
        *,
        host: str | None = None,
        port: int = PORT,
        limits: ServerLimits | None = None,
        mounts: Sequence[Mount] = (),
    ) -> None:
        """Take what to serve; `port` 0 takes any free one, a `host` of None all addresses. `mounts` add paths of their own."""
        self._certificate = certificate
        self._limits = limits or ServerLimits()
        self._address = (host, port)
        self._desks = asyncio.Semaphore(self._limits.reading)
        self._places = asyncio.Semaphore(self._limits.in_flight)
        application = web.Application(client_max_size=self._limits.body_octets)
        for hook in hooks:
            application.router.add_post(hook.path, self._route(hook))
        for path in HEALTH_PATHS:
            application.router.add_get(path, _healthy)
        for mount in mounts:
            mount(application)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            keepalive_timeout=self._limits.idle_s,
            shutdown_timeout=self._limits.drain_s,
            handler_cancellation=True,
        )
        self._listener: asyncio.Server | None = None
        self._follower: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that is listened on."""
        if self._listener is None:
            raise RuntimeError("the webhook server does not listen yet")
        return int(self._listener.sockets[0].getsockname()[1])

    async def __aenter__(self) -> WebhookServer:
        """Listen. Raises ListenError."""
        await self._runner.setup()
        host, port = self._address
        try:
            self._listener = await asyncio.get_running_loop().create_server(
                self._runner.server,  # type: ignore[arg-type] # it makes protocols, but is not declared as a callable
                host,
                port,
                ssl=self._certificate.context,
                ssl_handshake_timeout=self._limits.handshake_s,
            )
        except OSError as error:
            await self._runner.cleanup()
            raise ListenError(f"cannot listen on {host or 'all addresses'}, port {port}: {error.strerror}") from error
        self._follower = asyncio.create_task(self._certificate.follow())
        _log.info("webhook.listening", port=self.port)
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Stop listening, let requests in flight end, then close."""
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)
        if self._listener is not None:
            self._listener.close()
        await self._runner.cleanup()

    def _route(self, hook: Hook) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def serve(request: web.Request) -> web.Response:
            try:
                async with asyncio.timeout(self._limits.request_s):
                    with span("admission", path=hook.path):
                        return await self._judged(hook, request)
            except TimeoutError:
                _log.warning("webhook.timeout", path=hook.path)
                limits = self._limits
                return _text(
                    504, f"the request was not read within {limits.read_s} s and answered within {limits.request_s} s"
                )
            except ReviewError as error:
                return _text(400, str(error))
            except web.HTTPException:
                raise
            except Exception:  # noqa: BLE001 - the socket edge: one request must not end the server
                _log.exception("webhook.failed", path=hook.path)
                return _text(500, "the request could not be judged; the manager's log says why")

        return serve

    async def _judged(self, hook: Hook, request: web.Request) -> web.Response:
        body = await self._read(request)
        async with self._places:
            return _json(await hook.handler(_parse(body)))

    async def _read(self, request: web.Request) -> bytes:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(
                text=f"Content-Type: found {request.content_type}, allowed: application/json"
            )
        async with self._desks, asyncio.timeout(self._limits.read_s):
            return await request.read()


async def _healthy(request: web.Request) -> web.Response:
    return _text(200, "ok")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ReviewError(f"body: found no JSON ({error}), allowed: an AdmissionReview") from error
    if not isinstance(review, dict):
        raise ReviewError(f"body: found {type(review).__name__}, allowed: an AdmissionReview")
    return review


def _json(review: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(review), content_type="application/json")


def _text(status: int, message: str) -> web.Response:
    return web.Response(status=status, text=message)
