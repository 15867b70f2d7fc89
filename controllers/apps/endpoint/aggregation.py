"""The conversion APIs as an aggregated API (apiregistration.k8s.io): discovery and creation over HTTP, for the front proxy alone.

The API server has authenticated and authorised whoever asks before it passes a request on. Owns paths and status codes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import orjson
import structlog
from aiohttp import web

from controllers.api.endpoint_conversion import CONVERSION_PLURAL
from controllers.apps.endpoint.conversion_api import (
    ConversionApi,
    QuestionError,
    aggregated_list,
    group_list,
)
from controllers.apps.endpoint.front_proxy import CONFIG_KEY, FrontProxy, user_of
from kube.informer import Informer

_log = structlog.get_logger(__name__)

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
Handler = Callable[[web.Request], Awaitable[web.Response]]


class Aggregation:
    """Adds the paths of conversion APIs to a server."""

    def __init__(self, apis: Sequence[ConversionApi], proxy: Informer[FrontProxy]) -> None:
        self._apis = tuple(apis)
        self._proxy = proxy

    def mount(self, application: web.Application) -> None:
        """Add every path."""
        router = application.router
        router.add_get("/apis", self._guarded(self._groups))
        for api in self._apis:
            ref = api.conversion.resource
            base = f"/apis/{ref.group}"
            router.add_get(base, self._guarded(_document(api.api_group())))
            router.add_get(f"{base}/{ref.version}", self._guarded(_document(api.resource_list())))
            path = f"{base}/{ref.version}/{CONVERSION_PLURAL}"
            router.add_post(path, self._guarded(_creation(api)))
            router.add_route("*", path, self._guarded(_not_allowed))
            router.add_route("*", f"{path}/{{rest:.*}}", self._guarded(_not_allowed))

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: web.Request) -> web.Response:
            transport = request.transport
            certificate = transport.get_extra_info("peercert") if transport is not None else None
            if user_of(self._proxy.get(CONFIG_KEY), certificate, request.headers) is None:
                return _status(401, "Unauthorized", "the request does not come from the API server's front proxy")
            return await handler(request)

        return guarded

    async def _groups(self, request: web.Request) -> web.Response:
        if "as=APIGroupDiscoveryList" in request.headers.get("Accept", ""):
            return web.Response(body=orjson.dumps(aggregated_list(self._apis)), headers={"Content-Type": AGGREGATED})
        return _json(200, group_list(self._apis))


def _document(document: Mapping[str, Any]) -> Handler:
    async def serve(request: web.Request) -> web.Response:
        return _json(200, document)

    return serve


def _creation(api: ConversionApi) -> Handler:
    async def create(request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            message = f"Content-Type: found {request.content_type}, allowed: application/json"
            return _status(415, "UnsupportedMediaType", message)
        try:
            question = orjson.loads(await request.read())
        except orjson.JSONDecodeError as error:
            return _status(400, "BadRequest", f"body: found no JSON ({error}), allowed: {api.conversion.resource.kind}")
        if not isinstance(question, dict) or not isinstance(question.get("metadata") or {}, dict):
            return _status(400, "BadRequest", f"body: found no object, allowed: {api.conversion.resource.kind}")
        try:
            return _json(201, api.answer(question))
        except QuestionError as error:
            causes = [
                {"reason": "FieldValueInvalid", "field": each.field, "message": each.message} for each in error.faults
            ]
            return _status(422, "Invalid", str(error), {"kind": api.conversion.resource.kind, "causes": causes})

    return create


async def _not_allowed(request: web.Request) -> web.Response:
    return _status(405, "MethodNotAllowed", "conversions are created only: they are answered at once and kept nowhere")


def _status(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> web.Response:
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": dict(details or {}),
        "code": code,
    }
    return _json(code, status)


def _json(code: int, document: Mapping[str, Any]) -> web.Response:
    return web.Response(status=code, body=orjson.dumps(document), content_type="application/json")
