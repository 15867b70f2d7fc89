"""The conversion client against a real HTTPS server: what is sent, and what becomes of every way to answer or not to."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from controllers.api.provider import ConversionWebhook
from controllers.core.providercontract.conversion.client import ANSWER_LIMIT_BYTES, ConversionClient
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.providercontract.target import Target
from tests.controllers.core.admission.authority import Authority
from tests.controllers.core.conversion.webhook import (
    KIND,
    ConversionServer,
    LocalResolver,
    failure,
    never,
    success,
    uid_of,
)

CONTEXT = {
    "zone": {"namespace": "team", "name": "example", "domainName": "example.com"},
    "recordSet": {"namespace": "app", "name": "www-a", "recordName": "www", "type": "A"},
}
Answer = Callable[[str], Any]


@pytest.fixture
async def client() -> AsyncIterator[ConversionClient]:
    async with ConversionClient(LocalResolver()) as opened:
        yield opened


def question(declaration: dict[str, Any]) -> ConversionRequest:
    return ConversionRequest(
        key=ConversionKey("claim-uid", 1, "provider-uid", 1),
        webhook=ConversionWebhook.model_validate(declaration),
        target=Target.RECORD_SET,
        provider="edge.example.com",
        from_version="v1",
        to_version="v2",
        payload={"options": {"mode": "raw"}},
        context=CONTEXT,
    )


async def test_a_review_says_what_is_converted_for_whom(client: ConversionClient, webhook: ConversionServer) -> None:
    webhook.convert_payload = lambda request: {"options": {"raw": True}}

    outcome = await client.convert(question(webhook.declaration()))

    assert outcome == Converted({"options": {"raw": True}})
    (review,) = webhook.requests
    assert len(review["request"].pop("uid")) == 36
    assert review == {
        **KIND,
        "request": {
            "provider": {"name": "edge.example.com"},
            "target": "RecordSet",
            "fromVersion": "v1",
            "toVersion": "v2",
            "payload": {"options": {"mode": "raw"}},
            "context": CONTEXT,
        },
    }
    assert webhook.paths == ["POST /convert"]


async def test_every_attempt_has_a_uid_of_its_own(client: ConversionClient, webhook: ConversionServer) -> None:
    for _ in range(2):
        await client.convert(question(webhook.declaration()))
    first, second = (review["request"]["uid"] for review in webhook.requests)
    assert first != second


async def test_the_service_may_name_a_path(client: ConversionClient, webhook: ConversionServer) -> None:
    await client.convert(question(webhook.declaration(service={"path": "/v1/convert"})))
    assert webhook.paths == ["POST /v1/convert"]


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (lambda uid: success(uid, {}), Converted({}), ""),
        (lambda uid: success(uid, {"options": None}, retryable=True), Converted({"options": None}), ""),
        (lambda uid: success("another", {}), Failed, "response.uid"),
        (lambda uid: success(uid, None), Failed, "response.payload: found nothing"),
        (lambda uid: success(uid, ["a"]), Failed, "response.payload"),
        (lambda uid: {**success(uid, {}), "kind": "ConversionReview"}, Failed, 'kind: found "ConversionReview"'),
        (lambda uid: {**success(uid, {}), "apiVersion": "v1"}, Failed, "apiVersion"),
        (lambda uid: success(uid, {}, status="Done"), Failed, "Success or Failure"),
        (lambda uid: success(uid, {}, retryable="no"), Failed, "response.result.retryable"),
        (lambda uid: {**KIND, "response": {"uid": uid}}, Failed, "response.result.status"),
        (lambda uid: {**KIND, "request": {"uid": uid}}, Failed, "response.uid"),
        (lambda uid: [], Failed, "apiVersion"),
        (lambda uid: failure(uid, retryable=False), Failed, "the webhook says Unsupported: not this one"),
        (lambda uid: failure(uid, retryable=True), Unavailable, "the webhook says Unsupported: not this one"),
        (lambda uid: {**KIND, "response": {"uid": uid, "result": {"status": "Failure"}}}, Failed, "says Failure"),
    ],
)
async def test_an_answer_is_taken_at_its_word_or_not_at_all(
    client: ConversionClient, webhook: ConversionServer, answer: Answer, expected: Any, words: str
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response(answer(await uid_of(request)))

    webhook.handler = handle
    outcome = await client.convert(question(webhook.declaration()))
    check(outcome, expected, words)
    if isinstance(outcome, Unavailable):
        assert outcome.reached


@pytest.mark.parametrize(
    ("response", "expected", "words"),
    [
        (lambda: web.Response(body=b"{"), Failed, "no JSON"),
        (lambda: web.Response(body=b""), Failed, "no JSON"),
        (lambda: web.Response(body=b'{"a":' * 10_000), Failed, "no JSON"),
        (lambda: web.Response(body=b"\xff\xfe"), Failed, "no JSON"),
        (lambda: web.Response(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), Failed, "no JSON"),
        (lambda: web.Response(body=b" " * (ANSWER_LIMIT_BYTES + 1)), Failed, f"larger than {ANSWER_LIMIT_BYTES}"),
        (lambda: web.Response(status=404), Failed, "HTTP status 404"),
        (lambda: web.Response(status=204), Failed, "HTTP status 204"),
        (lambda: web.Response(status=302, headers={"Location": "/elsewhere"}), Failed, "HTTP status 302"),
        (lambda: web.Response(status=429), Unavailable, "HTTP status 429"),
        (lambda: web.Response(status=500), Unavailable, "HTTP status 500"),
        (lambda: web.Response(status=503, body=b"secret"), Unavailable, "HTTP status 503"),
    ],
)
async def test_what_is_no_answer_is_told_by_what_it_is(
    client: ConversionClient,
    webhook: ConversionServer,
    response: Callable[[], web.Response],
    expected: type[Outcome],
    words: str,
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return response()

    webhook.handler = handle
    outcome = await client.convert(question(webhook.declaration()))
    check(outcome, expected, words)
    assert "secret" not in str(outcome)
    assert webhook.paths == ["POST /convert"]


async def test_a_webhook_that_takes_too_long_is_not_available(
    client: ConversionClient, webhook: ConversionServer
) -> None:
    webhook.handler = never
    outcome = await client.convert(question(webhook.declaration(timeoutSeconds=1)))
    check(outcome, Unavailable, "Service dns-system/convert did not answer within 1 s")


async def test_an_answer_that_drips_ends_with_the_timeout(client: ConversionClient, webhook: ConversionServer) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b" ")
            await asyncio.sleep(0.1)
        return response

    webhook.handler = drip
    outcome = await client.convert(question(webhook.declaration(timeoutSeconds=1)))
    check(outcome, Unavailable, "did not answer within 1 s")


async def test_an_answer_that_is_cut_is_not_available(client: ConversionClient, webhook: ConversionServer) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.abort()
        return response

    webhook.handler = cut
    check(await client.convert(question(webhook.declaration())), Unavailable, "cannot be reached")


async def test_nobody_listening_is_not_available(client: ConversionClient, webhook: ConversionServer) -> None:
    declaration = webhook.declaration()
    await webhook.__aexit__(None, None, None)
    check(await client.convert(question(declaration)), Unavailable, "cannot be reached")


async def test_a_name_without_addresses_is_not_available(client: ConversionClient, webhook: ConversionServer) -> None:
    declaration = webhook.declaration(service={"name": "elsewhere"})
    outcome = await client.convert(question(declaration))
    check(outcome, Unavailable, "Service dns-system/elsewhere cannot be reached: its name cannot be resolved")


async def test_a_server_under_another_authority_is_not_trusted(
    client: ConversionClient, webhook: ConversionServer
) -> None:
    webhook.authority = Authority()
    check(await client.convert(question(webhook.declaration())), Unavailable, "cannot be trusted")
    assert webhook.paths == []


async def test_a_server_with_another_name_is_not_trusted(
    client: ConversionClient, authority: Authority, tmp_path: Path
) -> None:
    async with ConversionServer(authority, tmp_path, host="other.dns-system.svc") as webhook:
        check(await client.convert(question(webhook.declaration())), Unavailable, "cannot be trusted")
        assert webhook.paths == []


async def test_a_server_without_tls_is_not_available(client: ConversionClient, webhook: ConversionServer) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        outcome = await client.convert(question(webhook.declaration(service={"port": port})))
    check(outcome, Unavailable, "cannot be")


@pytest.mark.parametrize("bundle", ["", "%", "aGVsbG8=", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="])
async def test_a_bundle_without_certificates_is_not_available(
    client: ConversionClient, webhook: ConversionServer, bundle: str
) -> None:
    declaration = webhook.declaration()
    declaration["clientConfig"]["caBundle"] = bundle
    check(await client.convert(question(declaration)), Unavailable, "caBundle")


async def test_what_a_webhook_tells_people_stays_one_short_line(
    client: ConversionClient, webhook: ConversionServer
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        uid = await uid_of(request)
        return web.json_response(failure(uid, retryable=False, reason="x" * 500, message="a\n\x1b[31mb\t" + "y" * 9999))

    webhook.handler = handle
    outcome = await client.convert(question(webhook.declaration()))
    assert isinstance(outcome, Failed)
    assert outcome.message.isprintable()
    assert len(outcome.message) < 700
    assert "a [31mb y" in outcome.message


async def test_many_questions_share_a_client(client: ConversionClient, webhook: ConversionServer) -> None:
    outcomes = await asyncio.gather(*(client.convert(question(webhook.declaration())) for _ in range(50)))
    assert all(isinstance(each, Converted) for each in outcomes)


def check(outcome: Outcome, expected: Any, words: str) -> None:
    if isinstance(expected, type):
        assert isinstance(outcome, expected), outcome
        assert words in getattr(outcome, "message", "")
    else:
        assert outcome == expected
