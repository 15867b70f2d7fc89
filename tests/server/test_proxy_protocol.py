"""The PROXY protocol, version 2: the client behind a proxy counts, and only proxies may speak for others."""

from __future__ import annotations

import contextlib
import socket
import struct
from pathlib import Path

import dns.message
import dns.rcode
import dns.rdataclass
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.answer.chaos import Chaos
from server.config import Limits, Tls
from server.listening.proxy import SIGNATURE, ProxyError, decode_proxy_header
from server.network import Networks
from tests.server.beside import Beside, beside, config
from tests.server.certificate import NAME, client_context, write_certificate
from tests.server.question import SILENCE_S, Target, framed, read_framed
from tests.server.running import ANY_PORT

BEHIND = Networks.parse(["198.51.100.0/24", "2001:db8::/32"])
HERE = Networks.parse(["127.0.0.1"])
TELLS_THEM = Chaos("v1", "", BEHIND)
"""What only clients behind the proxy are told: it shows whom the server takes a query to be from."""

QUERY = dns.message.make_query("version.bind.", "TXT", dns.rdataclass.CH, id=7).to_wire()


def header(
    source: str = "198.51.100.7", *, command: int = 1, family: int | None = None, extra: bytes = b"", version: int = 2
) -> bytes:
    kind = socket.AF_INET6 if ":" in source else socket.AF_INET
    destination = "2001:db8::53" if kind == socket.AF_INET6 else "192.0.2.53"
    body = socket.inet_pton(kind, source) + socket.inet_pton(kind, destination) + struct.pack("!HH", 4242, 53) + extra
    protocol = (0x21 if kind == socket.AF_INET6 else 0x11) if family is None else family
    return SIGNATURE + bytes((version << 4 | command, protocol)) + struct.pack("!H", len(body)) + body


def rcode(reply: bytes | None) -> int | None:
    return None if reply is None else reply[3] & 0xF


def over_tcp(target: Target, octets: bytes) -> bytes | None:
    with target.connect() as client:
        client.settimeout(SILENCE_S)
        client.sendall(octets)
        with contextlib.suppress(TimeoutError, EOFError, ConnectionResetError):
            return read_framed(client)
    return None


@pytest.fixture(scope="module")
def server() -> object:
    with beside(config(proxies=HERE, chaos=TELLS_THEM)) as found:
        yield found


def send(server: Beside, octets: bytes, *, tcp: bool) -> bytes | None:
    return over_tcp(server.target, octets + framed(QUERY)) if tcp else server.target.exchange(octets + QUERY)


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("source", ["198.51.100.7", "2001:db8::7", "::ffff:198.51.100.7"])
def test_the_client_behind_the_proxy_counts(source: str, tcp: bool, server: Beside) -> None:
    assert rcode(send(server, header(source), tcp=tcp)) == dns.rcode.NOERROR
    assert rcode(send(server, header(source, extra=b"\x04\x00\x04abcd"), tcp=tcp)) == dns.rcode.NOERROR
    other = "203.0.113.7" if "." in source else "2001:db9::7"
    assert rcode(send(server, header(other), tcp=tcp)) == dns.rcode.REFUSED


@pytest.mark.parametrize("tcp", [False, True])
def test_a_proxy_may_speak_for_itself(tcp: bool, server: Beside) -> None:
    """LOCAL, and addresses that are no internet ones: the query is the proxy's own."""
    local = SIGNATURE + b"\x20\x00\x00\x00"
    assert rcode(send(server, local, tcp=tcp)) == dns.rcode.REFUSED
    assert rcode(send(server, header(command=0), tcp=tcp)) == dns.rcode.REFUSED
    assert rcode(send(server, header(family=0x31), tcp=tcp)) == dns.rcode.REFUSED


BROKEN = {
    "nothing": b"",
    "another version": header(version=1),
    "another command": header(command=2),
    "addresses cut short": SIGNATURE + b"\x21\x11\x00\x04abcd",
    "version 1 of the protocol": b"PROXY TCP4 198.51.100.7 192.0.2.53 4242 53\r\n",
    "more than any proxy sends": SIGNATURE + b"\x21\x11\xff\xff" + bytes(12),
}


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("octets", BROKEN.values(), ids=BROKEN.keys())
def test_a_proxy_must_begin_with_a_header(octets: bytes, tcp: bool, server: Beside) -> None:
    before = server.read(lambda: server.server.counters.proxy_errors)
    assert send(server, octets, tcp=tcp) is None
    assert server.read(lambda: server.server.counters.proxy_errors) == before + 1


def test_a_header_may_arrive_octet_by_octet(server: Beside) -> None:
    with server.target.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in header() + framed(QUERY):
            client.sendall(bytes((octet,)))
        assert rcode(read_framed(client)) == dns.rcode.NOERROR
        client.sendall(framed(QUERY))
        assert rcode(read_framed(client)) == dns.rcode.NOERROR


def test_a_header_stands_before_tls(tmp_path: Path) -> None:
    files = write_certificate(tmp_path, 1)
    with (
        beside(config(proxies=HERE, chaos=TELLS_THEM, tls=Tls((ANY_PORT,), *files))) as server,
        server.tls_target.connect() as plain,
    ):
        plain.sendall(header())
        with client_context(files[0]).wrap_socket(plain, server_hostname=NAME) as client:
            client.sendall(framed(QUERY))
            assert rcode(read_framed(client)) == dns.rcode.NOERROR


@pytest.mark.parametrize("tcp", [False, True])
def test_nobody_else_may_speak_for_others(tcp: bool) -> None:
    with beside(config(proxies=Networks.parse(["192.0.2.0/24"]), chaos=TELLS_THEM)) as server:
        assert rcode(send(server, header(), tcp=tcp)) != dns.rcode.NOERROR
        assert rcode(send(server, b"", tcp=tcp)) == dns.rcode.REFUSED


def test_connections_are_bounded_by_the_client_behind_the_proxy() -> None:
    limits = Limits(tcp_connections_per_client=2)
    with beside(config(proxies=HERE, chaos=TELLS_THEM, limits=limits)) as server, contextlib.ExitStack() as stack:
        for number, expected in ((1, True), (1, True), (1, False), (2, True)):
            client = stack.enter_context(server.target.connect())
            client.sendall(header(f"198.51.100.{number}") + framed(QUERY))
            client.settimeout(30)
            try:
                answered = rcode(read_framed(client)) == dns.rcode.NOERROR
            except (EOFError, ConnectionResetError):
                answered = False
            assert answered is expected
        assert server.read(lambda: server.server.counters.tcp_refused) == 1


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=80).map(lambda tail: SIGNATURE + tail)))
def test_any_octets_are_a_header_the_beginning_of_one_or_none(octets: bytes) -> None:
    try:
        found = decode_proxy_header(octets)
    except ProxyError:
        return
    assert found is None or 16 <= found.size <= len(octets)
