"""Packets of every kind over real sockets: the server answers what is a query, is silent to what is none, and stays as it was."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import dns.message
import pytest

from tests.server.beside import ZONES
from tests.server.packets import mutated
from tests.server.process import ServerProcess, serving
from tests.server.question import framed, read_framed

CROWD = 100
"""Packets under way at once: fewer than any buffer holds, so that each missing reply is the server's doing."""

SENTINEL = dns.message.make_query("short.ent.test.", "A", id=0xFFFF, flags=0).to_wire()
GROWTH_BYTES = 8 * 1024 * 1024
TIMEOUT_S = 20.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with serving(sorted(ZONES.glob("*.zone")), tmp_path) as found:
        yield found


def numbered(rng: random.Random) -> dict[int, bytes]:
    """A crowd of packets, each with its number for an ID."""
    return {number: struct.pack("!H", number) + mutated(rng)[2:] for number in range(CROWD)}


def deserves_a_reply(packet: bytes) -> bool:
    """RFC 1035 section 4.1.1: a header, and one of a query."""
    return len(packet) >= 12 and not packet[2] & 0x80


def hold(packets: dict[int, bytes], replies: dict[int, bytes], longest: int) -> None:
    expected = {number for number, packet in packets.items() if deserves_a_reply(packet)}
    for number in expected ^ replies.keys():
        raise AssertionError(f"{'a' if number in replies else 'no'} reply to {packets[number].hex()}")
    for number, reply in replies.items():
        about = packets[number].hex()
        assert reply[2] & 0xF8 == 0x80 | packets[number][2] & 0x78, about
        assert 12 <= len(reply) <= longest, about


def over_udp(client: socket.socket, packets: dict[int, bytes]) -> dict[int, bytes]:
    """Replies come in any order: that one is left out shows when nothing comes any more."""
    for packet in packets.values():
        client.send(packet)
    client.send(SENTINEL)
    waiting = {number for number, packet in packets.items() if deserves_a_reply(packet)} | {0xFFFF}
    replies = {}
    with contextlib.suppress(TimeoutError):
        while waiting:
            reply = client.recv(65535)
            number = int.from_bytes(reply[:2], "big")
            waiting.discard(number)
            if number != 0xFFFF:
                replies[number] = reply
    return replies


def over_tcp(client: socket.socket, packets: dict[int, bytes]) -> dict[int, bytes]:
    """What cannot be a message ends the connection, and is left out here."""
    client.sendall(b"".join(framed(packet) for packet in packets.values()) + framed(SENTINEL))
    replies = {}
    while (reply := read_framed(client))[:2] != b"\xff\xff":
        replies[int.from_bytes(reply[:2], "big")] = reply
    return replies


def noise(target: tuple[str, int], rng: random.Random) -> None:
    """A stream without sense or framing."""
    with socket.create_connection(target, TIMEOUT_S) as client, contextlib.suppress(OSError):
        client.sendall(rng.randbytes(rng.randrange(1, 3000)))
        client.shutdown(socket.SHUT_WR)
        while client.recv(65535):
            pass


def resident_bytes(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def fuzz(server: ServerProcess, packets: int, limit_s: float, seed: int) -> int:
    """Send so many packets, or as many as there is time for; return how many there were."""
    rng = random.Random(seed)
    address = (server.target.host, server.target.port)
    started_s, sent, settled_bytes = time.monotonic(), 0, 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.create_connection(address, TIMEOUT_S) as tcp:
        udp.connect(address)
        udp.settimeout(TIMEOUT_S)
        while sent < packets and time.monotonic() - started_s < limit_s:
            crowd = numbered(rng)
            hold(crowd, over_udp(udp, crowd), 1232)
            messages = {number: packet for number, packet in numbered(rng).items() if len(packet) >= 12}
            hold(messages, over_tcp(tcp, messages), 65535)
            sent += len(crowd) + len(messages)
            if rng.random() < 0.1:
                noise(address, rng)
            if not settled_bytes and sent >= packets // 5:
                settled_bytes = resident_bytes(server)
        assert resident_bytes(server) - settled_bytes < GROWTH_BYTES
    return sent


def hold_alive(server: ServerProcess) -> None:
    assert server.target.ask("short.ent.test.", "A").answer
    assert server.target.ask("short.ent.test.", "A", tcp=True).answer
    assert server.end() == 0
    log = server.log.read_text()
    assert "failed" not in log, log
    assert "Traceback" not in log, log


def test_tens_of_thousands_of_packets(server: ServerProcess) -> None:
    fuzz(server, 50_000, 45.0, seed=1)
    hold_alive(server)


@pytest.mark.slow
@pytest.mark.endurance
@pytest.mark.timeout(1800)
def test_two_million_packets(server: ServerProcess) -> None:
    assert fuzz(server, 2_000_000, 1500.0, seed=2) >= 2_000_000
    hold_alive(server)
