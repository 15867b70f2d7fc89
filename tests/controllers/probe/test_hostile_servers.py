"""Servers that mean harm, on the loopback network: slow ones, and those that refer to ever more names. They cost their own zone only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.probe.address import Address
from controllers.probe.answer import Outcome, Question
from controllers.probe.desk import ProbeDesk
from controllers.probe.exchange import NetworkExchange
from controllers.probe.pace import Pace
from controllers.probe.prober import ALIAS_LIMIT, Plan, Prober
from controllers.probe.round import KEPT_CHARS, KEPT_CHARS_EACH, VALUE_CHARS, Round
from controllers.probe.subject import Subject
from controllers.providers.external.observation import judge_records, judge_zone
from controllers.providers.external.wanted import Wanted
from kube.object import ObjectKey
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

A, TXT = int(dns.rdatatype.A), int(dns.rdatatype.TXT)
Say = Callable[[str, str, dns.message.Message], None]


class Hostile(asyncio.DatagramProtocol):
    """Answers SOA and NS of any name at once, and everything else as `say` has it, after `delay_s`."""

    def __init__(self, say: Say, delay_s: float) -> None:
        self.asked = 0
        self._say = say
        self._delay_s = delay_s

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, peer: Any) -> None:
        self.asked += 1
        query = dns.message.from_wire(data)
        question = query.question[0]
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.AA
        name, kind = question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        if kind == "SOA":
            reply.answer.append(dns.rrset.from_text(name, 60, "IN", kind, "ns. h. 1 1 1 1 1"))
        elif kind == "NS":
            reply.answer.append(dns.rrset.from_text(name, 60, "IN", kind, "ns.example."))
        else:
            self._say(name, kind, reply)
        wire = reply.to_wire(max_size=4000)
        delay_s = 0.0 if kind in ("SOA", "NS") else self._delay_s
        asyncio.get_running_loop().call_later(delay_s, self._answer, wire, peer)

    def _answer(self, wire: bytes, peer: Any) -> None:
        if not self._transport.is_closing():
            self._transport.sendto(wire, peer)


@asynccontextmanager
async def hostile(say: Say, delay_s: float = 0.0) -> AsyncIterator[tuple[Address, Hostile]]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: Hostile(say, delay_s), ("127.0.0.1", 0))
    try:
        yield Address(*transport.get_extra_info("sockname")), server
    finally:
        transport.close()


def prober() -> Prober:
    return Prober(NetworkExchange(Pace(100_000.0)), 53)


def say_address(name: str, kind: str, reply: dns.message.Message) -> None:
    reply.answer.append(dns.rrset.from_text(name, 60, "IN", kind, "192.0.2.1"))


async def test_what_a_slow_server_has_not_said_by_the_end_of_the_round_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controllers.probe.prober.WAITS_LIMIT", 1)
    monkeypatch.setattr("controllers.probe.prober.QUESTION_S", 0.0)
    subjects = tuple(Subject(f"n{number}", A) for number in range(800))
    async with hostile(say_address, delay_s=0.3) as (address, _):
        plan = Plan(Fqdn("shop.test"), subjects, name_servers=(address,), timeout_s=3.0)
        async with asyncio.timeout(30.0):
            found = await prober().probe(plan)
    assert found.ended_s - found.began_s < 6.0  # 800 answers, 32 at a time, would take 7.5 s, were they all waited for
    assert found.faults == ("the look was ended after 3 s, before every server had answered",)
    words = [found.told(Question(f"n{number}.shop.test", A))[0][1] for number in range(800)]
    assert {each.outcome for each in words} == {Outcome.DATA, Outcome.SILENT}
    assert {each.word for each in words if each.outcome is Outcome.SILENT} == {"OVERDUE"}
    wanted = Wanted(Fqdn("n799.shop.test"), RecordType.A, frozenset({"192.0.2.1"}), 60, ())
    late = judge_records(wanted, found.told(Question("n799.shop.test", A)), require_all=True)
    assert late.programmed.reason is Reason.PROVIDER_UNAVAILABLE
    assert not late.missing
    assert "the look was ended after 3 s" in judge_zone(found).message


async def test_a_way_to_the_zone_that_takes_too_long_says_nothing_of_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controllers.probe.prober.WAITS_LIMIT", 2)
    number = count()

    def refer(name: str, kind: str, reply: dns.message.Message) -> None:
        """Everything lies a zone further down, and is an address after some time."""
        say_address(name, "A" if kind == "AAAA" else kind, reply)

    async with hostile(refer, delay_s=0.2) as (address, _):
        plan = Plan(
            Fqdn(f"z{next(number)}.a.b.c.test"), (), resolvers=(Address("127.0.0.1", 9), address), timeout_s=0.2
        )
        found = await Prober(NetworkExchange(Pace(100_000.0)), address.port).probe(plan)
    verdict = judge_zone(found)
    assert verdict.reason is Reason.PROVIDER_UNAVAILABLE
    assert verdict.status is ConditionStatus.FALSE


async def test_aliases_to_ever_new_names_are_followed_at_the_server_that_told_them_only() -> None:
    number = count()

    def refer(name: str, kind: str, reply: dns.message.Message) -> None:
        reply.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", f"x{next(number)}.shop.test."))

    subjects = tuple(Subject(f"n{each}", A, proof=True) for each in range(10))
    async with hostile(refer) as (one, first), hostile(refer) as (two, second):
        plan = Plan(Fqdn("shop.test"), subjects, name_servers=(one, two), timeout_s=30.0)
        found = await prober().probe(plan)
    most = 2 + len(subjects) + ALIAS_LIMIT * (len(subjects) + 1)
    assert (first.asked, second.asked) == (most, most)
    assert sum(len(each) for each in found.answers.values()) <= 2 * most


async def test_what_is_kept_of_one_zone_has_a_bound_and_what_is_beyond_it_is_not_known() -> None:
    number = count()

    def talk(name: str, kind: str, reply: dns.message.Message) -> None:
        texts = [f'"{next(number):08}{"x" * 200}"' for _ in range(15)]
        reply.answer.append(dns.rrset.from_text(name, 60, "IN", kind, *texts))

    subjects = tuple(Subject(f"n{each}", TXT) for each in range(100))
    async with hostile(talk) as (one, _), hostile(talk) as (two, _), hostile(talk) as (three, _):
        plan = Plan(Fqdn("shop.test"), subjects, name_servers=(one, two, three), timeout_s=30.0)
        found = await prober().probe(plan)
    answers = [answer for each in found.answers.values() for answer in each.values()]
    kept_chars = sum(len(value) + VALUE_CHARS for answer in answers for value in answer.values)
    assert kept_chars <= KEPT_CHARS + len(subjects) * KEPT_CHARS_EACH + 4 * 500
    assert {each.word for each in answers} == {"NOERROR", "TOOMANY"}


async def test_what_many_servers_say_alike_is_kept_once() -> None:
    def talk(name: str, kind: str, reply: dns.message.Message) -> None:
        reply.answer.append(
            dns.rrset.from_text(name, 60, "IN", kind, *(f'"{each:03}{"x" * 200}"' for each in range(15)))
        )

    subjects = tuple(Subject(f"n{each}", TXT) for each in range(50))
    async with hostile(talk) as (one, _), hostile(talk) as (two, _):
        plan = Plan(Fqdn("shop.test"), subjects, name_servers=(one, two), timeout_s=30.0)
        found = await prober().probe(plan)
    assert {answer.word for each in found.answers.values() for answer in each.values()} == {"NOERROR"}


async def test_slow_zones_take_neither_workers_nor_sockets_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controllers.probe.desk.QUICK_S", 2.0)
    monkeypatch.setattr("controllers.probe.exchange.CONCURRENT_LIMIT", 64)
    names = tuple(Subject(f"n{number}", A) for number in range(1500))
    done, news = list[ObjectKey](), asyncio.Event()

    def note(zone: ObjectKey) -> None:
        done.append(zone)
        news.set()

    async with hostile(say_address, delay_s=0.1) as (slow, _), hostile(say_address) as (quick, _):
        asks: Prober = prober()

        async def probe(plan: Plan) -> Round:
            return await asks.probe(plan)

        desk = ProbeDesk("test", probe, note, asyncio.get_running_loop().time)
        evil = {ObjectKey("evil", f"z{number}"): Fqdn(f"z{number}.test") for number in range(20)}
        for zone, domain in evil.items():
            desk.ask(zone, Plan(domain, names, name_servers=(slow,), timeout_s=4.0))
        workers = [asyncio.create_task(each.run()) for each in desk.controllers]
        try:
            good = ObjectKey("team", "shop")
            for request in range(3):
                plan = Plan(Fqdn("shop.test"), names[:8], name_servers=(quick,), timeout_s=4.0, stamp=request)
                desk.ask(good, plan)
                async with asyncio.timeout(30.0):
                    while done.count(good) <= request:
                        news.clear()
                        await news.wait()
                found = desk.ask(good, plan)
                assert found is not None
                assert found.round.told(Question("n7.shop.test", A))[0][1].outcome is Outcome.DATA
            assert not set(done) & evil.keys()
        finally:
            for each in evil:
                desk.forget(each)
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


async def test_a_round_does_not_wait_for_those_whose_servers_hold_all_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controllers.probe.exchange.CONCURRENT_LIMIT", 16)
    names = tuple(Subject(f"n{number}", A) for number in range(8))
    held, full = count(1), asyncio.Event()

    def hold(name: str, kind: str, reply: dns.message.Message) -> None:
        if next(held) == 12:  # the last four are kept
            full.set()

    async with hostile(hold, delay_s=60.0) as (slow, _), hostile(say_address) as (quick, _):
        asks = prober()
        evil = [
            asyncio.create_task(asks.probe(Plan(Fqdn(f"z{number}.test"), names, name_servers=(slow,), timeout_s=30.0)))
            for number in range(4)
        ]
        try:
            async with asyncio.timeout(4.0):  # a message to the slow one is waited for 7.5 s
                await full.wait()
                found = await asks.probe(Plan(Fqdn("shop.test"), names, name_servers=(quick,), timeout_s=30.0))
        finally:
            for each in evil:
                each.cancel()
            await asyncio.gather(*evil, return_exceptions=True)
    assert found.told(Question("n7.shop.test", A))[0][1].outcome is Outcome.DATA
