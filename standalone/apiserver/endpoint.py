"""The HTTP face: one handler for every request.

Owns authentication, routing and the last line of defence: whatever goes wrong, the client gets a Status object.
"""

from __future__ import annotations

import asyncio
import hmac

import structlog
from aiohttp import HttpVersion11, web

from standalone.apiserver.answered import Answered
from standalone.apiserver.api import Api
from standalone.apiserver.documents import Documents
from standalone.apiserver.kinds.builtin import NAMESPACE
from standalone.apiserver.kinds.namespace import FINALIZE
from standalone.apiserver.path import ResourcePath, parse_path
from standalone.apiserver.respond import respond_refusal
from standalone.apiserver.security import names_loopback
from standalone.apiserver.status import (
    ApiError,
    bad_request,
    body_too_large,
    foreign_host,
    internal,
    method_not_allowed,
    no_such_path,
    object_too_large,
    unauthorized,
)
from standalone.apiserver.target import Target
from standalone.apiserver.verbs import Verbs
from standalone.resource import Resource
from standalone.store.failure import CommitError, ObjectTooLargeError

log = structlog.get_logger()

LIMIT_BODY_BYTES = 3 * 1024 * 1024
STATUS = "status"


class Endpoint:
    """Answers every request of one API; with a token only those that carry it, without one only those that name loopback."""

    def __init__(self, api: Api, token: str | None = None, answered: Answered | None = None) -> None:
        self._registry = api.registry
        self._documents = Documents(api.registry)
        self._verbs = Verbs(api, answered)
        api.store.listen(self._verbs.follow)
        self._authorization = None if token is None else f"Bearer {token}".encode()

    def close(self) -> None:
        """End what would go on for ever."""
        self._verbs.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; refusals become Status objects."""
        try:
            return await self._route(request)
        except ApiError as error:
            return respond_refusal(error)
        except ObjectTooLargeError as error:
            return respond_refusal(object_too_large(error.size_bytes, error.limit_bytes))
        except CommitError as error:
            return respond_refusal(internal(str(error)))
        except web.HTTPRequestEntityTooLarge:
            return respond_refusal(body_too_large(LIMIT_BODY_BYTES))
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:  # the socket edge: one broken request must not end the server
            if _nests_too_deeply(error):
                return respond_refusal(bad_request("the body of the request is nested too deeply"))
            log.exception("request failed", method=request.method, path=request.path)
            return respond_refusal(internal(f"{type(error).__name__}: {error}"))

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        self._authenticate(request)
        await _invite(request)
        path = parse_path(request.rel_url.raw_path)
        resource = None if path is None else self._registry.lookup(path.group, path.version, path.plural)
        if path is None or resource is None:
            return self._document(request)
        _check_fit(path, resource)
        return await self._verbs.run(request, Target(resource, path.namespace, path.name, path.subresource))

    def _authenticate(self, request: web.BaseRequest) -> None:
        if self._authorization is None:
            host = request.headers.get("Host")
            if host is not None and not names_loopback(host):
                raise foreign_host(host)
            return
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(given, self._authorization):
            raise unauthorized()

    def _document(self, request: web.BaseRequest) -> web.Response:
        document = self._documents.find(request.rel_url.path, request.headers.get("Accept", ""))
        if document is None:
            raise no_such_path()
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return web.Response(body=document.content, headers={"Content-Type": document.content_type})


def _nests_too_deeply(error: Exception) -> bool:
    """Whether a body went deeper than Python or the JSON encoder do, which raises a plain TypeError for it."""
    return isinstance(error, RecursionError) or (type(error) is TypeError and str(error) == "Recursion limit reached")


async def _invite(request: web.BaseRequest) -> None:
    """Tell a client that waits with its body to send it (RFC 9110 section 10.1.1): some would wait for ever."""
    if request.headers.get("Expect", "").lower() == "100-continue" and request.version == HttpVersion11:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # that was not part of the answer


def _check_fit(path: ResourcePath, resource: Resource) -> None:
    """Refuse paths that do not fit the resource's scope or name a subresource it has not got."""
    misplaced = path.namespace and not resource.namespaced
    nowhere = path.name and resource.namespaced and not path.namespace
    has_status, is_namespace = resource.has_status, resource.storage_key == NAMESPACE.storage_key
    known = {STATUS: has_status, FINALIZE: is_namespace}
    unknown = path.subresource and not known.get(path.subresource)
    if misplaced or nowhere or unknown:
        raise no_such_path()
