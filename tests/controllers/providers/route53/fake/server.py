"""Both services on one HTTP port, in a thread of their own; every call is noted, and goes wrong when a fault is due."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from tests.controllers.providers.route53.fake import xml
from tests.controllers.providers.route53.fake.error import AwsError, access_denied
from tests.controllers.providers.route53.fake.fault import Fault, Faults, Trouble
from tests.controllers.providers.route53.fake.identity import Caller, Identities
from tests.controllers.providers.route53.fake.route53 import Route53

START_S = 60.0
STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
VERSION = "/2013-04-01"
ID = "(?P<id>[A-Za-z0-9]+)"
ROUTES = tuple(
    (method, re.compile(f"{VERSION}{path}/?"), operation)
    for method, path, operation in (
        ("POST", "/hostedzone", "CreateHostedZone"),
        ("GET", f"/hostedzone/{ID}", "GetHostedZone"),
        ("DELETE", f"/hostedzone/{ID}", "DeleteHostedZone"),
        ("GET", "/hostedzonesbyname", "ListHostedZonesByName"),
        ("GET", f"/hostedzone/{ID}/rrset", "ListResourceRecordSets"),
        ("POST", f"/hostedzone/{ID}/rrset", "ChangeResourceRecordSets"),
        ("GET", f"/change/{ID}", "GetChange"),
        ("GET", f"/tags/hostedzone/{ID}", "ListTagsForResource"),
        ("POST", f"/tags/hostedzone/{ID}", "ChangeTagsForResource"),
    )
)
WRITES = frozenset({"CreateHostedZone", "DeleteHostedZone", "ChangeResourceRecordSets", "ChangeTagsForResource"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it came; `code` is the code of the refusal, "" when there was none."""

    operation: str
    account: str
    zone_id: str
    request: dict[str, Any]
    code: str = ""


class FakeAws:
    """The two services, the calls that they had and the faults that are due."""

    def __init__(self) -> None:
        self.route53 = Route53()
        self.identities = Identities()
        self.faults = Faults()
        self.bare_refusals = False
        """Whether a refused batch is answered with its messages alone, as in the API reference, and not as an error with a code."""
        self.calls: list[Call] = []
        self.url = ""
        self.lock = threading.RLock()

    def count(self, *operations: str) -> int:
        """Say how many calls of these operations there were; without names, how many that write."""
        names = operations or tuple(WRITES)
        return sum(call.operation in names for call in self.calls)

    def answer(self, operation: str, caller: Caller, zone_id: str, query: dict[str, str], body: bytes) -> bytes:
        """Do one call of Route 53. Raises AwsError."""
        request = xml.read(body) if body else {}
        code = ""
        try:
            with self.lock:
                value = self._do(operation, caller.account, zone_id, query, request)
        except AwsError as error:
            code = error.code
            raise
        finally:
            self.calls.append(Call(operation, caller.account, zone_id, request or dict(query), code))
        return xml.write(f"{operation}Response", value)

    def _do(
        self, operation: str, account: str, zone_id: str, query: dict[str, str], request: dict[str, Any]
    ) -> dict[str, Any]:
        service = self.route53
        match operation:
            case "CreateHostedZone":
                return service.create_hosted_zone(account, request)
            case "GetHostedZone":
                return service.get_hosted_zone(account, zone_id)
            case "DeleteHostedZone":
                return service.delete_hosted_zone(account, zone_id)
            case "ListHostedZonesByName":
                return service.list_hosted_zones_by_name(account, query)
            case "ListResourceRecordSets":
                return service.list_record_sets(account, zone_id, query)
            case "ChangeResourceRecordSets":
                return service.change_record_sets(account, zone_id, request)
            case "GetChange":
                return service.get_change(zone_id)
            case "ListTagsForResource":
                return service.list_tags(account, zone_id)
            case "ChangeTagsForResource":
                return service.change_tags(account, zone_id, request)
        raise AssertionError(operation)


