"""RFC 7766 and RFC 9210: what clients of a stream can and cannot do to others, and replies that are overtaken."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import struct
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial

import dns.message
import dns.rcode
import pytest

from server import rdtype
from server.answer.policy import DECLINED, Declined
from server.answer.query import Query
from server.config import Address, Limits
from server.counters import Counters
from server.listeners import Listeners
from server.listening.admission import Admission
from server.plane.python import PythonPlane
from server.transport import Later, Reply, Streamed, Transport
from server.zone_files import read_zone
from tests.server.beside import EVERY_ZONE, Beside, beside, config
from tests.server.question import Target, framed, read_framed
from tests.server.running import ANY_PORT, PATIENCE_S, until

CROWD = 500


def query(name: str = "short.ent.test.", kind: str = "A", *, id_: int = 1) -> bytes:
    octets = dns.message.make_query(name, kind, id=id_, flags=0).to_wire()
    assert octets is not None
    return octets


def ids(client: socket.socket, count: int) -> list[int]:
    return [int.from_bytes(read_framed(client)[:2], "big") for _ in range(count)]


def closed(client: socket.socket) -> bool:
    client.settimeout(PATIENCE_S)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@contextlib.contextmanager
def idle(target: Target, count: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(target.connect()) for _ in range(count)]


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 12_000:
        pytest.skip(f"only {hard} file descriptors are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def until_open(server: Beside, count: int) -> None:
    server.wait_until(lambda: server.server.counters.tcp_open == count, f"{count} open connections")


@contextlib.contextmanager
def thousands(server: Beside, count: int) -> Iterator[list[socket.socket]]:
    """Open connections many at a time: no more than the kernel keeps for a server that has not come to accept them."""
    clients: list[socket.socket] = []
    try:
        for first in range(0, count, CROWD):
            clients += (socket.socket() for _ in range(CROWD))
            for client in clients[first:]:
                client.setblocking(False)
                client.connect_ex((server.target.host, server.target.port))
            until_open(server, first + CROWD)
        for client in clients:
            client.settimeout(PATIENCE_S)
        yield clients
    finally:
        for client in clients:
            client.close()


def test_thousands_of_idle_connections_are_held_and_others_are_served(many_descriptors: None) -> None:
    with beside(config(limits=Limits(tcp_idle_s=300))) as server, thousands(server, 5000) as clients:
        for number in (0, 2500, 4999):
            clients[number].sendall(b"\x00")
        started_s = time.monotonic()
        for _ in range(50):
            assert server.target.ask("short.ent.test.", "A").answer
            assert server.target.ask("short.ent.test.", "A", tcp=True).answer
        assert time.monotonic() - started_s < 10
        clients[17].sendall(framed(query()))
        assert dns.message.from_wire(read_framed(clients[17])).answer


def test_a_client_that_asks_all_at_once_leaves_others_their_turn() -> None:
    """A hundred thousand questions wait on one connection; another client's are answered meanwhile."""
    with beside(config()) as server, server.target.connect() as greedy:
        greedy.settimeout(PATIENCE_S)
        server.loop.call_soon_threadsafe(time.sleep, 0.3)  # so that all of them have arrived when it looks
        greedy.setblocking(False)
        sent = 0
        burst = framed(query()) * 2000
        with contextlib.suppress(BlockingIOError):
            while sent < 100_000:
                greedy.send(burst)
                sent += 2000
        answered = server.read(lambda: server.server.counters.tcp[0])
        assert server.target.ask("short.ent.test.", "A", tcp=True).answer
        assert answered < sent


def test_turns_are_short() -> None:
    """Between two turns of one connection everybody else has theirs."""
    with beside(config()) as server, server.target.connect() as greedy, server.target.connect() as other:
        other.sendall(framed(query()))
        ids(other, 1)
        for _ in range(2):
            server.loop.call_soon_threadsafe(time.sleep, 0.2)
            greedy.sendall(b"".join(framed(query(id_=number)) for number in range(1000)))
            other.sendall(framed(query(id_=5)))
            before = server.read(lambda: server.server.counters.tcp[0])
            assert ids(other, 1) == [5]
            after = server.read(lambda: server.server.counters.tcp[0])
            assert ids(greedy, 1000) == list(range(1000))
            assert before == 0 or after >= before


def test_queries_in_segments_of_one_octet_are_answered_while_others_ask(target: Target) -> None:
    octets = b"".join(framed(query(id_=number)) for number in range(5))
    with target.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position, octet in enumerate(octets):
            client.sendall(bytes((octet,)))
            if position % 40 == 0:
                assert target.ask("short.ent.test.", "A").answer
        assert ids(client, 5) == list(range(5))


