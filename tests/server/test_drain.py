"""SIGTERM under load: whatever the server has taken is answered, over every transport, and the process ends soon."""

from __future__ import annotations

import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import dns.message
import pytest

from server.config import Limits
from tests.server.beside import ZONES, beside, config
from tests.server.edns import KEEPALIVE, options_of, with_options
from tests.server.process import serving
from tests.server.question import Target, framed, read_framed
from tests.server.running import ANY_PORT

WINDOW = 32


def query(id_: int) -> bytes:
    octets = dns.message.make_query("short.ent.test.", "A", id=id_, flags=0).to_wire()
    assert octets is not None
    return octets


class Flood(threading.Thread):
    """Keeps many queries under way, and notes which were sent and which answered, in their order."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.sent = 0
        self.answered: list[int] = []
        self.begun = threading.Event()

    def note(self, reply: bytes) -> None:
        self.answered.append(int.from_bytes(reply[:2], "big"))
        if len(self.answered) > 200:
            self.begun.set()

    def hold(self) -> None:
        """Queries are answered in their order up to the last one that was taken; none before it is missing."""
        assert self.answered == list(range(1, len(self.answered) + 1))


class UdpFlood(Flood):
    def run(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect((self.target.host, self.target.port))
            client.settimeout(30)
            try:
                while True:
                    while self.sent - len(self.answered) < WINDOW:
                        self.sent += 1
                        client.send(query(self.sent & 0xFFFF))
                    self.note(client.recv(4096))
            except ConnectionRefusedError:
                pass  # told that nobody listens any more; replies that came before are still there
            client.setblocking(False)
            while True:
                try:
                    self.note(client.recv(4096))
                except ConnectionRefusedError:
                    continue
                except BlockingIOError:
                    return


class TcpFlood(Flood):
    """Stops asking when it is told to, as clients do that hear of the end of a server by other ways."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.enough = threading.Event()

    def run(self) -> None:
        with self.target.connect() as client:
            while not self.enough.is_set():
                self.sent += WINDOW
                client.sendall(
                    b"".join(framed(query(id_ & 0xFFFF)) for id_ in range(self.sent - WINDOW + 1, self.sent + 1))
                )
                for _ in range(WINDOW):
                    self.note(read_framed(client))
            assert client.recv(1) == b""


def test_every_query_that_was_taken_is_answered(tmp_path: Path) -> None:
    with serving([ZONES / "ent.test.zone"], tmp_path) as server:
        udp = [UdpFlood(server.target) for _ in range(3)]
        tcp = [TcpFlood(server.target) for _ in range(3)]
        for flood in (*udp, *tcp):
            flood.start()
        for flood in (*udp, *tcp):
            assert flood.begun.wait(20)
        server.process.send_signal(signal.SIGTERM)
        for flood in tcp:
            flood.enough.set()
        for flood in (*udp, *tcp):
            flood.join(20)
            flood.hold()
        for flood in tcp:
            assert len(flood.answered) == flood.sent
        assert server.process.wait(30) == 0


def test_clients_that_never_stop_asking_do_not_keep_it_from_ending() -> None:
    """They get replies to the last, and then the end of the connection."""
    with beside(config(limits=Limits(drain_s=0.3))) as server:
        target = server.target
        outcome: list[object] = []

        def ask_on() -> None:
            with target.connect() as client:
                try:
                    for number in range(1_000_000):
                        client.sendall(framed(query(number & 0xFFFF)))
                        assert read_framed(client)[:2] == (number & 0xFFFF).to_bytes(2, "big")
                except (EOFError, OSError) as error:
                    outcome.append(error)

        asker = threading.Thread(target=ask_on)
        asker.start()
        server.wait_until(lambda: server.server.counters.tcp[0] > 100, "a stream of queries")
        started_s = time.monotonic()
    asker.join(20)
    assert len(outcome) == 1
    assert time.monotonic() - started_s < 10


def test_it_answers_on_while_it_says_that_it_is_not_ready() -> None:
    """As balancers need that look at readiness now and then."""
    with beside(config(http=(ANY_PORT,), limits=Limits(linger_s=1.0))) as server:
        assert ready(server.server.http_port) == 200
        server.loop.call_soon_threadsafe(server.ending.set)
        started_s = time.monotonic()
        server.wait_until(lambda: server.server.is_draining, "the drain")
        assert ready(server.server.http_port) == 503
        assert server.target.ask("short.ent.test.", "A").answer
        reply = server.target.send(with_options((KEEPALIVE, b"")), tcp=True)
        assert options_of(reply)[KEEPALIVE] == b"\x00\x00"
    assert time.monotonic() - started_s >= 1.0
    with pytest.raises(ConnectionRefusedError):
        server.target.ask("short.ent.test.", "A", tcp=True)


def ready(port: int | None) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
