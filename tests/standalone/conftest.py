"""The API under test: a server of this repository for each test, or a real one that DNS_API_KUBE_URL names.

Every test has a namespace and a group of its own, so that one server can serve them all.
"""

from __future__ import annotations

import os
import secrets
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from standalone.apiserver.server import ApiServer
from tests.standalone.rest import Rest
from tests.standalone.widget import DEFINITIONS, NAMESPACES, Widgets

REAL_URL = os.environ.get("DNS_API_KUBE_URL", "")
REAL_TOKEN = os.environ.get("DNS_API_KUBE_TOKEN", "")


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[ApiServer | None]:
    """An embedded server, or None when a real one is tested."""
    if REAL_URL:
        yield None
        return
    async with ApiServer(tmp_path / "data") as started:
        yield started


@pytest.fixture
def server(embedded: ApiServer | None) -> ApiServer:
    """The embedded server; tests that look into it are not for a real one."""
    if embedded is None:
        pytest.skip("this test looks into the embedded server")
    return embedded


@pytest.fixture
async def rest(embedded: ApiServer | None) -> AsyncIterator[Rest]:
    """A client of the API under test."""
    url = REAL_URL if embedded is None else embedded.url
    headers = {"Authorization": f"Bearer {REAL_TOKEN}"} if REAL_TOKEN else {}
    connector = aiohttp.TCPConnector(ssl=_trusting() if url.startswith("https:") else True)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        yield Rest(session, url)


@pytest.fixture
async def namespace(rest: Rest) -> str:
    """A fresh namespace."""
    name = f"test-{secrets.token_hex(4)}"
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    (await rest.post(NAMESPACES, manifest)).ok()
    return name


@pytest.fixture
async def widgets(rest: Rest, namespace: str) -> AsyncIterator[Widgets]:
    """The kind Widget, served."""
    kind = Widgets(group=f"g{secrets.token_hex(4)}.example.com", namespace=namespace)
    (await rest.post(DEFINITIONS, kind.definition)).ok()
    await rest.until(kind.path, lambda reply: reply.code == 200)
    yield kind
    await remove(rest, kind)


async def remove(rest: Rest, kind: Widgets) -> None:
    """Delete the kind with all its objects, whatever holds them: a real server waits for each for a long time."""
    listed = await rest.get(kind.everywhere)
    for item in listed.body["items"] if listed.code == 200 else ():
        path = f"/apis/{kind.api_version}/namespaces/{item['metadata']['namespace']}/{kind.plural}"
        await rest.patch(f"{path}/{item['metadata']['name']}", {"metadata": {"finalizers": None}})
    await rest.delete(kind.definition_path)


def _trusting() -> ssl.SSLContext:
    """A real server in a test has a certificate of its own making."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
