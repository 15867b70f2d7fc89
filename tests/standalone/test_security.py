"""Beyond loopback: TLS by an authority of its own, and a token; on loopback: neither."""

from __future__ import annotations

import ssl
from pathlib import Path

import aiohttp
import pytest

from standalone.apiserver.server import ApiServer
from tests.standalone.rest import Rest
from tests.standalone.widget import NAMESPACES


def trusting(server: ApiServer) -> ssl.SSLContext:
    assert server.ca_pem is not None
    return ssl.create_default_context(cadata=server.ca_pem.decode())


async def test_loopback_needs_neither(server: ApiServer) -> None:
    assert (server.token, server.ca_pem) == (None, None)
    assert server.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:6443", True),
        ("127.9.9.9", True),
        ("[::1]:6443", True),
        ("localhost:6443", True),
        ("LOCALHOST", True),
        ("dns-api.localhost:1", True),
        ("rebound.example.com:6443", False),
        ("192.0.2.1:6443", False),
        ("localhost.example.com", False),
        ("[::1", False),
        ("", False),
    ],
)
async def test_a_page_of_another_site_reaches_nothing_through_a_browser(
    server: ApiServer, host: str, allowed: bool
) -> None:
    async with aiohttp.ClientSession(headers={"Host": host}) as session:
        reply = await Rest(session, server.url).get(NAMESPACES)
    assert reply.code == (200 if allowed else 403)


async def test_beyond_loopback_a_client_needs_the_token(tmp_path: Path) -> None:
    async with ApiServer(tmp_path, "0.0.0.0") as server:
        assert server.url.startswith("https://127.0.0.1:")
        connector = aiohttp.TCPConnector(ssl=trusting(server))
        async with aiohttp.ClientSession(connector=connector) as session:
            rest = Rest(session, server.url)
            (await rest.get(NAMESPACES)).refused(401, "Unauthorized")
            (await rest.get("/version")).refused(401, "Unauthorized")
            session.headers["Authorization"] = f"Bearer {server.token}x"
            (await rest.get(NAMESPACES)).refused(401, "Unauthorized")
            session.headers["Authorization"] = f"Bearer {server.token}"
            (await rest.get(NAMESPACES)).ok()


async def test_a_stranger_does_not_trust_the_certificate(tmp_path: Path) -> None:
    async with ApiServer(tmp_path, "0.0.0.0") as server, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(server.url)


async def test_token_and_authority_stay_the_same(tmp_path: Path) -> None:
    async with ApiServer(tmp_path, "0.0.0.0") as server:
        before = (server.token, server.ca_pem)
    async with ApiServer(tmp_path, "0.0.0.0") as server:
        assert (server.token, server.ca_pem) == before


async def test_secrets_are_for_their_owner_only(tmp_path: Path) -> None:
    async with ApiServer(tmp_path / "data", "0.0.0.0"):
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data").iterdir()}
        directory_mode = (tmp_path / "data").stat().st_mode & 0o777
    assert directory_mode == 0o700
    assert {modes[name] for name in ("token", "ca.key", "server.pem")} == {0o600}
