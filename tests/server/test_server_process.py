"""The server as a process: start, reload, end; ports and files that cannot be had."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import aiohttp
import dns.exception
import dns.message
import pytest

from server.config import Address, Limits, ServerConfig, ZoneFile
from server.listening.listen import ListenError
from tests.server.process import ROOT, ServerProcess, free_port, serving
from tests.server.question import Target, framed, read_framed
from tests.server.running import ANY_PORT, ask, data, running, until


def zone_text(address: str, serial: int = 1) -> str:
    return f"$TTL 60\nshop.example. IN SOA ns. h. {serial} 2 3 4 5\n@ IN NS ns.\nwww.shop.example. IN A {address}\n".replace(
        "@", "shop.example."
    )


def asked(target: Target, name: str) -> str:
    reply = target.ask(name, "A")
    return str(reply.answer[0][0]) if reply.answer else str(reply.rcode())


def wait_for(server: ServerProcess, text: str) -> None:
    """Wait until the log says it."""
    for _ in range(2000):
        if text in server.log.read_text():
            return
        try:
            server.process.wait(0.005)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"{text!r} never came: {server.log.read_text()}")


def test_sighup_reads_the_files_again_and_a_broken_one_keeps_its_zone(tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("192.0.2.1"))
    with serving([file], tmp_path) as server:
        assert asked(server.target, "www.shop.example.") == "192.0.2.1"
        file.write_text(zone_text("192.0.2.2", serial=2))
        server.reload()
        wait_for(server, "master files read again")
        assert asked(server.target, "www.shop.example.") == "192.0.2.2"
        file.write_text(zone_text("not-an-address", serial=3))
        server.reload()
        wait_for(server, "master file is broken")
        assert f"{file}:4" in server.log.read_text()
        assert asked(server.target, "www.shop.example.") == "192.0.2.2"
        assert server.end() == 0


def test_sighup_while_the_server_starts_is_obeyed_once_it_has_started(tmp_path: Path) -> None:
    file, log = tmp_path / "shop.zone", tmp_path / "server.log"
    os.mkfifo(file)
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "server", "--listen", listen, "--zonefile", str(file)]
    with log.open("wb") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as process:
        try:
            with file.open("w") as first:  # opens once the server reads: it waits for the text within its start
                process.send_signal(signal.SIGHUP)
                file.unlink()
                file.write_text(zone_text("192.0.2.2", serial=2))
                first.write(zone_text("192.0.2.1"))
            host, _, port = listen.rpartition(":")
            server = ServerProcess(Target(host, int(port)), process, log)
            wait_for(server, "master files read again")
            assert asked(server.target, "www.shop.example.") == "192.0.2.2"
            assert server.end() == 0
        finally:
            process.kill()


def test_files_that_cannot_be_read_again_are_told_until_they_can(tmp_path: Path) -> None:
    file, port = tmp_path / "shop.zone", free_port()
    file.write_text(zone_text("192.0.2.1"))
    with serving([file], tmp_path, "--http", f"127.0.0.1:{port}") as server:
        file.unlink()
        server.reload()
        wait_for(server, "some master files could not be read again")
        assert "master files read again" not in server.log.read_text()
        status = readiness(port)
        assert (status["ready"], list(status["brokenFiles"])) == (True, [str(file)])
        assert "; 1 master file broken and served as before" in status["message"]
        file.write_text(zone_text("192.0.2.2", serial=2))
        server.reload()
        wait_for(server, "master files read again")
        assert readiness(port)["brokenFiles"] == {}
        assert asked(server.target, "www.shop.example.") == "192.0.2.2"


def readiness(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as response:
        found: dict[str, Any] = json.load(response)
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_after_what_was_asked_is_answered(number: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("192.0.2.1"))
    query = dns.message.make_query("www.shop.example.", "A").to_wire()
    with serving([file], tmp_path) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect((server.target.host, server.target.port))
        udp.settimeout(30)
        with server.target.connect() as tcp:
            tcp.sendall(framed(query))
            read_framed(tcp)
            server.process.send_signal(signal.SIGSTOP)
            for _ in range(50):
                udp.send(query)
            tcp.sendall(framed(query) * 50)
            server.process.send_signal(number)
            server.process.send_signal(signal.SIGCONT)
            assert all(udp.recv(512) for _ in range(50))
            assert all(read_framed(tcp) for _ in range(50))
            assert tcp.recv(1) == b""
        assert server.process.wait(30) == 0


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_port_that_is_taken_is_named_with_what_to_do(kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        port = taken.getsockname()[1]
        result = started("--listen", f"127.0.0.1:{port}")
    assert result.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in result.stderr
    assert "sport = :" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_broken_file_at_the_start_is_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("nonsense"))
    result = started("--listen", "127.0.0.1:0", "--zonefile", str(file))
    assert result.returncode == 1
    assert f"{file}:4" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_zone_that_no_server_may_serve_is_refused_with_the_rfc(tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("192.0.2.1") + "www.shop.example. IN CNAME elsewhere.example.\n")
    result = started("--listen", "127.0.0.1:0", "--zonefile", str(file))
    assert result.returncode == 1
    assert "RFC 2181 section 10.1" in result.stderr


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":x", ":70000"])
def test_a_listen_address_is_checked(text: str) -> None:
    result = started("--listen", text)
    assert result.returncode == 2
    assert "HOST:PORT" in result.stderr


async def test_a_host_name_is_no_listen_address() -> None:
    with pytest.raises(ListenError, match="must be an IPv4 or IPv6 address"):
        async with running(ServerConfig((Address("localhost", 0),))):
            pass


async def test_a_failed_start_leaves_nothing_open() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ListenError):
            async with running(ServerConfig((ANY_PORT, Address("127.0.0.1", taken.getsockname()[1])))):
                pass


async def test_several_addresses_of_both_families_answer(tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("192.0.2.1"))
    config = ServerConfig((ANY_PORT, ANY_PORT, Address("::1", 0)), zone_files=(ZoneFile(file),))
    async with running(config) as server:
        assert len(set(server.ports)) == 3
        for address in server.addresses:
            reply = await asyncio.to_thread(Target(address.host, address.port).ask, "www.shop.example.", "A")
            assert str(reply.answer[0][0]) == "192.0.2.1"
            reply = await asyncio.to_thread(Target(address.host, address.port).ask, "www.shop.example.", "A", tcp=True)
            assert str(reply.answer[0][0]) == "192.0.2.1"


async def test_an_origin_may_be_given(tmp_path: Path) -> None:
    file = tmp_path / "zone"
    file.write_text("$TTL 60\n@ IN SOA ns. h. 1 2 3 4 5\n@ IN NS ns.\nwww IN A 192.0.2.1\n")
    async with running(
        ServerConfig((ANY_PORT,), zone_files=(ZoneFile(file, "one.example"), ZoneFile(file, "two.example")))
    ) as server:
        assert await data(server, "www.one.example") == ["192.0.2.1"]
        assert await data(server, "www.two.example") == ["192.0.2.1"]


async def test_tcp_clients_are_bounded_and_dropped_when_idle(tmp_path: Path) -> None:
    limits = Limits(tcp_idle_s=0.2, tcp_connections_per_client=3)
    async with running(ServerConfig((ANY_PORT,), limits=limits)) as server:
        opened = [await asyncio.open_connection("127.0.0.1", server.ports[0]) for _ in range(5)]
        await until(lambda: server.counters.tcp_refused == 2, "two connections refused")
        assert server.counters.tcp_open == 3
        await until(lambda: server.counters.tcp_open == 0, "idle connections closed")
        for reader, writer in opened:
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()


async def test_a_client_that_does_not_read_is_dropped_and_others_are_served(tmp_path: Path) -> None:
    file = tmp_path / "zone"
    texts = "".join(f'big IN TXT "{number:03}{"x" * 240}"\n' for number in range(200))
    file.write_text(f"$ORIGIN shop.example.\n$TTL 60\n@ IN SOA ns. h. 1 2 3 4 5\n@ IN NS ns.\n{texts}")
    limits = Limits(tcp_idle_s=0.3)
    async with running(ServerConfig((ANY_PORT,), zone_files=(ZoneFile(file),), limits=limits)) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.ports[0], limit=1024)
        query = framed(dns.message.make_query("big.shop.example.", "TXT").to_wire())
        writer.write(query * 2000)
        await until(lambda: server.counters.tcp[0] > 0, "the first replies")
        assert (await ask(server, "shop.example", "SOA")).answer
        await until(lambda: server.counters.tcp_open == 0, "the slow reader dropped")
        assert server.counters.tcp[0] < 2000
        writer.transport.abort()


async def test_metrics_count_replies_by_transport_and_rcode(tmp_path: Path) -> None:
    file = tmp_path / "shop.zone"
    file.write_text(zone_text("192.0.2.1"))
    async with running(ServerConfig((ANY_PORT,), zone_files=(ZoneFile(file),), http=(ANY_PORT,))) as server:
        await ask(server, "www.shop.example")
        await ask(server, "nobody.example")
        await asyncio.to_thread(Target("127.0.0.1", server.ports[0]).ask, "no.shop.example.", "A", tcp=True)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{server.http_port}/metrics") as response:
                text = await response.text()
            async with session.get(f"http://127.0.0.1:{server.http_port}/healthz") as response:
                assert (response.status, await response.text()) == (200, "ok\n")
    assert 'dns_api_server_queries_total{rcode="NOERROR",transport="udp"} 1.0' in text
    assert 'dns_api_server_queries_total{rcode="REFUSED",transport="udp"} 1.0' in text
    assert 'dns_api_server_queries_total{rcode="NXDOMAIN",transport="tcp"} 1.0' in text
    assert "dns_api_server_zones 1.0" in text
    assert "snapshot_age" not in text
