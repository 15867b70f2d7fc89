"""`Access`: how to reach one API server. A plain value; never reads a file or the environment."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


async def _anonymous() -> str | None:
    return None


async def _no_renewal() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Access:
    """Where the API server is and what proves who we are.

    `url` has a scheme and may have a path prefix. `authorization` gives the value of the Authorization header, asked
    before every request. `renew` is asked once after a 401 and says whether another attempt makes sense.
    """

    url: str
    ssl_context: ssl.SSLContext | None = None
    tls_server_name: str | None = None
    proxy: str | None = None
    proxy_headers: Mapping[str, str] | None = None
    authorization: Callable[[], Awaitable[str | None]] = field(default=_anonymous)
    renew: Callable[[], Awaitable[bool]] = field(default=_no_renewal)


def with_token(url: str, token: str, ssl_context: ssl.SSLContext | None = None) -> Access:
    """Access by a fixed bearer token."""

    async def authorization() -> str:
        return f"Bearer {token}"

    return Access(url, ssl_context, authorization=authorization)


AccessSource = Callable[[], Awaitable[Access]]
