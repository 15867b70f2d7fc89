"""Certificates that change while requests are in flight: no request fails, and new connections see the new certificate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import orjson

from controllers.core.admission.certificate import ServingCertificate
from controllers.core.admission.handler import Admission
from controllers.core.admission.server import WebhookServer
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.controllers.core.admission.build import Cluster, record_set
from tests.controllers.core.admission.test_handler import review

PATH = "/validate/dns.appthrust.io/v1alpha1/recordsets"
QUESTIONS = [
    review("recordsets", "CREATE", record_set()),
    review("recordsets", "CREATE", record_set("A", {"spec.ttl": 0})),
]
ROTATIONS = range(2, 7)
LIMIT_S = 60.0


class Load:
    """Eight callers at a time: half of them keep their connection as API servers do, half make one for each request."""

    def __init__(self, port: int, authority: Authority) -> None:
        self._url = f"https://localhost:{port}{PATH}"
        self._authority = authority
        self.answers: dict[bytes, int] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            callers = [tasks.create_task(self._call(keep=bool(number % 2))) for number in range(8)]
            yield
            for caller in callers:
                caller.cancel()

    async def _call(self, *, keep: bool) -> None:
        connector = aiohttp.TCPConnector(ssl=self._authority.client_context(), force_close=not keep)
        async with aiohttp.ClientSession(connector=connector) as session:
            while True:
                for question in QUESTIONS:
                    async with session.post(self._url, json=question) as answer:
                        body = await answer.read()
                        assert answer.status == 200, body
                        self.answers[body] = self.answers.get(body, 0) + 1


async def test_certificates_rotate_under_load(tmp_path: Path) -> None:
    authority, pair = Authority(), ServingPair(tmp_path)
    authority.write(pair, serial=1)
    certificate = ServingCertificate(pair.certificate, pair.key)
    hooks = Admission(Cluster()).hooks()
    (handler,) = [hook.handler for hook in hooks if hook.path == PATH]
    expected = {orjson.dumps(await handler(question)) for question in QUESTIONS}
    async with WebhookServer(hooks, certificate, host="127.0.0.1", port=0) as server:
        follower = asyncio.create_task(certificate.follow(interval_s=0.001))
        load = Load(server.port, authority)
        async with asyncio.timeout(LIMIT_S), load.running():
            for serial in ROTATIONS:
                pair.key.write_text("half of a key")
                await _until_answers(load, 40)
                assert await _serial(server.port, authority) == serial - 1
                authority.write(pair, serial)
                while await _serial(server.port, authority) != serial:
                    pass
                await _until_answers(load, 40)
        follower.cancel()
        await asyncio.gather(follower, return_exceptions=True)

    assert set(load.answers) == expected


async def _until_answers(load: Load, count: int) -> None:
    goal = sum(load.answers.values()) + count
    while sum(load.answers.values()) < goal:  # noqa: ASYNC110 - there is nothing to be told by, answers only come
        await asyncio.sleep(0.001)


async def _serial(port: int, authority: Authority) -> int:
    _, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=authority.client_context(), server_hostname="localhost"
    )
    found = writer.get_extra_info("peercert")["serialNumber"]
    writer.close()
    await writer.wait_closed()
    return int(found, 16)
