"""One question to one server: messages that got lost, that are somebody else's, that are cut, or that know no EDNS."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, cast

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset
import pytest
from prometheus_client import REGISTRY

from controllers.probe.address import Address
from controllers.probe.answer import (
    NAME_SERVER_LIMIT,
    RECORD_LIMIT,
    Answer,
    Outcome,
    Question,
    is_within,
    read_answer,
    text_of,
)
from controllers.probe.exchange import CONCURRENT_LIMIT, SHORT_OCTETS, NetworkExchange, has_route
from controllers.probe.pace import IDLE_S, TIDY_AT, Pace
from controllers.probe.round import Round, Server, probe

QUESTION = Question("www.shop.test", dns.rdatatype.A)
Script = Callable[[dns.message.Message, int], list[bytes]]


def answer(query: dns.message.Message, *addresses: str, flags: dns.flags.Flag = dns.flags.AA) -> dns.message.Message:
    reply = dns.message.make_response(query)
    reply.flags |= flags
    if addresses:
        reply.answer.append(dns.rrset.from_text(query.question[0].name, 60, "IN", "A", *addresses))
    return reply


class _Scripted(asyncio.DatagramProtocol):
    def __init__(self, script: Script) -> None:
        self._script = script
        self.queries: list[dns.message.Message] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        self.queries.append(query)
        for reply in self._script(query, len(self.queries)):
            self._transport.sendto(reply, addr)


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[tuple[Address, _Scripted]]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: _Scripted(script), local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")[:2]
    try:
        yield Address(host, port), server
    finally:
        transport.close()


async def ask(server: Address, timeout_s: float = 10.0) -> Answer:
    reply = await NetworkExchange(Pace(1000.0)).ask(server, QUESTION, timeout_s)
    return read_answer(reply, QUESTION, "shop.test") if isinstance(reply, dns.message.Message) else reply


async def test_messages_that_got_lost_are_sent_again_while_there_is_time() -> None:
    async with scripted(lambda query, count: [answer(query, "192.0.2.1").to_wire()] if count == 3 else []) as (
        at,
        server,
    ):
        assert (await ask(at, 0.4)).values == {"192.0.2.1"}
        assert len({query.id for query in server.queries}) == 3
        assert (await ask(at, 0.04)).outcome is Outcome.SILENT
    assert len(server.queries) == 6


async def test_messages_that_do_not_belong_to_the_question_are_passed_over() -> None:
    def script(query: dns.message.Message, _: int) -> list[bytes]:
        forged = answer(query, "203.0.113.66")
        forged.id = query.id ^ 1
        other = dns.message.make_response(dns.message.make_query("other.test", "A"))
        other.id = query.id
        return [
            b"",
            b"\x00" * 5,
            forged.to_wire(),
            other.to_wire(),
            query.to_wire(),
            answer(query, "192.0.2.1").to_wire(),
        ]

    async with scripted(script) as (at, _):
        assert (await ask(at)).values == {"192.0.2.1"}


async def test_a_server_that_knows_no_edns_is_asked_without_it() -> None:
    def script(query: dns.message.Message, _: int) -> list[bytes]:
        if query.edns == -1:
            return [answer(query, "192.0.2.1").to_wire()]
        reply = dns.message.Message(query.id)
        reply.flags |= dns.flags.QR
        reply.question = query.question
        reply.set_rcode(dns.rcode.FORMERR)
        return [reply.to_wire()]

    async with scripted(script) as (at, server):
        assert (await ask(at)).values == {"192.0.2.1"}
    assert [query.edns for query in server.queries] == [0, -1]


async def test_an_answer_that_is_cut_and_cannot_be_had_over_tcp_is_no_answer() -> None:
    async with scripted(lambda query, _: [answer(query, flags=dns.flags.AA | dns.flags.TC).to_wire()]) as (at, _):
        assert (await ask(at, 0.6)).outcome is Outcome.SILENT


@asynccontextmanager
async def over_tcp(reply_of: Callable[[dns.message.Message], bytes]) -> AsyncIterator[Address]:
    """A server that cuts its answers over UDP, and has this over TCP."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        query = dns.message.from_wire(await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big")))
        reply = reply_of(query)
        writer.write(len(reply).to_bytes(2, "big") + reply)
        await writer.drain()
        writer.close()

    def cut(query: dns.message.Message, _: int) -> list[bytes]:
        return [answer(query, flags=dns.flags.AA | dns.flags.TC).to_wire()]

    async with AsyncExitStack() as stack:
        server = None
        while server is None:  # a port that is free for UDP may be somebody's for TCP
            at, _ = await stack.enter_async_context(scripted(cut))
            with suppress(OSError):
                server = await asyncio.start_server(serve, at.host, at.port)
        stack.callback(server.close)
        yield at