def test_a_client_that_trickles_is_closed_when_no_message_comes_of_it() -> None:
    """Octets alone are no progress: a length and a header, one octet at a time, do not keep a connection open."""
    with beside(config(limits=Limits(tcp_idle_s=0.5))) as server, server.target.connect() as client:
        client.settimeout(0.05)
        started_s = time.monotonic()
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for octet in framed(query() + bytes(1000)):
                client.sendall(bytes((octet,)))
                with contextlib.suppress(TimeoutError):
                    if client.recv(1) == b"":
                        break
        assert 0.3 < time.monotonic() - started_s < 5
        server.wait_until(lambda: server.server.counters.tcp_open == 0, "the connection gone")


def test_questions_keep_a_connection_open() -> None:
    with beside(config(limits=Limits(tcp_idle_s=0.4))) as server, server.target.connect() as client:
        started_s = time.monotonic()
        while time.monotonic() - started_s < 1:
            client.sendall(framed(query()))
            ids(client, 1)
        assert closed(client)


def test_half_closed_connections_get_every_reply() -> None:
    """More questions than one turn answers, and more replies than fit the buffers; then the end."""
    count = 3000
    with beside(config()) as server, server.target.connect() as client:
        client.sendall(b"".join(framed(query("huge.large.test.", "TXT", id_=number)) for number in range(count)))
        client.shutdown(socket.SHUT_WR)
        assert ids(client, count) == list(range(count))
        assert closed(client)
        server.wait_until(lambda: server.server.counters.tcp_open == 0, "the connection gone")


def test_a_client_that_never_reads_is_dropped_although_it_said_all() -> None:
    with beside(config(limits=Limits(tcp_idle_s=0.3))) as server, server.target.connect() as client:
        client.sendall(framed(query("huge.large.test.", "TXT")) * 3000)
        client.shutdown(socket.SHUT_WR)
        server.wait_until(lambda: server.server.counters.tcp_opened == 1, "the connection")
        server.wait_until(lambda: server.server.counters.tcp_open == 0, "the connection gone")
        assert server.read(lambda: server.server.counters.tcp_closed_slow) == 1


def test_one_client_has_so_many_connections_and_another_is_not_touched() -> None:
    listen = (Address("0.0.0.0", 0),)
    with beside(config(listen=listen, limits=Limits(tcp_connections_per_client=3))) as server:
        with idle(server.target, 3) as clients:
            server.wait_until(lambda: server.server.counters.tcp_open == 3, "three connections")
            with server.target.connect() as fourth:
                assert closed(fourth)
            other = socket.create_connection(("127.0.0.1", server.target.port), 5, ("127.0.0.2", 0))
            with other:
                other.sendall(framed(query()))
                assert ids(other, 1) == [1]
            clients[0].sendall(framed(query()))
            assert ids(clients[0], 1) == [1]
        server.wait_until(lambda: server.server.counters.tcp_open == 0, "all gone")
        assert server.target.ask("short.ent.test.", "A", tcp=True).answer


def test_when_all_places_are_taken_the_longest_silent_connection_makes_room() -> None:
    with beside(config(limits=Limits(tcp_connections=3, tcp_idle_s=60))) as server:
        with idle(server.target, 3) as clients:
            server.wait_until(lambda: server.server.counters.tcp_open == 3, "three connections")
            clients[0].sendall(framed(query()))
            ids(clients[0], 1)
            server.read(lambda: _age(server))
            with server.target.connect() as fourth:
                fourth.sendall(framed(query(id_=9)))
                assert ids(fourth, 1) == [9]
                assert closed(clients[1])
                for alive in (clients[0], clients[2]):
                    alive.sendall(framed(query()))
                    ids(alive, 1)
        assert server.read(lambda: server.server.counters.tcp_evicted) == 1


def _age(server: Beside) -> None:
    """Have a minute of silence pass."""
    for connection in server.server.listeners.connections:
        connection.last_progress_s -= 2


def test_connections_in_use_are_not_closed_for_newcomers() -> None:
    with beside(config(limits=Limits(tcp_connections=2, tcp_idle_s=60))) as server:
        with idle(server.target, 2) as clients:
            for client in clients:
                client.sendall(framed(query()))
                ids(client, 1)
            with server.target.connect() as third:
                assert closed(third)
            for client in clients:
                client.sendall(framed(query()))
                ids(client, 1)
        assert server.read(lambda: server.server.counters.tcp_refused) == 1


