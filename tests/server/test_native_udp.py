"""Native UDP threads: versions never mix, what is left to Python is bounded, and the server without the extension says so once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import dns.message
import dns.rcode
import pytest

from server.config import Observation
from server.listening.udp import BATCH, UdpListener
from server.network import LOOPBACK
from server.plane.choice import PURE_PYTHON, has_native
from server.zone.compile import compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.recompile import recompile
from tests.server.beside import Beside, beside, config
from tests.server.process import ROOT
from tests.server.zone_strategy import APEX, APEX_LABELS, apex_ns, soa
from zonemodel.name import from_labels
from zonemodel.rrset import RRset, ZoneData

if not has_native():
    pytest.skip("the native data plane is not built", allow_module_level=True)

from server.plane.udp import NativeUdpListener

ALIAS, TARGET = from_labels([b"alias", *APEX_LABELS]), from_labels([b"target", *APEX_LABELS])
HIT = dns.message.make_query("short.ent.test.", "A", flags=0).to_wire()
MISS = dns.message.make_query("short.ent.test.", "ANY", flags=0).to_wire()


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PURE_PYTHON, raising=False)


def listeners(server: Beside) -> Iterator[UdpListener]:
    return iter(server.server.listeners._udp)


def version(number: int) -> ZoneData:
    return ZoneData(APEX, (soa(number), apex_ns(), RRset(ALIAS, 5, 60, (TARGET,)), address(number)))


def address(number: int) -> RRset:
    return RRset(TARGET, 1, 60 + number, (bytes((10, 0, 0, number)),) * 1)


def test_a_reply_never_mixes_versions() -> None:
    """Alias, SOA serial and address change together, while clients ask."""
    with beside(config(zone_files=())) as server:
        zone = compile_zone(ZoneIndex.of(version(1)))
        server.read(lambda: server.server.catalog.replace(zone))
        ended = threading.Event()
        seen: list[set[str]] = []

        def ask() -> None:
            found: set[str] = set()
            while not ended.is_set():
                reply = server.target.ask("alias.z.test.", "A")
                (record,) = reply.answer[1]
                found.add(f"{reply.answer[1].ttl - 60}={str(record).rpartition('.')[2]}")
            seen.append(found)

        clients = [threading.Thread(target=ask) for _ in range(2)]
        for client in clients:
            client.start()
        for number in range(2, 200):
            changes = Changes((soa(number), address(number)))
            zone = recompile(zone, zone.index.with_changes(changes), changes)
            server.read(lambda zone=zone: server.server.catalog.replace(zone))  # type: ignore[misc]  # bound now
        ended.set()
        for client in clients:
            client.join(20)
        assert str(server.target.ask("target.z.test.", "A").answer[0][0]) == "10.0.0.199"
    pairs = set().union(*seen)
    assert len(pairs) > 1
    assert all(left == right for left, right in (pair.split("=") for pair in pairs))


def test_queries_that_python_has_no_time_for_are_shed_and_the_others_answered() -> None:
    with beside(config()) as server:
        held, go_on = threading.Event(), threading.Event()

        def hold() -> None:
            held.set()
            go_on.wait(20)

        server.loop.call_soon_threadsafe(hold)
        assert held.wait(20)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect((server.target.host, server.target.port))
            for _ in range(3000):
                client.send(MISS)
            answered = server.target.exchange(HIT)
        go_on.set()
        assert answered is not None
        server.wait_until(lambda: server.server.counters.udp_shed > 0, "queries shed")
        server.wait_until(lambda: server.target.host, "the loop going on")
        assert server.target.ask("short.ent.test.", "ANY").rcode() == dns.rcode.NOERROR


def test_slow_answers_leave_the_event_loop_its_turn() -> None:
    """A flood of queries that only Python answers is taken a few at a time, and each turn goes on with it."""
    with beside(config()) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        listener = next(listeners(server))
        client.connect((server.target.host, server.target.port))

        def take() -> list[int]:
            for _ in range(100):
                client.send(MISS)
            assert server.target.exchange(HIT) is not None  # the thread has left the others behind by then
            before, answered = sum(server.server.counters.udp), []
            for limit_s in (0.0, 0.0, 60.0):
                listener._take(BATCH, limit_s)
                answered.append(sum(server.server.counters.udp) - before)
            return answered

        first, second, all_of_them = server.read(take)
        assert 0 < first < second < 20
        assert all_of_them >= BATCH


def test_sockets_are_pythons_where_every_query_has_to_be_told() -> None:
    with beside(config()) as server:
        assert all(isinstance(each, NativeUdpListener) for each in listeners(server))
    for options in ({"observation": Observation(log_one_in=1000)}, {"proxies": LOOPBACK}):
        with beside(config(**options)) as server:
            assert not any(isinstance(each, NativeUdpListener) for each in listeners(server))


def test_python_alone_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PURE_PYTHON, "1")
    with beside(config()) as server:
        assert not any(isinstance(each, NativeUdpListener) for each in listeners(server))
        assert server.target.exchange(HIT) is not None


def test_a_server_without_the_extension_says_so_once_and_answers() -> None:
    program = (
        "import sys; sys.modules['server._native'] = None\n"
        "from server.config import ServerConfig\n"
        "from server.plane.choice import make_plane\n"
        "from server.plane.python import PythonPlane\n"
        "assert {type(make_plane(ServerConfig(()))) for _ in range(2)} == {PythonPlane}\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("the native data plane is not built") == 1