@contextmanager
def serving(fake: FakeAws) -> Iterator[FakeAws]:
    """Serve on a free port until the end of the block; `fake.url` is where."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(fake), loop).result(START_S)
    try:
        yield fake
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(START_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_S)
        loop.close()


async def _start(fake: FakeAws) -> web.AppRunner:
    app = web.Application(client_max_size=2**24)
    handler = _Handler(fake)
    app.router.add_route("*", "/{path:.*}", handler.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    fake.url = f"http://127.0.0.1:{port}"
    return runner


class _Handler:
    def __init__(self, fake: FakeAws) -> None:
        self._fake = fake

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        operation, zone_id, form = _operation(request, body)
        fault = self._fake.faults.take(operation)
        if fault is not None:
            if fault.trouble is Trouble.SLOW:
                await asyncio.sleep(fault.delay_s)
            elif (response := _wrong_at_once(request, fault)) is not None:
                self._fake.calls.append(Call(operation, "", zone_id, {}, fault.trouble.value))
                return response
        response = self._answered(request, body, operation, zone_id, form, fault)
        if fault is not None and fault.trouble in {Trouble.CUT_AFTER, Trouble.HALF_ANSWER}:
            return await _cut(request, response, half=fault.trouble is Trouble.HALF_ANSWER)
        return response

    def _answered(
        self, request: web.Request, body: bytes, operation: str, zone_id: str, form: dict[str, str], fault: Fault | None
    ) -> web.Response:
        identities, sts = self._fake.identities, bool(form)
        try:
            token = request.headers.get("X-Amz-Security-Token")
            caller = identities.caller_of(request.headers.get("Authorization", ""), token)
            if fault is not None and fault.trouble is Trouble.DENIED:
                service = "sts" if sts else "route53"
                raise access_denied(caller.arn, f"{service}:{operation}", f"arn:aws:route53:::hostedzone/{zone_id}")
            if sts:
                with self._fake.lock:
                    action, value = identities.answer(caller, form)
                self._fake.calls.append(Call(action, caller.account, "", dict(form)))
                metadata = {"RequestId": secrets.token_hex(8)}
                content = {f"{action}Result": value, "ResponseMetadata": metadata}
                return _xml(xml.write(f"{action}Response", content, STS_NAMESPACE))
            answer = self._fake.answer(operation, caller, zone_id, dict(request.query), body)
            return _xml(answer, 201 if operation == "CreateHostedZone" else 200)
        except AwsError as error:
            if self._fake.bare_refusals and error.code == "InvalidChangeBatch":
                return _xml(xml.write(error.code, {"Messages": [error.message[1:-1]]}), error.status)
            return _refusal(error, STS_NAMESPACE if sts else xml.NAMESPACE)


def _operation(request: web.Request, body: bytes) -> tuple[str, str, dict[str, str]]:
    if request.method == "POST" and request.path == "/":
        form = dict(parse_qsl(body.decode()))
        return form.get("Action", ""), "", form
    for method, pattern, operation in ROUTES:
        if request.method == method and (found := pattern.fullmatch(request.path)):
            return operation, found.groupdict().get("id", ""), {}
    raise web.HTTPNotFound


def _wrong_at_once(request: web.Request, fault: Fault) -> web.Response | None:
    headers = {"Retry-After": fault.retry_after} if fault.retry_after is not None else {}
    match fault.trouble:
        case Trouble.CUT_BEFORE:
            _abort(request)
            return web.Response()
        case Trouble.THROTTLING:
            return _refusal(AwsError("Throttling", "Rate exceeded", 400), headers=headers)
        case Trouble.PRIOR_REQUEST:
            words = "The request was rejected because Route 53 was still processing a prior request."
            return _refusal(AwsError("PriorRequestNotComplete", words, 400), headers=headers)
        case Trouble.UNAVAILABLE:
            return _refusal(AwsError("ServiceUnavailable", "Service is unavailable", 503), headers=headers)
        case Trouble.NO_XML:
            return web.Response(status=502, text="<html><body>Bad Gateway</body></html>", content_type="text/html")
    return None


async def _cut(request: web.Request, response: web.Response, *, half: bool) -> web.StreamResponse:
    if not half:
        _abort(request)
        return web.Response()
    body = response.body if isinstance(response.body, bytes) else b""
    partial = web.StreamResponse(status=response.status, headers={"Content-Length": str(len(body))})
    await partial.prepare(request)
    await partial.write(body[: len(body) // 2])
    _abort(request)
    return partial


def _abort(request: web.Request) -> None:
    transport = request.transport
    if isinstance(transport, asyncio.Transport):
        transport.abort()


def _xml(body: bytes, status: int = 200) -> web.Response:
    headers = {"x-amzn-RequestId": secrets.token_hex(8)}
    return web.Response(body=body, status=status, content_type="text/xml", headers=headers)


def _refusal(error: AwsError, namespace: str = xml.NAMESPACE, headers: dict[str, str] | None = None) -> web.Response:
    content = {
        "Error": {"Type": "Sender", "Code": error.code, "Message": error.message},
        "RequestId": secrets.token_hex(8),
    }
    body = xml.write("ErrorResponse", content, namespace)
    return web.Response(body=body, status=error.status, content_type="text/xml", headers=headers or {})
