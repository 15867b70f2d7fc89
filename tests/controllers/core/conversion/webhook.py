"""A conversion webhook over real TLS that answers as a test says, and the name resolution that leads to it."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.controllers.core.admission.authority import Authority, ServingPair

NAMESPACE, NAME = "dns-system", "convert"
HOST = f"{NAME}.{NAMESPACE}.svc"
KIND = {"apiVersion": "dns.appthrust.io/v1alpha1", "kind": "ProviderConversionReview"}

Review = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalResolver(AbstractResolver):
    """Every Service is on this machine, but for those that are unknown."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host != HOST:
            raise OSError(f"no address for {host}")
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=socket.AI_NUMERICHOST
            )
        ]

    async def close(self) -> None:
        """Nothing is held."""


class ConversionServer:
    """Listens on a free port; `handler` may be replaced at any time, `requests` are the reviews that came."""

    def __init__(self, authority: Authority, folder: Path, host: str = HOST) -> None:
        self.authority = authority
        self.handler: Handler = self.convert
        self.convert_payload: Callable[[Review], Review] = lambda request: request["payload"]
        self.requests: list[Review] = []
        self.paths: list[str] = []
        self.running = 0
        self.most_at_a_time = 0
        self.port = 0
        pair = ServingPair(folder)
        authority.write(pair, serial=7, host=host)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(pair.certificate, pair.key)

    async def __aenter__(self) -> ConversionServer:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._context)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    @property
    def ca_bundle(self) -> str:
        return base64.b64encode(self.authority.pem).decode()

    def declaration(self, **changes: Any) -> dict[str, Any]:
        """The webhook as a Provider declares it."""
        service = {"namespace": NAMESPACE, "name": NAME, "port": self.port, **changes.pop("service", {})}
        return {"clientConfig": {"service": service, "caBundle": self.ca_bundle}, "timeoutSeconds": 2, **changes}

    async def convert(self, request: web.Request) -> web.StreamResponse:
        """Answer as a webhook should."""
        asked = (await request.json())["request"]
        return web.json_response(success(asked["uid"], self.convert_payload(asked)))

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(f"{request.method} {request.path}")
        if request.can_read_body:
            self.requests.append(await request.json())
        self.running += 1
        self.most_at_a_time = max(self.most_at_a_time, self.running)
        try:
            return await self.handler(request)
        finally:
            self.running -= 1


def success(uid: str, payload: Any, **result: Any) -> Review:
    return {**KIND, "response": {"uid": uid, "result": {"status": "Success", **result}, "payload": payload}}


def failure(uid: str, *, retryable: bool, reason: str = "Unsupported", message: str = "not this one") -> Review:
    result = {"status": "Failure", "reason": reason, "message": message, "retryable": retryable}
    return {**KIND, "response": {"uid": uid, "result": result}}


async def uid_of(request: web.Request) -> str:
    return str((await request.json())["request"]["uid"])


async def never(request: web.Request) -> web.StreamResponse:
    """Let the caller wait."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets the event")
