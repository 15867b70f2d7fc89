"""The webhook server over real TLS: paths, bounds, timeouts and certificates that change."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from controllers.api.group import ZONES
from controllers.core.admission.certificate import CertificateError, ServingCertificate
from controllers.core.admission.handler import Admission, Hook
from controllers.core.admission.review import Operation, allow
from controllers.core.admission.server import ServerLimits, WebhookServer
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.core.admission.build import Cluster, Manifest, zone
from tests.controllers.core.admission.test_handler import review

ZONES_PATH = "/validate/dns.appthrust.io/v1alpha1/zones"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def pair(authority: Authority, tmp_path: Path) -> ServingPair:
    written = ServingPair(tmp_path)
    authority.write(written, serial=1001)
    return written


@pytest.fixture
async def client(authority: Authority) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(ssl=authority.client_context(), force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


def server(pair: ServingPair, *hooks: Hook, limits: ServerLimits | None = None) -> WebhookServer:
    certificate = ServingCertificate(pair.certificate, pair.key)
    return WebhookServer(hooks or Admission(Cluster()).hooks(), certificate, host="127.0.0.1", port=0, limits=limits)


def hook(handle: Any) -> Hook:
    return Hook(ZONES, None, frozenset({Operation.CREATE}), handle)


def url(listening: WebhookServer, path: str = ZONES_PATH) -> str:
    return f"https://localhost:{listening.port}{path}"


async def test_a_review_is_answered_over_tls(pair: ServingPair, client: aiohttp.ClientSession) -> None:
    async with server(pair) as listening:
        good = await client.post(f"{url(listening)}?timeout=10s", json=review("zones", "CREATE", zone()))
        bad = await client.post(url(listening), json=review("zones", "CREATE", zone({"spec.domainName": "X."})))

        assert (good.status, (await good.json())["response"]) == (200, {"uid": "7b4f", "allowed": True})
        assert (bad.status, (await bad.json())["response"]["allowed"]) == (200, False)


async def test_every_hook_has_its_path(pair: ServingPair, client: aiohttp.ClientSession) -> None:
    async with server(pair) as listening:
        for each in Admission(Cluster()).hooks():
            answer = await client.post(url(listening, each.path), json=review("zones", "CREATE", None))
            assert (answer.status, await answer.text()) == (
                400,
                "request.object: found NoneType, allowed: an object",
            )
        assert (await client.post(url(listening, "/validate/other"), json={})).status == 404
        assert (await client.get(url(listening))).status == 405


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"null", b"[" * 5000], ids=["nothing", "a list", "half", "null", "deep"]
)
async def test_a_body_that_is_no_review_is_a_bad_request(
    pair: ServingPair, client: aiohttp.ClientSession, body: bytes
) -> None:
    async with server(pair) as listening:
        answer = await client.post(url(listening), data=body, headers={"Content-Type": "application/json"})

        assert answer.status == 400
        assert "allowed:" in await answer.text()


async def test_another_media_type_is_refused(pair: ServingPair, client: aiohttp.ClientSession) -> None:
    async with server(pair) as listening:
        answer = await client.post(url(listening), data=b"{}", headers={"Content-Type": "text/plain"})

        assert answer.status == 415


async def test_a_body_past_its_bound_is_refused_without_being_parsed(
    pair: ServingPair, client: aiohttp.ClientSession
) -> None:
    async with server(pair, limits=ServerLimits(body_octets=1000)) as listening:
        answer = await client.post(url(listening), json=review("zones", "CREATE", zone({"metadata.x": "a" * 2000})))

        assert answer.status == 413


async def test_a_request_that_takes_too_long_is_given_up(pair: ServingPair, client: aiohttp.ClientSession) -> None:
    given_up = asyncio.Event()

    async def never(question: Mapping[str, Any]) -> Manifest:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
        raise AssertionError("unreachable")

    async with server(pair, hook(never), limits=ServerLimits(request_s=0.05)) as listening:
        answer = await client.post(url(listening), json={})

        assert answer.status == 504
        assert given_up.is_set()


async def test_a_sender_that_stops_in_the_middle_is_given_up(pair: ServingPair, authority: Authority) -> None:
    async with server(pair, limits=ServerLimits(request_s=0.05)) as listening:
        reader, writer = await asyncio.open_connection(
            "localhost", listening.port, ssl=authority.client_context(), family=2
        )
        head = f"POST {ZONES_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        writer.write(head.encode() + b"{")
        status = await reader.readline()
        writer.close()
        await writer.wait_closed()

        assert b" 504 " in status


async def test_a_handler_that_breaks_does_not_break_the_server(
    pair: ServingPair, client: aiohttp.ClientSession
) -> None:
    calls: list[Mapping[str, Any]] = []

    async def breaks_once(question: Mapping[str, Any]) -> Manifest:
        calls.append(question)
        if len(calls) == 1:
            raise RuntimeError("secret detail")
        return allow("1")

    async with server(pair, hook(breaks_once)) as listening:
        first, second = [await client.post(url(listening), json={}) for _ in range(2)]

        assert (first.status, second.status) == (500, 200)
        assert "secret" not in await first.text()


async def test_requests_in_flight_are_bounded(pair: ServingPair, authority: Authority) -> None:
    running, most, release = 0, 0, asyncio.Event()
    full = asyncio.Event()

    async def counts(question: Mapping[str, Any]) -> Manifest:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 2:
            full.set()
        await release.wait()
        running -= 1
        return allow("1")

    connector = aiohttp.TCPConnector(ssl=authority.client_context(), force_close=True)
    async with (
        aiohttp.ClientSession(connector=connector) as client,
        server(pair, hook(counts), limits=ServerLimits(in_flight=2)) as listening,
        asyncio.TaskGroup() as tasks,
    ):
        asked = [tasks.create_task(_status(client, url(listening))) for _ in range(6)]
        await full.wait()
        release.set()

    assert {task.result() for task in asked} == {200}
    assert most == 2


async def _status(client: aiohttp.ClientSession, address: str) -> int:
    async with client.post(address, json={}) as answer:
        return answer.status


async def test_a_certificate_that_changes_is_served_without_a_restart(pair: ServingPair, authority: Authority) -> None:
    certificate = ServingCertificate(pair.certificate, pair.key)
    async with WebhookServer((), certificate, host="127.0.0.1", port=0) as listening:
        before = await _serial(listening.port, authority)
        authority.write(pair, serial=2002)
        assert certificate.reload() is True
        after = await _serial(listening.port, authority)
        nameless = await _serial(listening.port, authority, named=False)

    assert (before, after, nameless) == (1001, 2002, 2002)


async def test_files_caught_between_two_writes_change_nothing(pair: ServingPair, authority: Authority) -> None:
    certificate = ServingCertificate(pair.certificate, pair.key)
    async with WebhookServer((), certificate, host="127.0.0.1", port=0) as listening:
        old_key = pair.key.read_bytes()
        authority.write(pair, serial=3003)
        new_key = pair.key.read_bytes()
        pair.key.write_bytes(old_key)
        assert certificate.reload() is False
        between = await _serial(listening.port, authority)
        pair.key.write_bytes(new_key)
        assert certificate.reload() is True
        after = await _serial(listening.port, authority)

    assert (between, after) == (1001, 3003)


async def test_a_certificate_is_followed_while_the_server_runs(pair: ServingPair, authority: Authority) -> None:
    certificate = ServingCertificate(pair.certificate, pair.key)
    async with WebhookServer((), certificate, host="127.0.0.1", port=0) as listening, asyncio.timeout(20):
        follower = asyncio.create_task(certificate.follow(interval_s=0.01))
        authority.write(pair, serial=4004)
        while await _serial(listening.port, authority) != 4004:
            pass
        follower.cancel()
        await asyncio.gather(follower, return_exceptions=True)


def test_files_that_are_no_pair_are_refused_at_the_start(pair: ServingPair) -> None:
    pair.key.write_text("nonsense")

    with pytest.raises(CertificateError, match=r"tls\.key"):
        ServingCertificate(pair.certificate, pair.key)


async def test_plain_http_is_not_spoken(pair: ServingPair) -> None:
    async with server(pair) as listening, aiohttp.ClientSession() as plain:
        with pytest.raises(aiohttp.ClientError):
            await plain.post(f"http://127.0.0.1:{listening.port}{ZONES_PATH}", json={})


async def test_a_port_in_use_is_an_error_of_the_system(pair: ServingPair) -> None:
    async with server(pair) as listening:
        certificate = ServingCertificate(pair.certificate, pair.key)
        with pytest.raises(OSError, match="address already in use"):
            await WebhookServer((), certificate, host="127.0.0.1", port=listening.port).__aenter__()


async def test_tls_before_1_2_is_not_spoken(pair: ServingPair) -> None:
    certificate = ServingCertificate(pair.certificate, pair.key)

    assert certificate.context.minimum_version == ssl.TLSVersion.TLSv1_2


async def _serial(port: int, authority: Authority, *, named: bool = True) -> int:
    context = authority.client_context()
    context.check_hostname = named
    name = "localhost" if named else ""
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    found = writer.get_extra_info("peercert")["serialNumber"]
    writer.close()
    await writer.wait_closed()
    return int(found, 16)