def long_answer(query: dns.message.Message) -> dns.message.Message:
    reply = answer(query, "192.0.2.1")
    names = [f"host{number}.shop.test." for number in range(400)]
    reply.additional = [dns.rrset.from_text(each, 60, "IN", "A", "192.0.2.2") for each in names]
    assert len(reply.to_wire(max_size=65535)) > SHORT_OCTETS
    return reply


async def test_an_answer_that_is_cut_is_had_over_tcp_however_long_it_is() -> None:
    async with over_tcp(lambda query: answer(query, "192.0.2.1").to_wire()) as at:
        assert (await ask(at)).values == {"192.0.2.1"}
    async with over_tcp(lambda query: long_answer(query).to_wire(max_size=65535)) as at:
        assert (await ask(at)).values == {"192.0.2.1"}


async def test_over_tcp_only_the_answer_to_the_question_is_one() -> None:
    def other(query: dns.message.Message) -> bytes:
        reply = answer(query, "203.0.113.66")
        reply.id = query.id ^ 1
        return reply.to_wire()

    async with over_tcp(other) as at:
        assert (await ask(at)).rcode == "MALFORMED"
    async with over_tcp(lambda _: b"\x00" * 5) as at:
        assert (await ask(at)).rcode == "MALFORMED"


async def test_datagrams_that_are_much_longer_than_was_asked_for_are_passed_over() -> None:
    def script(query: dns.message.Message, _: int) -> list[bytes]:
        forged = long_answer(query)
        forged.answer = answer(query, "203.0.113.66").answer
        return [forged.to_wire(max_size=65535), answer(query, "192.0.2.1").to_wire()]

    async with scripted(script) as (at, _):
        assert (await ask(at)).values == {"192.0.2.1"}


async def test_servers_that_fail_refuse_or_do_not_speak_for_the_zone_are_told_apart() -> None:
    expected = {
        dns.rcode.SERVFAIL: Outcome.FAILED,
        dns.rcode.REFUSED: Outcome.LAME,
        dns.rcode.NOTAUTH: Outcome.LAME,
        dns.rcode.NXDOMAIN: Outcome.NO_NAME,
        dns.rcode.NOERROR: Outcome.NO_DATA,
    }
    for code, outcome in expected.items():

        def script(query: dns.message.Message, _: int, code: dns.rcode.Rcode = code) -> list[bytes]:
            reply = answer(query)
            reply.set_rcode(code)
            return [reply.to_wire()]

        counted = "ok" if outcome.is_answer else dns.rcode.to_text(code)
        labels = {"provider": "external", "code": counted}
        before = REGISTRY.get_sample_value("dns_api_provider_calls_total", labels) or 0.0
        async with scripted(script) as (at, _):
            assert (await ask(at)).outcome is outcome
        assert REGISTRY.get_sample_value("dns_api_provider_calls_total", labels) == before + 1
    no_authority = dns.flags.Flag(0)
    async with scripted(lambda query, _: [answer(query, "192.0.2.1", flags=no_authority).to_wire()]) as (at, _):
        assert (await ask(at)).outcome is Outcome.LAME


async def test_an_address_without_a_way_to_it_is_not_taken_for_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Address("2001:db8::1")

    def script(query: dns.message.Message, _: int) -> list[bytes]:
        reply = answer(query, "192.0.2.1")
        reply.answer.append(dns.rrset.from_text("shop.test.", 60, "IN", "SOA", "ns. h. 1 1 1 1 1"))
        return [reply.to_wire()]

    async with scripted(script) as (at, _):
        assert has_route(at)
        connect = socket.socket.connect

        def without_ipv6(self: socket.socket, address: Any) -> None:
            if self.family is socket.AF_INET6:
                raise OSError(errno.ENETUNREACH, "Network is unreachable")
            connect(self, address)

        monkeypatch.setattr(socket.socket, "connect", without_ipv6)
        assert (await ask(nowhere)).outcome is Outcome.UNROUTABLE
        servers = [Server("ns1", (at, nowhere)), Server("ns2", (nowhere,))]
        answers = await probe("shop.test", servers, [QUESTION], NetworkExchange(Pace(1000.0)), 2.0)
    told = Round("shop.test", tuple(servers), answers).told(QUESTION)
    # A server with another address is asked there; one without any is known to be out of reach.
    assert [(name, each.outcome) for name, each in told] == [
        (f"ns1 ({at})", Outcome.DATA),
        ("ns2", Outcome.UNROUTABLE),
    ]


