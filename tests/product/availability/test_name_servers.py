"""Two name servers that are replaced one after the other under load: no query is lost that one retry does not recover."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from contextlib import suppress
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message

from controllers.api.group import NAMESPACES
from tests.product.availability.cluster import announce, running
from tests.product.claim import claim
from tests.product.lone_server import LoneServer
from tests.product.patience import until
from tests.product.stage import Stage
from tests.server.question import Target, records

ASKERS = 4
REPLY_S = 0.25
ROUNDS = 2
BETWEEN = 100
"""Answers between two restarts: a Deployment, too, waits for a while after a pod is ready."""


class Load:
    """Asks one server, and the other one when nothing comes back, as resolvers do."""

    def __init__(self, targets: list[Target], name: str, expected: object) -> None:
        self._targets = targets
        self._name = name
        self._expected = expected
        self.counts: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    async def run(self, first: int) -> None:
        """Ask until cancelled."""
        while True:
            order = self._targets[first:] + self._targets[:first]
            first = 1 - first
            if await self._ask(order[0]):
                self.counts["answered"] += 1
                async with self._changed:
                    self._changed.notify_all()
            elif await self._ask(order[1]):
                self.counts["answered after a retry"] += 1
            else:
                self.counts["lost"] += 1
            await asyncio.sleep(0.002)

    async def until_answered_more(self, count: int) -> None:
        """Wait for some more answers at the first attempt."""
        goal = self.counts["answered"] + count
        async with asyncio.timeout(30), self._changed:
            await self._changed.wait_for(lambda: self.counts["answered"] >= goal)

    async def _ask(self, target: Target) -> bool:
        with suppress(dns.exception.Timeout, OSError):
            query = dns.message.make_query(self._name, "A")
            reply = await dns.asyncquery.udp(query, target.host, REPLY_S, target.port)
            assert records(reply.answer) == self._expected, reply
            return True
        return False


async def test_a_rolling_restart_loses_no_query(tmp_path: Path) -> None:
    async with running(tmp_path) as cluster, cluster.connect() as client:
        second = await asyncio.to_thread(cluster.start_server, "dns-api-b")
        await announce(cluster, client, {"dns-api-b": second.dns.port})
        cluster.start_manager("first")
        namespace = f"test-{secrets.token_hex(4)}"
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        stage = Stage(client, cluster.server.dns, namespace, f"{namespace}.test")
        each = claim("www", "A", "192.0.2.1")
        await stage.set_up(each)
        load = Load([cluster.server.dns, second.dns], f"www.{stage.domain}", each.records(stage.domain))
        tasks = [asyncio.create_task(load.run(number % 2)) for number in range(ASKERS)]
        for server in [cluster.server, second] * ROUNDS:
            await asyncio.to_thread(_replace, server)
            await load.until_answered_more(BETWEEN)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [each for each in ended if not isinstance(each, asyncio.CancelledError)] == []
    assert load.counts["answered"] > 200, load.counts
    assert load.counts["lost"] == 0, load.counts


def _replace(server: LoneServer) -> None:
    """End a server in order and start it again; the next one waits until this one is ready, as a Deployment does."""
    assert server.stop() == 0
    server.start()
    until(lambda: server.readiness()[0] == 200, "a server that is ready")
