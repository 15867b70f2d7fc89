"""`dns-api up` as a process: what it prints, what it serves, how it ends, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.asyncquery
import dns.message
import dns.rcode
import pytest
import yaml

from tests.cli.command import ROOT, TIMEOUT_S, Cli, Process, finished, started
from tests.cli.conftest import Up
from tests.cli.manifest import config_map, text

ANY_PORTS = ["--api", "127.0.0.1:0", "--dns", "127.0.0.1:0"]


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home)}


@pytest.fixture
def taken() -> Iterator[str]:
    """An address that another program listens on."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        udp.bind(tcp.getsockname())
        yield f"127.0.0.1:{tcp.getsockname()[1]}"


@contextmanager
def running(*words: str, environment: dict[str, str]) -> Iterator[Process]:
    with started("up", *ANY_PORTS, *words, environment=environment) as process:
        process.stdout.until("dns-api is up")
        yield process


def test_the_demo_prints_a_query_that_is_answered(tmp_path: Path, environment: dict[str, str]) -> None:
    with running("--demo", "--data-dir", str(tmp_path / "d"), environment=environment) as process:
        line = process.stdout.until("dig @").strip()
        process.stdout.until("Stop with Ctrl-C.")
        cli = Cli({"KUBECONFIG": str(tmp_path / "d/kubeconfig")})
        cli.ok("wait", "zone,rrset")
        match = re.fullmatch(r"dig @(\S+) -p (\d+) (\S+) A", line)
        assert match is not None
        query = dns.message.make_query(match[3], "A")
        answer = asyncio.run(dns.asyncquery.udp(query, match[1], port=int(match[2]), timeout=30))
        assert answer.rcode() == dns.rcode.NOERROR
        assert sorted(item.to_text() for item in answer.answer[0]) == ["192.0.2.10", "192.0.2.11"]
        if shutil.which("dig"):
            printed = subprocess.run([*shlex.split(line), "+short"], capture_output=True, text=True, check=True).stdout
            assert sorted(printed.split()) == ["192.0.2.10", "192.0.2.11"]
        process.send_signal(signal.SIGINT)
        assert process.ended() == 0
        assert process.stdout.rest().endswith("Stopping.")
        assert process.stderr.rest() == ""


def test_the_example_of_make_run_is_served(tmp_path: Path, environment: dict[str, str]) -> None:
    words = ["--data-dir", str(tmp_path / "d"), "-f", str(ROOT / "examples/hosted")]
    with running(*words, environment=environment) as process:
        assert "15 manifests" in process.stdout.until("applied")
        line = process.stdout.until("dig @").strip()
        assert "export KUBECONFIG=" in process.stdout.seen[-3]
        cli = Cli({"KUBECONFIG": str(tmp_path / "d/kubeconfig")})
        assert len(cli.ok("wait", "rrset").splitlines()) == 13
        match = re.fullmatch(r"dig @(\S+) -p (\d+) (\S+) (\S+)", line)
        assert match is not None
        answer = asyncio.run(
            dns.asyncquery.udp(dns.message.make_query(match[3], match[4]), match[1], port=int(match[2]), timeout=30)
        )
        assert answer.answer != []
        process.send_signal(signal.SIGTERM)
        assert process.ended() == 0


