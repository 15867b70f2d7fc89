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
