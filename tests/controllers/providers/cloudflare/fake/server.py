"""The fake as an HTTP server: routes, tokens, envelopes, pages, and the faults that a test orders.

Shapes are those of Cloudflare's public API reference. With `strict` each answer is parsed with the models of Cloudflare's own SDK before
it is sent, so that the fake cannot answer what the service would not.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, List  # noqa: UP035 - the SDK's validator takes typing's own generics

from aiohttp import web
from cloudflare._models import validate_type
from cloudflare.types.accounts import Account
from cloudflare.types.dns import RecordBatchResponse, RecordResponse
from cloudflare.types.user import TokenVerifyResponse
from cloudflare.types.zones import Zone, ZoneDeleteResponse

from tests.controllers.providers.cloudflare.fake.failure import (
    BAD_HEADER,
    INVALID_TOKEN,
    NO_RECORD,
    NO_ROUTE,
    ApiError,
    Call,
    Fault,
    Kind,
)
from tests.controllers.providers.cloudflare.fake.state import State, Token

PREFIX = "/client/v4"
PAGE = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>"
DEFAULT_PER_PAGE = 100


class FakeCloudflare:
    """Use as an asynchronous context manager; `calls` are all requests so far, `faults` are struck in order."""

    def __init__(self, *, strict: bool = False) -> None:
        self.state = State()
        self.calls: list[Call] = []
        self.bodies: list[tuple[Call, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[Fault] = []
        self.before_write: Callable[[Call], None] = lambda _: None
        self.url = ""
        self._strict = strict
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> FakeCloudflare:
        app = web.Application()
        app.add_routes(
            [
                web.get(f"{PREFIX}/user/tokens/verify", self._handler(self._verify)),
                web.get(f"{PREFIX}/accounts", self._handler(self._accounts)),
                web.get(f"{PREFIX}/zones", self._handler(self._zones)),
                web.post(f"{PREFIX}/zones", self._handler(self._create_zone)),
                web.get(f"{PREFIX}/zones/{{zone}}", self._handler(self._zone)),
                web.delete(f"{PREFIX}/zones/{{zone}}", self._handler(self._delete_zone)),
                web.get(f"{PREFIX}/zones/{{zone}}/dns_records", self._handler(self._records)),
                web.get(f"{PREFIX}/zones/{{zone}}/dns_records/{{record}}", self._handler(self._record)),
                web.post(f"{PREFIX}/zones/{{zone}}/dns_records/batch", self._handler(self._batch)),
                web.route("*", "/{rest:.*}", self._handler(self._nothing)),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}{PREFIX}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def fail(self, kind: Kind, chosen: Callable[[Call], bool] = lambda _: True, **more: Any) -> Fault:
        """Order a fault."""
        fault = Fault(kind, chosen, **more)
        self.faults.append(fault)
        return fault

    @property
    def writes(self) -> list[Call]:
        return [call for call in self.calls if call.writes]

    def _handler(
        self, answer: Callable[[web.Request, Token, Any], Any]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            call = Call(request.method, request.path.removeprefix(PREFIX), dict(request.query))
            self.calls.append(call)
            self.headers.append(dict(request.headers))
            fault = next((each for each in self.faults if each.strikes(call)), None)
            if fault is not None and not fault.kind.after:
                return await self._strike(request, fault)
            body = await request.json() if request.can_read_body else {}
            self.bodies.append((call, body))
            if call.writes:
                self.before_write(call)
            try:
                payload = answer(request, self._token(request), body)
            except ApiError as error:
                return _envelope(error.status, errors=[{"code": error.code, "message": error.message}])
            if fault is not None:
                payload = _spoilt(payload, fault.kind)
                if fault.kind.name.startswith("AFTER"):
                    return await self._strike(request, fault)
            return _envelope(200, **payload)

        return handle

    async def _strike(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        match fault.kind:
            case Kind.SERVER_ERROR | Kind.AFTER_SERVER_ERROR:
                return _envelope(500, errors=[{"code": 10013, "message": "Unknown error occurred"}])
            case Kind.BAD_GATEWAY_HTML:
                return web.Response(status=502, text=PAGE, content_type="text/html")
            case Kind.UNAUTHORIZED:
                return _envelope(401, errors=[{"code": INVALID_TOKEN.code, "message": INVALID_TOKEN.message}])
            case Kind.NOT_THERE:
                return _envelope(404, errors=[{"code": NO_RECORD.code, "message": NO_RECORD.message}])
            case Kind.NOT_FOUND_HTML:
                return web.Response(status=404, text=PAGE, content_type="text/html")
            case Kind.OK_HTML | Kind.AFTER_HTML:
                return web.Response(status=200, text=PAGE, content_type="text/html")
            case Kind.TOO_MANY:
                headers = {"Retry-After": str(fault.retry_after_s)}
                error = {"code": 10429, "message": "Please wait and consider throttling your request speed"}
                return _envelope(429, errors=[error], headers=headers)
            case Kind.NOT_SUCCESS:
                return _envelope(200, errors=[{"code": 10500, "message": "Internal error"}])
            case Kind.NO_RESULT | Kind.AFTER_NO_RESULT:
                return _envelope(200, result=None)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def _token(self, request: web.Request) -> Token:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not text:
            raise BAD_HEADER
        token = self.state.tokens.get(text)
        if token is None:
            raise INVALID_TOKEN
        return token

    def _verify(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        result = {"id": token.id, "status": token.status}
        for name in ("expires_on", "not_before"):
            if getattr(token, name) is not None:
                result[name] = getattr(token, name)
        said = [{"code": 10000, "message": "This API Token is valid and active", "type": None}]
        return {"result": self._typed(result, TokenVerifyResponse), "messages": said}

    def _accounts(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        found = [self.state.accounts[each] for each in token.accounts]
        return self._page(request, found, List[Account])  # noqa: UP006

    def _zones(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        found = self.state.list_zones(token, request.query.get("name"), request.query.get("account.id"))
        return self._page(request, found, List[Zone])  # noqa: UP006

    def _create_zone(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        return {"result": self._typed(self.state.create_zone(token, body), Zone)}

    def _zone(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        return {"result": self._typed(self.state.zone(token, request.match_info["zone"]), Zone)}

    def _delete_zone(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        return {"result": self._typed(self.state.delete_zone(token, request.match_info["zone"]), ZoneDeleteResponse)}

    def _records(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        name, kind = request.query.get("name.exact"), request.query.get("type")
        found = [
            each
            for each in self.state.list_records(token, request.match_info["zone"])
            if name in (None, each["name"]) and kind in (None, each["type"])
        ]
        return self._page(request, found, List[RecordResponse])  # noqa: UP006

    def _record(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        zone, record = request.match_info["zone"], request.match_info["record"]
        return {"result": self._typed(self.state.record(token, zone, record), RecordResponse)}

    def _batch(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        return {"result": self._typed(self.state.batch(token, request.match_info["zone"], body), RecordBatchResponse)}

    def _nothing(self, request: web.Request, token: Token, body: Any) -> dict[str, Any]:
        raise NO_ROUTE

    def _page(self, request: web.Request, found: list[Any], kind: Any) -> dict[str, Any]:
        page = int(request.query.get("page", 1))
        size = int(request.query.get("per_page", DEFAULT_PER_PAGE))
        part = found[(page - 1) * size : page * size]
        info = {
            "page": page,
            "per_page": size,
            "count": len(part),
            "total_count": len(found),
            "total_pages": max(1, -(-len(found) // size)),
        }
        return {"result": self._typed(part, kind), "result_info": info}

    def _typed(self, result: Any, kind: Any) -> Any:
        if self._strict:
            validate_type(type_=kind, value=json.loads(json.dumps(result)))
        return result


def _envelope(
    status: int,
    *,
    result: Any = None,
    errors: list[dict[str, Any]] | None = None,
    messages: list[Any] | None = None,
    result_info: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> web.Response:
    body = {"success": not errors, "errors": errors or [], "messages": messages or [], "result": result}
    if result_info is not None:
        body["result_info"] = result_info
    return web.json_response(body, status=status, headers=headers)


def _spoilt(payload: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """Return a payload whose objects have wrong identifiers, when that is the fault."""
    result = payload.get("result")
    if kind not in {Kind.MALFORMED_ID, Kind.DUPLICATE_ID} or not result:
        return payload
    if isinstance(result, list):
        return {**payload, "result": _misnamed(result, kind)}
    if "id" in result:
        wrong = "not-an-identifier" if kind is Kind.MALFORMED_ID else result["id"]
        return {**payload, "result": {**result, "id": wrong}}
    return {**payload, "result": {verb: _misnamed(each or [], kind) for verb, each in result.items()}}


def _misnamed(objects: list[dict[str, Any]], kind: Kind) -> list[dict[str, Any]]:
    """Return objects of which the last has a wrong identifier."""
    if not objects:
        return objects
    wrong = "not-an-identifier" if kind is Kind.MALFORMED_ID else objects[0]["id"]
    return [*objects[:-1], {**objects[-1], "id": wrong}]
