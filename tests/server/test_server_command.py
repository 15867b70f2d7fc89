"""`dns-api server` as people run it: its options do what they say, and what they cannot do is told before anything starts."""

from __future__ import annotations

import errno
import select
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.message
import dns.query
import dns.rdataclass
import pytest
import structlog
from typer.testing import CliRunner

from cli.main import build
from server.config import Address
from server.listening.listen import everywhere
from tests.server.beside import ZONES
from tests.server.certificate import NAME, client_context, write_certificate
from tests.server.edns import COOKIE, KEEPALIVE, NSID, ask
from tests.server.process import ROOT, free_port, serving
from tests.server.question import Target

START_S = 60.0


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Target]:
    """Run the command on a free port of this machine, until it says that it answers."""
    port = free_port()
    command = [sys.executable, "-m", "cli.main", "server", "--listen", f"127.0.0.1:{port}", *options]
    command += ["--zonefile", str(ZONES / "ent.test.zone")]
    with (folder / "log").open("w+b") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            deadline_s = time.monotonic() + START_S
            while b"name server answers" not in (text := (folder / "log").read_bytes()):
                assert process.poll() is None, text.decode()
                assert time.monotonic() < deadline_s, text.decode()
                select.select([], [], [], 0.02)
            yield Target("127.0.0.1", port)
        finally:
            process.terminate()
            assert process.wait(20) == 0


def chaos(target: Target, name: str) -> str:
    reply = target.ask(name, "TXT", rdclass=dns.rdataclass.CH)
    return str(reply.answer[0][0]) if reply.answer else "refused"


def test_identity_bounds_and_observation(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("e5e973e5a6b2a43f48e7dc849e37bfcf\n")
    http = free_port()
    options = ["--name", "pod-7", "--nsid", "n1", "--chaos-version", "v9", "--tcp-idle", "7", "--query-log", "1"]
    options += ["--cookie-secrets", str(secrets), "--http", f"127.0.0.1:{http}", "--udp-sockets", "2"]
    with started(tmp_path, *options) as target:
        assert ask(target, (NSID, b""))[NSID] == b"n1"
        assert ask(target, (KEEPALIVE, b""), tcp=True)[KEEPALIVE] == (70).to_bytes(2, "big")
        assert len(ask(target, (COOKIE, b"12345678"))[COOKIE]) == 24
        assert (chaos(target, "version.bind."), chaos(target, "id.server.")) == ('"v9"', '"pod-7"')
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/readyz") as response:
            assert response.status == 200
    log = (tmp_path / "log").read_text()
    assert log.count("query ") >= 5
    assert "name=short.ent.test." in log


def test_tls(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path, 1)
    port = free_port()
    options = ["--tls-listen", f"127.0.0.1:{port}", "--tls-certificate", str(certificate), "--tls-key", str(key)]
    with started(tmp_path, *options):
        query = dns.message.make_query("short.ent.test.", "A")
        context = client_context(certificate)
        reply = dns.query.tls(query, "127.0.0.1", 5, port, ssl_context=context, server_hostname=NAME)
        assert reply.answer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_alone_means_all_addresses_of_both_versions_of_ip(tmp_path: Path, host: str) -> None:
    certificate, key = write_certificate(tmp_path, 1)
    dns_port, tls_port, http_port = free_port(), free_port(), free_port()
    options = ["--listen", f":{dns_port}", "--http", f":{http_port}", "--tls-listen", f":{tls_port}"]
    options += ["--tls-certificate", str(certificate), "--tls-key", str(key)]
    query = dns.message.make_query("short.ent.test.", "A")
    with started(tmp_path, *options):
        assert dns.query.udp(query, host, 5, dns_port).answer
        assert dns.query.tcp(query, host, 5, dns_port).answer
        context = client_context(certificate)
        assert dns.query.tls(query, host, 5, tls_port, ssl_context=context, server_hostname=NAME).answer
        shown = f"[{host}]" if ":" in host else host
        with urllib.request.urlopen(f"http://{shown}:{http_port}/readyz") as response:
            assert response.status == 200


def test_the_server_without_the_command_takes_a_port_alone(tmp_path: Path) -> None:
    port, http = free_port(), free_port()
    with serving([ZONES / "ent.test.zone"], tmp_path, "--listen", f":{port}", "--http", f":{http}"):
        query = dns.message.make_query("short.ent.test.", "A")
        assert dns.query.udp(query, "127.0.0.1", 5, port).answer
        assert dns.query.tcp(query, "::1", 5, port).answer
        with urllib.request.urlopen(f"http://[::1]:{http}/healthz") as response:
            assert response.status == 200


def test_a_port_alone_needs_no_version_of_ip_that_the_kernel_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = socket.socket

    def without_ipv6(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return kernel(family, kind)

    assert everywhere(53) == (Address("0.0.0.0", 53), Address("::", 53))
    monkeypatch.setattr("socket.socket", without_ipv6)
    assert everywhere(53) == (Address("0.0.0.0", 53),)


def test_nobody_is_told_when_nobody_may_be(tmp_path: Path) -> None:
    with started(tmp_path, "--chaos-allow", "192.0.2.1", "--chaos-version", "") as target:
        assert (chaos(target, "version.bind."), chaos(target, "id.server.")) == ("refused", "refused")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tls-listen", "127.0.0.1:853"], "missing: --tls-certificate, --tls-key"),
        (["--tls-key", "key"], "missing: --tls-listen, --tls-certificate"),
        (["--chaos-allow", "example.com"], "found 'example.com'"),
        (["--proxy-from", "192.0.2.1/8"], "has host bits set"),
        (["--rate-limit-exempt", "x"], "--rate-limit-exempt"),
        (["--chaos-version", "v" * 256], "allowed are 255"),
        (["--rate-limit", "-1"], "--rate-limit"),
        (["--udp-payload", "100"], "--udp-payload"),
        (["--listen", "localhost"], "--listen"),
        (["--listen", "::1:53"], "found '::1:53', allowed is HOST:PORT"),
        (["--listen", "[]:53"], "found '[]:53', allowed is HOST:PORT"),
        (["--http", ":65536"], "found ':65536', allowed is HOST:PORT"),
    ],
)
def test_options_that_cannot_be_are_refused(options: list[str], complaint: str, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(structlog.reset_defaults)  # the command has bound the logs to its own standard error
    result = CliRunner().invoke(build("server"), ["server", "--zonefile", "absent", *options])
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--cookie-secrets", "/nonexistent"], "error: cannot read the cookie secrets in /nonexistent"),
        (
            ["--tls-listen", "127.0.0.1:0", "--tls-certificate", "/nonexistent", "--tls-key", "/nonexistent"],
            "error: cannot use the certificate /nonexistent",
        ),
    ],
)
def test_files_that_cannot_be_used_keep_it_from_starting(options: list[str], complaint: str) -> None:
    command = [sys.executable, "-m", "cli.main", "server", "--listen", "127.0.0.1:0", *options]
    command += ["--zonefile", str(ZONES / "ent.test.zone")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert complaint in result.stderr
    assert "Traceback" not in result.stderr
