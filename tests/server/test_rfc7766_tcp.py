"""RFC 7766: DNS over TCP."""

from __future__ import annotations

import contextlib
import socket

import dns.message
import dns.rcode
import pytest

from tests.server.question import SILENCE_S, Target, framed, read_framed


def query(name: str, rdtype: str = "A", *, id_: int = 1) -> bytes:
    return dns.message.make_query(name, rdtype, id=id_).to_wire()


def test_one_connection_takes_many_queries_one_after_another(target: Target) -> None:
    with target.connect() as client:
        for number in range(20):
            client.sendall(framed(query("short.ent.test.", id_=number)))
            assert dns.message.from_wire(read_framed(client)).id == number


def test_queries_in_one_segment_are_all_answered(target: Target) -> None:
    names = ["short.ent.test.", "no.ent.test.", "huge.large.test.", "nobody.invalid.", "www.old.redirect.test."] * 40
    with target.connect() as client:
        client.sendall(b"".join(framed(query(name, "TXT", id_=number)) for number, name in enumerate(names)))
        ids = {dns.message.from_wire(read_framed(client)).id for _ in names}
    assert ids == set(range(len(names)))


def test_a_query_may_arrive_octet_by_octet(target: Target) -> None:
    with target.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in framed(query("short.ent.test.")):
            client.sendall(bytes((octet,)))
        assert dns.message.from_wire(read_framed(client)).answer


def test_a_client_that_has_said_all_still_gets_its_replies(target: Target) -> None:
    with target.connect() as client:
        client.sendall(framed(query("short.ent.test.", id_=1)) + framed(query("no.ent.test.", id_=2)))
        client.shutdown(socket.SHUT_WR)
        assert {dns.message.from_wire(read_framed(client)).id for _ in range(2)} == {1, 2}
        assert client.recv(1) == b""


def test_a_refused_or_malformed_query_leaves_the_connection_open(target: Target) -> None:
    with target.connect() as client:
        client.sendall(framed(query("nobody.invalid.")))
        assert dns.message.from_wire(read_framed(client)).rcode() == dns.rcode.REFUSED
        client.sendall(framed(query("short.ent.test.") + b"x"))
        assert read_framed(client)[3] & 0xF == dns.rcode.FORMERR
        client.sendall(framed(query("short.ent.test.")))
        assert dns.message.from_wire(read_framed(client)).answer


@pytest.mark.parametrize("octets", [b"\x00\x00", b"\x00\x02AB", framed(b"\x00" * 11)])
def test_what_cannot_be_a_message_gets_no_reply(octets: bytes, target: Target) -> None:
    with target.connect() as client:
        client.sendall(octets)
        client.settimeout(SILENCE_S)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            assert client.recv(1) == b""
    assert target.ask("short.ent.test.", "A", tcp=True).answer


def test_a_response_gets_no_reply_and_the_next_query_does(target: Target) -> None:
    response = bytearray(query("short.ent.test.", id_=1))
    response[2] |= 0x80
    with target.connect() as client:
        client.sendall(framed(bytes(response)) + framed(query("short.ent.test.", id_=2)))
        assert dns.message.from_wire(read_framed(client)).id == 2


def test_a_transfer_is_refused(target: Target) -> None:
    assert target.ask("ent.test.", "AXFR", tcp=True).rcode() == dns.rcode.REFUSED


def test_clients_that_say_nothing_hold_nobody_up(target: Target) -> None:
    idle = [target.connect() for _ in range(100)]
    try:
        for client in idle[:50]:
            client.sendall(b"\x00")
        assert target.ask("short.ent.test.", "A", tcp=True).answer
        assert target.ask("short.ent.test.", "A").answer
    finally:
        for client in idle:
            client.close()
