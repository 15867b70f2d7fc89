"""Name servers to measure side by side: ours, and NSD, Knot, BIND and PowerDNS as Debian has them.

Owns how each is configured and started: one thread for UDP on one core, no rate limit, minimal responses, no log. Each runs in a folder
of its own on a free port of loopback.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.dns_zone import ORIGIN

SERVER_CORE: Final = 0
LOAD_CORE: Final = 1
START_S: Final = 30.0
END_S: Final = 10.0
ROOT: Final = Path(__file__).resolve().parents[1]

Command = Callable[[Path, Path, int], Sequence[str]]
"""From a folder, a master file and a port to what is to be run, after writing what that reads."""


@dataclass(frozen=True, slots=True)
class NameServer:
    """`outstanding` is how many queries are kept under way: what a server bears without dropping any."""

    name: str
    program: str
    command: Command
    outstanding: int = 500
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.program) is not None


def _ours(folder: Path, zone: Path, port: int) -> Sequence[str]:
    return (sys.executable, "-m", "server", "--listen", f"127.0.0.1:{port}", "--zonefile", str(zone))


def _nsd(folder: Path, zone: Path, port: int) -> Sequence[str]:
    (folder / "nsd.conf").write_text(
        f"""server:
  ip-address: 127.0.0.1
  port: {port}
  server-count: 1
  username: ""
  database: ""
  zonelistfile: {folder}/zone.list
  pidfile: {folder}/nsd.pid
  xfrdfile: {folder}/xfrd.state
  zonesdir: {folder}
  minimal-responses: yes
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: {ORIGIN}
  zonefile: {zone}
"""
    )
    return ("nsd", "-d", "-c", str(folder / "nsd.conf"))


def _knot(folder: Path, zone: Path, port: int) -> Sequence[str]:
    (folder / "knot.conf").write_text(
        f"""server:
  rundir: {folder}
  listen: 127.0.0.1@{port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: {folder}
zone:
  - domain: {ORIGIN}
    file: {zone}
    zonefile-sync: -1
"""
    )
    return ("knotd", "-c", str(folder / "knot.conf"))


def _bind(folder: Path, zone: Path, port: int) -> Sequence[str]:
    (folder / "named.conf").write_text(
        f"""options {{
  directory "{folder}"; pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key";
  listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; minimal-responses yes; notify no; querylog no; dnssec-validation no;
}};
controls {{ }};
zone "{ORIGIN}" {{ type primary; file "{zone}"; }};
"""
    )
    return ("named", "-f", "-c", str(folder / "named.conf"), "-n", "1")


def _powerdns(cache_ttl_s: int) -> Command:
    def command(folder: Path, zone: Path, port: int) -> Sequence[str]:
        (folder / "zones.conf").write_text(f'zone "{ORIGIN}" {{ type master; file "{zone}"; }};\n')
        options = {
            "config-dir": folder,
            "socket-dir": folder,
            "launch": "bind",
            "bind-config": folder / "zones.conf",
            "local-address": "127.0.0.1",
            "local-port": port,
            "receiver-threads": 1,
            "security-poll-suffix": "",
            "loglevel": 0,
            "cache-ttl": cache_ttl_s,
        }
        return ("pdns_server", "--daemon=no", "--guardian=no", *(f"--{key}={value}" for key, value in options.items()))

    return command


OURS: Final = NameServer("dns-api", sys.executable, _ours)
OURS_IN_PYTHON: Final = NameServer("dns-api in Python", sys.executable, _ours, 200, {"DNS_API_PURE_PYTHON": "1"})
NSD: Final = NameServer("NSD", "nsd", _nsd)
KNOT: Final = NameServer("Knot", "knotd", _knot)
BIND: Final = NameServer("BIND", "named", _bind, 200)
POWERDNS: Final = NameServer("PowerDNS", "pdns_server", _powerdns(20), 200)
POWERDNS_UNCACHED: Final = NameServer("PowerDNS, no packet cache", "pdns_server", _powerdns(0), 200)
PEERS: Final = (NSD, KNOT, BIND, POWERDNS, POWERDNS_UNCACHED)


@dataclass(frozen=True, slots=True)
class Running:
    """A process, with those that it has started, that answers on a port of loopback."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """Return the processor time that it has taken so far."""
        found: dict[int, tuple[int, int]] = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                found[int(path.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
        family = {self.pid}
        while further := {pid for pid, (parent, _) in found.items() if parent in family} - family:
            family |= further
        return sum(found[pid][1] for pid in family if pid in found) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(server: NameServer, folder: Path, zone: Path) -> Iterator[Running]:
    """Run a server on its core; raises RuntimeError when it does not answer."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = ("taskset", "-c", str(SERVER_CORE), *server.command(folder, zone, port))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env={**os.environ, **server.environment})
    try:
        _wait(server, port, process, folder / "log")
        yield Running(port, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)


def free_port() -> int:
    """Return a port that nobody has, for TCP and UDP."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
            udp.bind(("127.0.0.1", 0))
            port: int = udp.getsockname()[1]
            with suppress(OSError):
                tcp.bind(("127.0.0.1", port))
                return port


def _wait(server: NameServer, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    name = b"".join(bytes((len(label),)) + label.encode() for label in ORIGIN.split(".")) + b"\0"
    query = b"\x12\x34\0\0\0\1\0\0\0\0\0\0" + name + b"\0\6\0\1"
    until = time.monotonic() + START_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.1)
        while time.monotonic() < until and process.poll() is None:
            try:
                sock.sendto(query, ("127.0.0.1", port))
                if sock.recv(4096)[3] & 0xF == 0:
                    return
            except OSError:
                time.sleep(0.05)
    raise RuntimeError(f"{server.name} does not answer: {log.read_text(errors='replace')[-1000:]}")