async def test_turns_that_come_late_do_not_come_all_at_once() -> None:
    """Something holds up the event loop, and the turns of that time are over when it goes on."""
    pace, server, sent = Pace(20.0), Address("192.0.2.1"), list[float]()

    async def send() -> None:
        await pace.wait_turn(server)
        sent.append(time.monotonic())

    asyncio.get_running_loop().call_later(0.4, time.sleep, 0.9)
    await asyncio.gather(*(send() for _ in range(40)))
    assert len(sent) == 40
    assert max(sum(begin <= each < begin + 0.99 for each in sent) for begin in sent) <= 20


async def test_a_pace_holds_also_for_the_newest_of_very_many_servers() -> None:
    now = 1e6
    pace = Pace(20.0, lambda: now)
    for count in range(TIDY_AT + 1):
        await pace.wait_turn(Address(f"host-{count}"))
    async with asyncio.timeout(30.0):
        late = asyncio.ensure_future(pace.wait_turn(Address(f"host-{TIDY_AT}")))
        await asyncio.sleep(0)
        assert not late.done()
        now += 0.05
        await late
    now += 2 * IDLE_S
    await pace.wait_turn(Address("host-new"))
    assert set(pace._lines) == {Address("host-new")}


async def test_no_server_is_asked_faster_than_its_pace() -> None:
    loop = asyncio.get_running_loop()
    pace, one, other = Pace(100.0), Address("192.0.2.1"), Address("192.0.2.2")
    began = loop.time()
    await asyncio.gather(*(pace.wait_turn(server) for server in (one, other) for _ in range(21)))
    assert 0.19 <= loop.time() - began < 1.0


@pytest.mark.parametrize(
    ("kind", "data"),
    [("AAAA", "::ffff:c000:201"), ("AAAA", "::1:1"), ("AAAA", "2001:db8::1"), ("A", "192.0.2.1")],
)
def test_addresses_are_told_as_claims_write_them(kind: str, data: str) -> None:
    rdata = dns.rdata.from_text("IN", kind, data)
    assert text_of(dns.rdata.from_wire("IN", kind, rdata.to_wire() or b"", 0, len(rdata.to_wire() or b""))) == data


@pytest.mark.parametrize("name", [f"{'a.' * 130}shop.test", f"{'a' * 64}.shop.test", "a..shop.test", "."])
async def test_a_name_that_cannot_be_asked_for_is_a_broken_answer_and_ends_nothing(name: str) -> None:
    async with scripted(lambda query, _: []) as (at, server):
        reply = await NetworkExchange(Pace(1000.0)).ask(at, Question(name, dns.rdatatype.A), 0.2)
    assert isinstance(reply, Answer)
    assert (reply.outcome, reply.rcode) == (Outcome.FAILED, "MALFORMED")
    assert server.queries == []


