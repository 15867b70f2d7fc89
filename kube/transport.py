"""One pooled HTTP session to one API server: bytes out, bytes in, every failure as a KubeError.

Knows paths, queries, media types and timeouts. Never decodes a body and never retries, save once after renewed
credentials.
"""

from __future__ import annotations

import asyncio
import io
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from aiohttp.connector import Connection
from yarl import URL

from kube import errors
from kube.access import Access
from kube.leadership import assert_leading

Query = Mapping[str, str]
Warn = Callable[[str], None]
"""Gets the text of a server's Warning header (RFC 7234 section 5.5, as Kubernetes uses it), each text once."""

CONNECT_TIMEOUT_S: Final = 10.0
NO_ANSWER: Final = "<error>"
REQUESTS: Final[Counter[tuple[str, str]]] = Counter()
"""How many requests this process has made, by status code, or NO_ANSWER, and method."""
_LARGE_BODY_BYTES: Final = 256 * 1024
_KEEP_ALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class Transport:
    """Owns the session; at most `connections` requests and watches are open at once, further ones wait."""

    def __init__(self, access: Access, *, connections: int, user_agent: str, warn: Warn | None = None) -> None:
        self._access = access
        self._report_warning = warn or _log_warning
        self._base = access.url.rstrip("/")
        self._renewal: asyncio.Task[bool] | None = None
        self._warned: set[str] = set()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections, ssl=access.ssl_context or True, socket_factory=_keep_alive_socket
            ),
            request_class=_FencedRequest,
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": user_agent},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        self._options: dict[str, Any] = {"allow_redirects": False}
        if access.tls_server_name:
            self._options["server_hostname"] = access.tls_server_name
        if access.proxy:
            self._options |= {"proxy": access.proxy, "proxy_headers": access.proxy_headers}

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        query: Query,
        *,
        timeout_s: float,
        body: bytes | None = None,
        media_type: str | None = None,
        accept: str | None = None,
    ) -> bytes:
        """The body of a successful answer, in the form that `accept` asks for, by default JSON. Raises KubeError."""
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S)
        async with self._open(method, path, query, timeout, body, media_type, accept) as response:
            return await response.read()

    @asynccontextmanager
    async def stream(
        self, path: str, query: Query, *, timeout_s: float, idle_timeout_s: float, accept: str | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of a successful GET in the pieces in which it arrives; ends quietly when the server ends it.

        Raises KubeError, also while iterating: Unavailable when nothing arrives for `idle_timeout_s`, when the whole
        takes longer than `timeout_s`, or when the connection breaks.
        """
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S, sock_read=idle_timeout_s)
        async with self._open("GET", path, query, timeout, None, None, accept) as response:
            try:
                yield response.content.iter_any()
            finally:
                _drop(response)

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        query: Query,
        timeout: aiohttp.ClientTimeout,
        body: bytes | None,
        media_type: str | None,
        accept: str | None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = URL(f"{self._base}{path}?{urlencode(query)}" if query else self._base + path, encoded=True)
        headers = {"Content-Type": media_type} if media_type else {}
        if accept:
            headers["Accept"] = accept
        try:
            response = await self._send(method, url, headers, body, timeout)
            async with response:
                await self._judge(response)
                yield response
        except (aiohttp.ClientError, OSError) as error:  # OSError includes TimeoutError
            raise errors.from_transport(error, f"{method} {self._base}{path}") from error

    async def _send(
        self, method: str, url: URL, headers: dict[str, str], body: bytes | None, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """Send, and once more when the credentials were refused and there are newer ones."""
        used = await self._access.authorization()
        response = await self._send_as(used, method, url, headers, body, timeout)
        if response.status != HTTPStatus.UNAUTHORIZED:
            return response
        try:
            renewed = await self._renewed(used)
        except BaseException:
            response.release()
            raise
        if not renewed:
            return response
        response.release()
        return await self._send_as(await self._access.authorization(), method, url, headers, body, timeout)

    async def _send_as(
        self,
        authorization: str | None,
        method: str,
        url: URL,
        headers: dict[str, str],
        body: bytes | None,
        timeout: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        if authorization:
            headers = {**headers, "Authorization": authorization}
        # a large body given as a stream is written piece by piece, and lets others run in between
        data = io.BytesIO(body) if body is not None and len(body) > _LARGE_BODY_BYTES else body
        try:
            response = await self._session.request(
                method, url, headers=headers, data=data, timeout=timeout, **self._options
            )
        except (aiohttp.ClientError, OSError):
            REQUESTS[NO_ANSWER, method] += 1
            raise
        REQUESTS[str(response.status), method] += 1
        return response

    async def _renewed(self, refused: str | None) -> bool:
        """Whether there are other credentials than the refused ones; renews once for all that ask meanwhile."""
        if await self._access.authorization() != refused:
            return True
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.ensure_future(self._access.renew())
        return await asyncio.shield(self._renewal)

    async def _judge(self, response: aiohttp.ClientResponse) -> None:
        for warning in response.headers.getall("Warning", ()):
            self._warn(warning)
        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
            body = await response.read()
            raise errors.from_response(response.status, body, response.headers.get("Retry-After"))

    def _warn(self, text: str) -> None:
        if text not in self._warned and len(self._warned) < 1000:
            self._warned.add(text)
            self._report_warning(text)


class _FencedRequest(aiohttp.ClientRequest):
    """Asks whether a write may still go out when it has its connection: what waited for one may have waited for too long."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        if self.method != "GET":
            assert_leading()
        return await super().send(conn)


def _log_warning(text: str) -> None:
    import structlog  # a short command reports warnings itself, and starts much faster without the logger

    structlog.get_logger(__name__).warning("api server warns", text=text)


def _drop(response: aiohttp.ClientResponse) -> None:
    """End the connection of an answer that was not read to its end, at once: a farewell in TLS waits for a peer that goes on talking."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


def _keep_alive_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket that notices within about a minute that its peer has vanished, while a watch waits in silence."""
    family, kind, protocol, _, _ = address
    connection = socket.socket(family, kind, protocol)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # not every system has all of them
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
    return connection