def test_an_api_for_the_network_wants_its_kubeconfig(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "d/kubeconfig"
    words = ["--data-dir", str(tmp_path / "d"), "--api", "0.0.0.0:0"]
    with running(*words, environment=environment) as process:
        process.stdout.until("Stop with Ctrl-C.")
        cli = Cli({"KUBECONFIG": str(path)})
        assert "default" in cli.ok("get", "ns")
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        content["users"][0]["user"]["token"] = "wrong"
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        assert "does not take the credentials" in cli.fails("get", "ns")
        del content["clusters"][0]["cluster"]["certificate-authority-data"]
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        assert "its certificate is not by the authority that the kubeconfig names" in cli.fails("get", "ns")


def test_it_takes_all_descriptors_and_goes_on_when_nobody_reads_what_it_says(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    few = ["sh", "-c", 'ulimit -Sn 500 && exec "$@"', "sh"]
    command = [*few, sys.executable, "-m", "cli.main", "up", *ANY_PORTS, "--data-dir", str(tmp_path / "d")]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert next(line for line in process.stdout if line.startswith("dns-api is up"))
    allowed, most = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    assert allowed == most > 500
    process.stdout.close()
    process.terminate()
    complaint = process.communicate(timeout=TIMEOUT_S)[1]
    assert (process.returncode, complaint) == (0, "")


def test_what_was_applied_is_there_after_a_kill(tmp_path: Path, environment: dict[str, str]) -> None:
    words = ["--data-dir", str(tmp_path / "d")]
    with running("--demo", *words, environment=environment) as process:
        process.stdout.until("Stop with Ctrl-C.")
        Cli({"KUBECONFIG": str(tmp_path / "d/kubeconfig")}).ok("wait", "rrset")
        process.send_signal(signal.SIGKILL)
        process.ended()
    with running(*words, environment=environment) as process:
        host, port = re.findall(r"([\d.]+):(\d+)", process.stdout.until("  DNS "))[0]
        process.stdout.until("Stop with Ctrl-C.")
        query = dns.message.make_query("www.demo.test", "A")
        answer = asyncio.run(dns.asyncquery.udp(query, host, port=int(port), timeout=30))
        assert len(answer.answer[0]) == 2


def test_a_broken_manifest_is_told_and_applied_when_it_is_mended(tmp_path: Path, environment: dict[str, str]) -> None:
    manifests = tmp_path / "m"
    manifests.mkdir()
    (manifests / "good.yaml").write_text(text(config_map("good")), encoding="utf-8")
    broken = manifests / "broken.yaml"
    broken.write_text("a: [1, 2\n", encoding="utf-8")
    with running("--data-dir", str(tmp_path / "d"), "-f", str(manifests), environment=environment) as process:
        told = process.stdout.until("not applied")
        assert f"not applied {broken}: is not YAML: line 2" in told
        assert "mend the file" in process.stdout.until("mend")
        cli = Cli({"KUBECONFIG": str(tmp_path / "d/kubeconfig")})
        assert cli.ok("get", "cm", "-o", "name") == "configmap/good\n"
        broken.write_text(text(config_map("mended")), encoding="utf-8")
        process.stdout.until("applied     1 manifest")
        assert "configmap/mended" in cli.ok("get", "cm", "-o", "name")


@pytest.mark.parametrize("option", ["--api", "--dns", "--http"])
def test_a_port_in_use_is_told(tmp_path: Path, environment: dict[str, str], taken: str, option: str) -> None:
    words = [*ANY_PORTS, option, taken, "--data-dir", str(tmp_path / "d")]
    result = finished("up", *words, environment=environment)
    assert result.code == 1
    assert result.stderr.startswith("error: ")
    assert taken in result.stderr
    assert "in use" in result.stderr
    assert option in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "d/kubeconfig").exists()


def test_keys_that_are_none_are_told(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "keys").write_text("nothing\n", encoding="utf-8")
    words = ["--data-dir", str(tmp_path / "d"), "--tsig-keys", str(tmp_path / "keys")]
    result = finished("up", *ANY_PORTS, *words, environment=environment)
    assert result.code == 1
    assert result.stderr.startswith(f"error: {tmp_path / 'keys'}: key 1 has another form, allowed are ")


def test_a_folder_in_use_is_told(up: Up, environment: dict[str, str]) -> None:
    result = finished("up", *ANY_PORTS, "--data-dir", str(up.kubeconfig.parent), environment=environment)
    assert result.code == 1
    assert f"is in use by process {up.process.pid}; stop it or choose another --data-dir" in result.stderr


@pytest.mark.parametrize("place", ["/proc/dns-api", "file/below", "x" * 300])
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, environment: dict[str, str], place: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = finished("up", *ANY_PORTS, "--data-dir", str(tmp_path / place), environment=environment)
    assert result.code == 1
    assert result.stderr.startswith("error: data directory ")
    assert "choose a writable directory with --data-dir" in result.stderr


def test_a_folder_of_another_version_is_told(tmp_path: Path, environment: dict[str, str]) -> None:
    words = ["--data-dir", str(tmp_path / "d")]
    with running(*words, environment=environment) as process:
        process.stdout.until("Stop with Ctrl-C.")
        process.send_signal(signal.SIGTERM)
        assert process.ended() == 0
    store = sqlite3.connect(tmp_path / "d/objects.sqlite")
    with store:
        store.execute("UPDATE meta SET value = 99 WHERE name = 'format'")
    store.close()
    result = finished("up", *ANY_PORTS, *words, environment=environment)
    assert result.code == 1
    assert "has format 99, this program reads format " in result.stderr
    assert "run the version of dns-api that wrote it, or start with an empty --data-dir" in result.stderr


def test_a_folder_with_something_else_is_told(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "objects.sqlite").write_text(
        "no database at all, but long enough to be taken for one" * 20, encoding="utf-8"
    )
    result = finished("up", *ANY_PORTS, "--data-dir", str(tmp_path), environment=environment)
    assert result.code == 1
    assert "objects.sqlite cannot be opened as a store" in result.stderr


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--api", "nowhere"], "Invalid value for --api: found 'nowhere', allowed is HOST:PORT"),
        (["--dns", "::1:53"], "Invalid value for --dns: found '::1:53', allowed is HOST:PORT"),
        (["--http", "127.0.0.1:70000"], "Invalid value for --http: found '127.0.0.1:70000'"),
        (["--log-level", "loud"], "'loud' is not one of 'debug', 'info', 'warning', 'error'"),
        (["-f", "/nowhere/at/all"], "Invalid value for -f: found nothing at /nowhere/at/all"),
        (["--data-dir", str(ROOT / "README.md")], "README.md is a file, a folder is needed"),
    ],
)
def test_a_wrong_option_is_told(home: Path, words: list[str], fault: str) -> None:
    assert fault in Cli({"HOME": str(home)}).fails("up", *words, code=2)
