"""How long a look at a zone of somebody else takes: 500 record sets at three servers, none of them asked faster than allowed.

python -m bench probe
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import dns.message
import dns.rdatatype

from bench.dns_zone import ORIGIN, address, write_zone
from bench.figure import Figure
from bench.name_server import BIND, KNOT, NSD, OURS, running
from controllers.probe.address import Address
from controllers.probe.answer import Answer, Question
from controllers.probe.exchange import NetworkExchange
from controllers.probe.pace import Pace
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import Round
from controllers.probe.subject import Subject, question_about
from zonemodel.name import Fqdn

RECORDS: Final = 500
SERVERS: Final = 3
LIMIT_S: Final = 20.0
ALLOWED_PER_S: Final = 50.0


class TimedExchange:
    """Notes when each message goes to a server, beside having it sent."""

    def __init__(self) -> None:
        self.times: dict[Address, list[float]] = defaultdict(list)
        self._network = NetworkExchange(_TimedPace(self.times))

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        """Ask as the product does."""
        return await self._network.ask(server, question, timeout_s, recursion=recursion)


class _TimedPace(Pace):
    def __init__(self, times: dict[Address, list[float]]) -> None:
        super().__init__()
        self._times = times

    async def wait_turn(self, server: Address) -> None:
        await super().wait_turn(server)
        self._times[server].append(time.monotonic())


def measure() -> Iterator[Figure]:
    """Yield the time of a look and the pace at the server that was asked fastest."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dns-api-probe-")))
        folder.chmod(0o755)
        zone = folder / "zone"
        write_zone(zone)
        peers = [each for each in (NSD, KNOT, BIND, OURS) if each.is_installed]
        chosen = [peers[number % len(peers)] for number in range(SERVERS)]
        running_servers = [
            stack.enter_context(running(each, folder / f"{number}", zone)) for number, each in enumerate(chosen)
        ]
        exchange = TimedExchange()
        began = time.monotonic()
        found = asyncio.run(_look(exchange, [Address("127.0.0.1", each.port) for each in running_servers]))
        took_s = time.monotonic() - began
    _check(found)
    what = f"a look at {RECORDS} record sets at {SERVERS} servers"
    yield Figure(what, took_s, "s", at_most=LIMIT_S)
    yield Figure("queries in the fastest second at one server", _fastest_second(exchange), "", at_most=ALLOWED_PER_S)


async def _look(exchange: TimedExchange, servers: list[Address]) -> Round:
    subjects = tuple(Subject(f"h{number}", dns.rdatatype.A) for number in range(RECORDS))
    return await Prober(exchange, 53).probe(Plan(Fqdn(ORIGIN), subjects, name_servers=tuple(servers)))


def _check(found: Round) -> None:
    """Raise AssertionError unless every server has answered every question with what the zone has."""
    for number in range(RECORDS):
        told = found.told(question_about(f"h{number}", dns.rdatatype.A, Fqdn(ORIGIN), found.label))
        assert [answer.values for _, answer in told] == [frozenset({address(number)})] * SERVERS, told


def _fastest_second(exchange: TimedExchange) -> float:
    """Return how many messages went to one server within one second, at most."""
    most = 0
    for times in exchange.times.values():
        start = 0
        for end, at in enumerate(times):
            while at - times[start] > 1.0:
                start += 1
            most = max(most, end - start + 1)
    return float(most)