@pytest.mark.parametrize(
    "octets",
    [framed(bytes(65_000))[:60_000], framed(query("huge.large.test.", "TXT")) * 3000],
    ids=["half a message", "replies that are not read"],
)
def test_connections_that_hold_much_hold_so_much_together(octets: bytes) -> None:
    with (
        beside(config(limits=Limits(tcp_held_bytes=200_000, tcp_idle_s=60))) as server,
        idle(server.target, 8) as clients,
    ):
        clients[0].sendall(framed(query()))
        ids(clients[0], 1)
        for client in clients[1:]:
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.send(octets)
        server.wait_until(lambda: server.server.counters.tcp_evicted >= 4, "those that hold most gone")
        clients[0].sendall(framed(query(id_=9)))
        assert ids(clients[0], 1) == [9]


@dataclass(eq=False)
class Reader:
    """Stands for a connection with replies that its client has not taken."""

    held_bytes: int
    last_progress_s: float = 0.0
    is_closed: bool = False

    def evict(self) -> None:
        self.is_closed = True


def test_a_connection_whose_replies_have_been_taken_is_not_closed_for_what_it_held() -> None:
    admission = Admission(Limits(tcp_held_bytes=100_000), Counters())
    done, slow, other = readers = [Reader(60_000), Reader(30_000), Reader(0)]
    for reader in readers:
        assert admission.enter(reader)
        admission.weigh(reader)
    done.held_bytes, other.held_bytes = 0, 60_000
    admission.weigh(other)
    assert not any(reader.is_closed for reader in readers)
    slow.held_bytes, other.held_bytes = 50_000, 60_000
    admission.weigh(other)
    admission.weigh(slow)
    assert [reader.is_closed for reader in readers] == [False, True, False]


def test_connections_leave_file_descriptors_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (8, 8))
    with beside(config(limits=Limits(tcp_idle_s=60))) as server, idle(server.target, 6) as clients:
        until_open(server, 6)
        server.read(lambda: _age(server))
        with server.target.connect() as seventh:
            seventh.sendall(framed(query(id_=9)))
            assert ids(seventh, 1) == [9]
        assert closed(clients[0])


class Transfers:
    """Stands for what answers with many messages, each when it is told to."""

    listeners: Listeners

    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.seen: list[Query] = []

    def take(self, query: Query) -> Reply | Declined:
        self.seen.append(query)
        if query.question is None or query.question.qtype != rdtype.AXFR:
            return DECLINED
        if query.transport is Transport.UDP:
            return None
        return Streamed(self._messages(query.packet))

    async def _messages(self, packet: bytes) -> AsyncGenerator[bytes, None]:
        head = packet[:2] + b"\x84\x00" + packet[4:]
        yield head
        await self.may_go_on.wait()
        for _ in range(3):
            yield head


@contextlib.asynccontextmanager
async def with_transfers(delegate: Transfers, idle_s: float = 10.0) -> AsyncIterator[int]:
    plane = PythonPlane()
    plane.catalog.complete = True
    for file in EVERY_ZONE:
        plane.catalog.replace(read_zone(file))
    listeners = Listeners(config(listen=(ANY_PORT,), limits=Limits(tcp_idle_s=idle_s)), plane, delegate)
    delegate.listeners = listeners
    listeners.bind()
    await listeners.start()
    try:
        yield listeners.addresses[0].port
    finally:
        await listeners.stop()


async def read_id(reader: asyncio.StreamReader) -> int:
    size = int.from_bytes(await asyncio.wait_for(reader.readexactly(2), PATIENCE_S), "big")
    return int.from_bytes((await reader.readexactly(size))[:2], "big")