async def test_so_many_sockets_are_open_at_a_time_and_waiting_for_one_is_no_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = 24  # a socket's buffer does not hold as many questions as the real one lets out
    assert CONCURRENT_LIMIT <= 256
    monkeypatch.setattr("controllers.probe.exchange.CONCURRENT_LIMIT", limit + 8)  # which are kept for others
    held: list[tuple[bytes, tuple[str, int]]] = []
    freed = False
    full, marked = asyncio.Event(), asyncio.Event()

    class Holding(_Scripted):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            if data == b"mark":
                marked.set()
            elif freed:
                self.reply(data, addr)
            else:
                held.append((data, addr))
                if len(held) == limit:
                    full.set()

        def reply(self, data: bytes, addr: tuple[str, int]) -> None:
            self._transport.sendto(answer(dns.message.from_wire(data), "192.0.2.1").to_wire(), addr)

    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: Holding(lambda *_: []), local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")[:2]
    # Two exchanges, as two providers have: the bound is one for the process.
    exchanges = [NetworkExchange(Pace(1e9)), NetworkExchange(Pace(1e9))]
    try:
        async with asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(exchanges[number % 2].ask(Address(host, port), QUESTION, 60.0))
                for number in range(limit + 30)
            ]
            async with asyncio.timeout(30):
                await full.wait()
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
                    late.sendto(b"mark", (host, port))
                    await marked.wait()  # and with it everything that was sent before
            assert not any(each.done() for each in asked)
            assert len({addr for _, addr in held}) == limit
            freed = True
            for data, addr in held:
                server.reply(data, addr)
    finally:
        transport.close()
    assert all(isinstance(each.result(), dns.message.Message) for each in asked)


@pytest.mark.parametrize(
    ("count", "outcome", "rcode"),
    [(RECORD_LIMIT, Outcome.DATA, "NOERROR"), (RECORD_LIMIT + 1, Outcome.FAILED, "TOOMANY")],
)
def test_very_many_records_are_not_judged_by_a_part_of_them(count: int, outcome: Outcome, rcode: str) -> None:
    query = dns.message.make_query("www.shop.test.", "A")
    reply = answer(query, *(f"10.0.{number // 250}.{number % 250}" for number in range(count)))
    found = read_answer(dns.message.from_wire(reply.to_wire()), QUESTION, "shop.test")
    assert (found.outcome, found.rcode) == (outcome, rcode)
    assert len(found.values) == (count if outcome is Outcome.DATA else 0)


@pytest.mark.parametrize(
    ("count", "outcome"), [(NAME_SERVER_LIMIT, Outcome.DATA), (NAME_SERVER_LIMIT + 1, Outcome.FAILED)]
)
def test_very_many_name_servers_of_a_zone_are_not_judged_by_a_part_of_them(count: int, outcome: Outcome) -> None:
    query = dns.message.make_query("shop.test.", "NS")
    reply = answer(query)
    names = [f"ns{number}.example." for number in range(count)]
    reply.answer = [dns.rrset.from_text("shop.test.", 300, "IN", "NS", *names)]
    question = Question("shop.test", dns.rdatatype.NS)
    assert read_answer(reply, question, "shop.test").outcome is outcome
    # Of a zone below it is data like any other.
    assert read_answer(reply, question, "test").outcome is Outcome.DATA


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("shop.test", True),
        ("www.shop.test", True),
        ("a\\\\.shop.test", True),
        ("a\\.shop.test", False),
        ("a\\\\\\.shop.test", False),
        ("eshop.test", False),
        ("test", False),
    ],
)
def test_a_dot_within_a_label_is_no_border_between_zones(name: str, inside: bool) -> None:
    assert is_within(name, "shop.test") is inside
    parsed = dns.name.from_text(f"{name}.")
    assert parsed.is_subdomain(dns.name.from_text("shop.test.")) is inside


def test_the_ttl_of_an_alias_counts_with_that_of_the_address() -> None:
    for alias_s, address_s in ((3000, 60), (60, 3000)):
        reply = answer(dns.message.make_query("www.shop.test", "A"))
        reply.answer.append(dns.rrset.from_text("www.shop.test.", alias_s, "IN", "CNAME", "app.shop.test."))
        reply.answer.append(dns.rrset.from_text("app.shop.test.", address_s, "IN", "A", "192.0.2.1"))
        found = read_answer(reply, QUESTION, "shop.test")
        assert (found.outcome, found.ttl_s, found.values) == (Outcome.ALIAS, 3000, frozenset({"192.0.2.1"}))


@pytest.mark.parametrize(("owner", "outcome"), [("www.shop.test.", Outcome.REFERRAL), ("shop.test.", Outcome.LAME)])
def test_a_referral_to_the_zone_itself_comes_from_a_server_that_does_not_have_it(owner: str, outcome: Outcome) -> None:
    reply = dns.message.make_response(dns.message.make_query("www.shop.test", "A"))
    reply.authority.append(dns.rrset.from_text(owner, 60, "IN", "NS", "ns.example."))
    assert read_answer(reply, QUESTION, "shop.test").outcome is outcome
