"""RFC 7858, RFC 7830 and RFC 8467: DNS over TLS, padding, and certificates that are replaced."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import pytest
from cryptography.hazmat.primitives import serialization

from server.config import Limits, Tls
from server.listening.tls import Certificate, CertificateError
from tests.server.beside import Beside, beside, config
from tests.server.certificate import NAME, client_context, serial_of, write_certificate
from tests.server.edns import COOKIE, KEEPALIVE, PADDING, options_of, with_options
from tests.server.question import Target, framed, read_framed
from tests.server.running import ANY_PORT


@contextlib.contextmanager
def connected(target: Target, certificate: Path) -> Iterator[ssl.SSLSocket]:
    with target.connect() as plain, client_context(certificate).wrap_socket(plain, server_hostname=NAME) as client:
        yield client


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write_certificate(tmp_path, 1)


@pytest.fixture
def server(files: tuple[Path, Path]) -> Iterator[Beside]:
    with beside(config(tls=Tls((ANY_PORT,), *files), limits=Limits(tcp_idle_s=5))) as found:
        yield found


def wire(message: dns.message.Message) -> bytes:
    octets = message.to_wire()
    assert octets is not None
    return octets


def exchange(client: ssl.SSLSocket, query: dns.message.Message) -> dns.message.Message:
    client.sendall(framed(wire(query)))
    return dns.message.from_wire(read_framed(client))


def test_questions_are_answered_in_tls(server: Beside, files: tuple[Path, Path]) -> None:
    with connected(server.tls_target, files[0]) as client:
        assert client.selected_alpn_protocol() == "dot"
        for name in ("short.ent.test.", "huge.large.test.", "nobody.invalid."):
            reply = exchange(client, dns.message.make_query(name, "TXT"))
            assert reply.question[0].name.to_text() == name
        client.sendall(
            b"".join(framed(wire(dns.message.make_query("short.ent.test.", "A", id=id_))) for id_ in range(200))
        )
        assert [dns.message.from_wire(read_framed(client)).id for _ in range(200)] == list(range(200))
    assert server.read(lambda: sum(server.server.counters.tls)) == 203


def test_a_stub_resolver_gets_its_answer(server: Beside, files: tuple[Path, Path]) -> None:
    query = dns.message.make_query("huge.large.test.", "TXT")
    target = server.tls_target
    reply = dns.query.tls(
        query, target.host, 5, target.port, ssl_context=client_context(files[0]), server_hostname=NAME
    )
    assert len(reply.answer[0]) == 8


@pytest.mark.parametrize("name", ["short.ent.test.", "no.ent.test.", "nobody.invalid.", "huge.large.test."])
def test_a_padded_query_gets_a_padded_reply(name: str, server: Beside, files: tuple[Path, Path]) -> None:
    """RFC 8467 section 4.1: in blocks of 468 octets."""
    with connected(server.tls_target, files[0]) as client:
        client.sendall(framed(wire(with_options((PADDING, bytes(40)), (COOKIE, bytes(8)), name=name, rdtype="TXT"))))
        octets = read_framed(client)
    assert len(octets) % 468 == 0
    options = options_of(dns.message.from_wire(octets))
    assert set(options[PADDING]) <= {0}
    assert len(options[COOKIE]) == 24


def test_a_query_without_padding_gets_none(server: Beside, files: tuple[Path, Path]) -> None:
    with connected(server.tls_target, files[0]) as client:
        assert options_of(exchange(client, with_options((KEEPALIVE, b"")))) == {KEEPALIVE: (50).to_bytes(2, "big")}


def test_a_query_may_arrive_octet_by_octet_and_in_one_segment_with_the_handshake(
    server: Beside, files: tuple[Path, Path]
) -> None:
    with connected(server.tls_target, files[0]) as client:
        for octet in framed(wire(dns.message.make_query("short.ent.test.", "A"))):
            client.sendall(bytes((octet,)))
        assert dns.message.from_wire(read_framed(client)).answer


def test_the_server_says_farewell_to_a_client_that_has_said_all(server: Beside, files: tuple[Path, Path]) -> None:
    with connected(server.tls_target, files[0]) as client:
        client.sendall(framed(wire(dns.message.make_query("short.ent.test.", "A"))))
        assert dns.message.from_wire(read_framed(client)).answer
        client.settimeout(30)
        client.unwrap()  # waits for the other end's farewell


@pytest.mark.parametrize("octets", [b"GET / HTTP/1.0\r\n\r\n", b"\x00\x1d" + bytes(29), b"\x16\x03\x01\x00\x05hello"])
def test_what_is_no_tls_ends_the_connection_alone(octets: bytes, server: Beside, files: tuple[Path, Path]) -> None:
    with server.tls_target.connect() as client:
        client.sendall(octets)
        client.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            while client.recv(100):
                pass
    server.wait_until(lambda: server.server.counters.tls_errors == 1, "an error counted")
    with connected(server.tls_target, files[0]) as other:
        assert exchange(other, dns.message.make_query("short.ent.test.", "A")).answer


def test_old_versions_are_not_spoken(server: Beside, files: tuple[Path, Path]) -> None:
    context = client_context(files[0])
    with pytest.warns(DeprecationWarning, match="TLSv1 is deprecated"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with server.tls_target.connect() as plain, pytest.raises((ssl.SSLError, ConnectionResetError)):
        context.wrap_socket(plain, server_hostname=NAME)


def test_a_handshake_that_stalls_is_given_up(files: tuple[Path, Path]) -> None:
    with beside(config(tls=Tls((ANY_PORT,), *files), limits=Limits(tcp_idle_s=0.2))) as server:
        with server.tls_target.connect() as client:
            client.sendall(b"\x16\x03\x01")
            client.settimeout(30)
            assert client.recv(1) == b""
        server.wait_until(lambda: server.server.counters.tcp_open == 0, "the connection gone")


def test_records_that_never_end_hold_so_much_together(files: tuple[Path, Path]) -> None:
    limits = Limits(tcp_held_bytes=30_000, tcp_idle_s=60)
    with beside(config(tls=Tls((ANY_PORT,), *files), limits=limits)) as server, contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(server.tls_target.connect()).sendall(b"\x16\x03\x01\x3f\xff\x01" + bytes(12_000))
        server.wait_until(lambda: server.server.counters.tcp_evicted == 2, "those that came first gone")


def test_a_new_certificate_is_shown_to_new_connections_and_old_ones_live_on(
    server: Beside, files: tuple[Path, Path], tmp_path: Path
) -> None:
    with connected(server.tls_target, files[0]) as before:
        assert serial_of(before) == 1
        write_certificate(tmp_path, 2)
        server.reload()
        with connected(server.tls_target, files[0]) as after:
            assert serial_of(after) == 2
            assert exchange(after, dns.message.make_query("short.ent.test.", "A")).answer
        assert exchange(before, dns.message.make_query("short.ent.test.", "A")).answer


def test_a_broken_certificate_leaves_the_one_in_use(server: Beside, files: tuple[Path, Path], tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.crt"
    trusted.write_bytes(files[0].read_bytes())
    other = tmp_path / "other"
    other.mkdir()
    files[1].write_bytes(write_certificate(other, 3)[1].read_bytes())
    server.reload()
    with connected(server.tls_target, trusted) as client:
        assert serial_of(client) == 1
    files[0].unlink()
    server.reload()
    with connected(server.tls_target, trusted) as client:
        assert serial_of(client) == 1


def test_files_that_an_issuer_replaces_are_noticed(files: tuple[Path, Path], tmp_path: Path) -> None:
    certificate = Certificate(Tls((), *files))
    first = certificate.context
    certificate.reload_if_replaced()
    assert certificate.context is first
    new = tmp_path / "new"
    new.mkdir()
    for old, replacement in zip(files, write_certificate(new, 2), strict=True):
        os.replace(replacement, old)
    certificate.reload_if_replaced()
    assert certificate.context is not first


def test_what_cannot_be_used_at_the_start_is_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"tls\.crt with the key .*absent: No such file"):
        Certificate(Tls((), files[0], tmp_path / "absent"))
    files[1].write_text("no key\n")
    with pytest.raises(CertificateError, match=r"cannot use the certificate"):
        Certificate(Tls((), *files))


def test_a_key_with_a_passphrase_is_refused_without_asking_for_it(files: tuple[Path, Path]) -> None:
    key = serialization.load_pem_private_key(files[1].read_bytes(), None)
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(CertificateError, match="without a passphrase"):
        Certificate(Tls((), *files))


def test_many_connections_at_once(server: Beside, files: tuple[Path, Path]) -> None:
    query = dns.message.make_query("short.ent.test.", "A")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(server.tls_target, files[0])) for _ in range(50)]
        for client in clients:
            client.sendall(framed(wire(query)))
        assert all(dns.message.from_wire(read_framed(client)).answer for client in clients)


def test_the_address_is_given_back(files: tuple[Path, Path]) -> None:
    with beside(config(tls=Tls((ANY_PORT,), *files))) as server:
        address = server.server.tls_addresses[0]
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(address)