async def test_quick_answers_overtake_a_long_one_on_the_same_connection() -> None:
    """RFC 7766 section 6.2.1.1."""
    delegate = Transfers()
    async with with_transfers(delegate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(framed(query("ent.test.", "AXFR", id_=1)) + framed(query(id_=2)) + framed(query(id_=3)))
        first = [await read_id(reader) for _ in range(3)]
        assert sorted(first) == [1, 2, 3]
        writer.write(framed(query(id_=4)))
        assert await read_id(reader) == 4
        delegate.may_go_on.set()
        assert [await read_id(reader) for _ in range(3)] == [1, 1, 1]
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()


async def test_a_half_closed_connection_gets_all_of_a_long_reply() -> None:
    delegate = Transfers()
    async with with_transfers(delegate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(framed(query("ent.test.", "AXFR", id_=1)))
        writer.write_eof()
        assert await read_id(reader) == 1
        delegate.may_go_on.set()
        assert [await read_id(reader) for _ in range(3)] == [1, 1, 1]
        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()


async def test_a_client_whose_turn_has_not_come_is_not_idle() -> None:
    delegate = Transfers()
    async with with_transfers(delegate, idle_s=0.1) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(framed(query("ent.test.", "AXFR", id_=1)))
        assert await read_id(reader) == 1
        for _ in range(3):
            with Target("127.0.0.1", port).connect() as silent:
                assert await asyncio.to_thread(closed, silent)
        delegate.may_go_on.set()
        assert [await read_id(reader) for _ in range(3)] == [1, 1, 1]
        writer.close()


async def test_long_replies_under_way_are_bounded_and_the_rest_comes_after_them() -> None:
    delegate = Transfers()
    async with with_transfers(delegate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"".join(framed(query("ent.test.", "AXFR", id_=number)) for number in range(20)))
        writer.write(framed(query(id_=99)))
        begun = {await read_id(reader) for _ in range(8)}
        assert begun == set(range(8))
        assert len(delegate.seen) == 8
        delegate.may_go_on.set()
        rest = [await read_id(reader) for _ in range(8 * 3 + 12 * 4 + 1)]
        assert rest.count(99) == 1
        assert {number: rest.count(number) for number in range(8, 20)} == dict.fromkeys(range(8, 20), 4)
        writer.close()


async def test_a_long_reply_that_breaks_off_ends_the_connection() -> None:
    class Broken(Transfers):
        async def _messages(self, packet: bytes) -> AsyncGenerator[bytes, None]:
            yield packet[:2] + b"\x84\x00" + packet[4:]
            raise OSError("the journal is gone")

    async with with_transfers(Broken()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(framed(query("ent.test.", "AXFR", id_=1)))
        assert await read_id(reader) == 1
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()


async def test_what_the_delegate_declines_is_answered_as_if_there_was_none() -> None:
    delegate = Transfers()
    async with with_transfers(delegate) as port:
        target = Target("127.0.0.1", port)
        reply = await asyncio.to_thread(target.ask, "ent.test.", "IXFR", tcp=True)
        assert reply.rcode() == dns.rcode.REFUSED
        assert await asyncio.to_thread(target.exchange, query("ent.test.", "AXFR")) is None
        assert (await asyncio.to_thread(target.ask, "short.ent.test.", "A")).answer
    assert [each.question.qtype for each in delegate.seen if each.question] == [rdtype.IXFR, rdtype.AXFR]


class Long(Transfers):
    """Stands for what takes long to work out, each when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.made: list[int] = []

    def take(self, query: Query) -> Reply | Declined:
        declined = super().take(query)
        return declined if isinstance(declined, Declined) else Later(lambda: self._make(query.packet))

    def _make(self, packet: bytes) -> bytes:
        assert self.go_on.wait(PATIENCE_S)
        self.made.append(packet[1])
        if packet[1] == 13:
            raise ValueError("made to fail")
        return packet[:2] + b"\x84\x00" + packet[4:]


async def test_a_fault_in_a_long_answer_costs_nobody_else_theirs() -> None:
    delegate = Long()
    delegate.go_on.set()
    async with with_transfers(delegate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"".join(framed(query("ent.test.", "AXFR", id_=number)) for number in (13, 14)))
        assert await read_id(reader) == 14
        writer.write(framed(query(id_=3)))
        assert await read_id(reader) == 3
        writer.close()


async def test_nothing_long_is_worked_out_for_a_client_that_has_gone() -> None:
    delegate = Long()

    def is_asked(count: int) -> bool:
        return len(delegate.seen) == count

    async with with_transfers(delegate) as port:
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for number, (_, writer) in enumerate(clients):
            writer.write(framed(query("ent.test.", "AXFR", id_=number)))
            await until(partial(is_asked, number + 1), "it is asked")
        reset = struct.pack("ii", 1, 0)  # a client that merely closes may still read
        clients[1][1].get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        clients[1][1].transport.abort()
        await until(lambda: len(delegate.listeners.connections) == 2, "it is gone")
        delegate.go_on.set()
        assert await read_id(clients[2][0]) == 2
        assert delegate.made == [0, 2]
        for _, writer in clients:
            writer.close()


async def test_a_server_that_stops_finishes_a_long_answer() -> None:
    delegate = Long()
    async with with_transfers(delegate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(framed(query("ent.test.", "AXFR", id_=1)))
        await until(lambda: delegate.seen, "it is asked")
        asyncio.get_running_loop().call_later(0.3, delegate.go_on.set)
    assert await read_id(reader) == 1
    assert await reader.read() == b""
    writer.close()
