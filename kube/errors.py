# ruff: noqa: N818  (the names are those that the API and its documentation use)
"""Error tree of everything that talks to an API server, and the only place where foreign errors become ours.

    KubeError
    ├── ConfigError          no usable kubeconfig or in-cluster configuration
    ├── BadRequest           400: the request itself is malformed
    ├── Unauthorized         401: no valid credentials
    ├── Forbidden            403: RBAC or an admission handler refuses
    ├── NotFound             404: the named object does not exist
    ├── ResourceNotServed    404: the server has no such resource at all; says nothing about any object
    ├── AlreadyExists        409: create of a name that is taken
    ├── Conflict             409: stale resourceVersion or uid, or fields owned by another manager
    ├── Gone                 410: the resourceVersion is too old, list again
    ├── TooLarge             413: the object passes the server's size limit
    ├── Invalid              422: refused by validation; every fault is in `causes`
    └── RetryableError       nothing is wrong with the request, a later attempt may pass
        ├── TooManyRequests  429: `retry_after_s` says when
        ├── ServerTimeout    504, or a timeout that the server reports: the write may or may not have happened
        └── Unavailable      no connection, cut connection, timeout, any other 5xx

A plain KubeError is an answer that fits none of these. Never retries anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import aiohttp

from kube.body import parse
from kube.http_time import retry_after_s

_TEXT_LIMIT_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault in a refused object: `field` is a path such as `spec.ttl`, `reason` a CauseType of the API."""

    field: str
    reason: str
    message: str


class KubeError(Exception):
    """A request failed. `message` is the server's own text, `reason` its StatusReason, `code` the HTTP status or 0."""

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.causes = causes
        self.retry_after_s = retry_after_s


class ConfigError(KubeError):
    """No way to reach an API server is configured; the message lists what was tried."""


class BadRequest(KubeError):
    """400."""


class Unauthorized(KubeError):
    """401."""


class Forbidden(KubeError):
    """403."""


class NotFound(KubeError):
    """The server knows the resource and says that the named object (or its namespace) is not there."""


class ResourceNotServed(KubeError):
    """The server does not serve the resource: whether an object exists is unknown."""


class AlreadyExists(KubeError):
    """The name is taken."""


class Conflict(KubeError):
    """The object changed meanwhile, is another one than meant, or fields belong to another field manager."""


class Gone(KubeError):
    """The resourceVersion or continue token has left the server's history."""


class TooLarge(KubeError):
    """The object passes the server's size limit."""


class Invalid(KubeError):
    """Validation refused the object; see `causes`."""


class RetryableError(KubeError):
    """The same request may pass later."""


class TooManyRequests(RetryableError):
    """Throttled; `retry_after_s` is never None."""


class ServerTimeout(RetryableError):
    """The server gave up waiting; a write may have happened."""


class Unavailable(RetryableError):
    """No answer that could be used; a write may have happened."""


_BY_REASON: Final[Mapping[str, type[KubeError]]] = {
    "AlreadyExists": AlreadyExists,
    "Conflict": Conflict,
    "Expired": Gone,
    "Gone": Gone,
    "Invalid": Invalid,
    "ServerTimeout": ServerTimeout,
    "Timeout": ServerTimeout,
}
_BY_CODE: Final[Mapping[int, type[KubeError]]] = {
    HTTPStatus.BAD_REQUEST: BadRequest,
    HTTPStatus.UNAUTHORIZED: Unauthorized,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.GONE: Gone,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
    HTTPStatus.TOO_MANY_REQUESTS: TooManyRequests,
    HTTPStatus.GATEWAY_TIMEOUT: ServerTimeout,
}
_DEFAULT_RETRY_AFTER_S: Final = 1.0
_ETCD_TOO_LARGE: Final = "etcdserver: request is too large"


def from_response(status_code: int, body: bytes, retry_after: str | None = None) -> KubeError:
    """The error that an HTTP answer of 400 or more stands for; `retry_after` is the header of that name."""
    try:
        status = parse(body)
    except ValueError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return from_status(status, status_code, retry_after)
    text = body[: 4 * _TEXT_LIMIT_CHARACTERS].decode(errors="replace").strip()[:_TEXT_LIMIT_CHARACTERS]
    message = text or f"the server answered HTTP {status_code} without an explanation"
    return from_status({"message": message}, status_code, retry_after)


def from_status(status: Mapping[str, Any], status_code: int = 0, retry_after: str | None = None) -> KubeError:
    """The error that a `Status` object stands for, whether a response body or the object of an ERROR event."""
    stated = status.get("code")
    code = status_code or (stated if isinstance(stated, int) else 0)
    reason = str(status.get("reason") or "")
    details = status.get("details")
    if not isinstance(details, dict):
        details = {}
    message = str(status.get("message") or reason or f"the server answered HTTP {code} without an explanation")
    kind = _kind_of(code, reason, details, message)
    wait_s = retry_after_s(retry_after)
    if wait_s is None:
        wait_s = retry_after_s(details.get("retryAfterSeconds"))
    if wait_s is None and kind is TooManyRequests:
        wait_s = _DEFAULT_RETRY_AFTER_S
    return kind(message, code=code, reason=reason, causes=_causes(details), retry_after_s=wait_s)


def from_transport(error: aiohttp.ClientError | OSError, doing: str) -> Unavailable:
    """The error for a request that got no usable answer; `doing` names the request without its body."""
    if isinstance(error, TimeoutError):
        return Unavailable(f"{doing}: no answer in time")
    if isinstance(error, aiohttp.InvalidURL):
        return Unavailable(f"{doing}: this is no URL")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientConnectorCertificateError):
        return Unavailable(f"{doing}: cannot connect to {error.host}:{error.port}: {_words(error)}")
    return Unavailable(f"{doing}: {error or type(error).__name__}")


def _words(error: aiohttp.ClientConnectorError | aiohttp.ClientConnectorCertificateError) -> str:
    """Why there is no connection, in the system's words: the library's own tell its settings, too."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    cause = error.os_error
    if isinstance(error, aiohttp.ClientConnectorSSLError) and "WRONG_VERSION" in str(cause):
        return "what answers there does not speak TLS"
    system = cause.errno if type(cause).__module__ == "builtins" else None  # not one of TLS, nor of a resolver
    return os.strerror(system) if system and system > 0 else str(cause.strerror or cause)


def _kind_of(code: int, reason: str, details: Mapping[str, Any], message: str) -> type[KubeError]:
    if code == HTTPStatus.NOT_FOUND:
        return NotFound if details.get("name") else ResourceNotServed
    if kind := _BY_REASON.get(reason) or _BY_CODE.get(code):
        return kind
    if _ETCD_TOO_LARGE in message:  # kube-apiserver passes etcd's refusal on as a 500
        return TooLarge
    return Unavailable if code >= HTTPStatus.INTERNAL_SERVER_ERROR else KubeError


def _causes(details: Mapping[str, Any]) -> tuple[Cause, ...]:
    causes = details.get("causes")
    return tuple(
        Cause(str(cause.get("field") or ""), str(cause.get("reason") or ""), str(cause.get("message") or ""))
        for cause in (causes if isinstance(causes, list) else ())
        if isinstance(cause, dict)
    )
