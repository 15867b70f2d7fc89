"""`ConversionClient`: asks a conversion webhook one question over HTTPS.

Owns sessions, trust and bounds: the server must prove the name `<name>.<namespace>.svc` under the Provider's own CA bundle, the whole
exchange ends within the Provider's timeout, and an answer past ANSWER_LIMIT_BYTES is refused unread. Follows no redirect, keeps no
cookie, uses no proxy. Never retries.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import ssl
from functools import lru_cache
from http import HTTPStatus
from types import TracebackType
from typing import Final
from uuid import uuid4

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from controllers.core.providercontract.conversion.answer import read_answer
from controllers.core.providercontract.conversion.outcome import Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionRequest

ANSWER_LIMIT_BYTES: Final = 256 * 1024
DNS_CACHE_S: Final = 10
_CHUNK_BYTES: Final = 16 * 1024
_HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
_LATER: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class ConversionClient:
    """Asks webhooks; use it as an asynchronous context, in one event loop.

    `resolver` turns the name of a Service into addresses; without one the system's resolver does.
    """

    def __init__(self, resolver: AbstractResolver | None = None) -> None:
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> ConversionClient:
        connector = aiohttp.TCPConnector(resolver=self._resolver, limit=0, ttl_dns_cache=DNS_CACHE_S)
        self._session = aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, headers=_HEADERS
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def convert(self, request: ConversionRequest) -> Outcome:
        """Ask once; every way in which that can end is an outcome."""
        service, timeout_s = request.service, request.webhook.timeout_seconds
        try:
            context = _context(request.webhook.client_config.ca_bundle)
        except (ValueError, ssl.SSLError):
            return Unavailable("the caBundle of the webhook holds no certificates that can be read")
        where = f"Service {service.namespace}/{service.name}"
        try:
            async with asyncio.timeout(timeout_s):
                return await self._post(request, context, where)
        except TimeoutError:
            return Unavailable(f"{where} did not answer within {timeout_s} s")
        except aiohttp.ClientSSLError as error:  # a certificate that does not prove the name stands below it too
            return Unavailable(f"{where} cannot be trusted: {_cause(error)}")
        except (aiohttp.ClientError, OSError) as error:
            return Unavailable(f"{where} cannot be reached: {_cause(error)}")

    async def _post(self, request: ConversionRequest, context: ssl.SSLContext, where: str) -> Outcome:
        assert self._session is not None, "used outside of its context"
        uid = str(uuid4())
        async with self._session.post(
            address(request), data=request.review(uid), ssl=context, allow_redirects=False
        ) as response:
            if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR or response.status in _LATER:
                return Unavailable(f"{where} answered with HTTP status {response.status}")
            if response.status != HTTPStatus.OK:
                return Failed(f"{where} answered with HTTP status {response.status}, allowed is {HTTPStatus.OK:d}")
            body = await _bounded(response)
            if body is None:
                return Failed(f"the answer of {where} is larger than {ANSWER_LIMIT_BYTES} octets")
            return read_answer(body, uid)


def address(request: ConversionRequest) -> URL:
    """Return where a request goes."""
    service = request.service
    host = f"{service.name}.{service.namespace}.svc"
    return URL.build(scheme="https", host=host, port=service.port, path=service.path)


async def _bounded(response: aiohttp.ClientResponse) -> bytes | None:
    """Return the body, or None for one past the limit, whose rest is not read."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > ANSWER_LIMIT_BYTES:
            response.close()
            return None
    return bytes(body)


@lru_cache(maxsize=64)
def _context(ca_bundle: str) -> ssl.SSLContext:
    """Trust in a bundle (PEM, base64) and in nothing else. Raises ValueError or ssl.SSLError."""
    try:
        pem = base64.b64decode(ca_bundle, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("no PEM in base64") from error
    if not pem.strip():  # with nothing to trust, the standard library would trust the whole system
        raise ValueError("an empty bundle")
    return ssl.create_default_context(cadata=pem)


def _cause(error: BaseException) -> str:
    """Return what the network says, in few words and without addresses of any depth below it."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        inner = error.certificate_error
        return getattr(inner, "verify_message", "") or type(inner).__name__
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
