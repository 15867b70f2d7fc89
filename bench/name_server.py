"""Name servers to measure side by side: ours, NSD, Knot, BIND and PowerDNS as Debian has them, and CoreDNS where it has been built.

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

from bench import coredns
from bench.dns_zone import ORIGIN
from zonemodel.name import to_wire

SERVER_CORE: Final = 0
LOAD_CORE: Final = 1
START_S: Final = 30.0
END_S: Final = 10.0
_LOOK_AGAIN_S: Final = 0.005
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
  provide-xfr: 127.0.0.0/8 NOKEY
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
acl:
  - id: local
    address: 127.0.0.0/8
    action: transfer
zone:
  - domain: {ORIGIN}
    file: {zone}
    acl: local
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


def _coredns(folder: Path, zone: Path, port: int) -> Sequence[str]:
    (folder / "Corefile").write_text(f".:{port} {{\n  bind 127.0.0.1\n  file {zone} {ORIGIN}\n}}\n")
    return (str(coredns.PROGRAM), "-quiet", "-conf", str(folder / "Corefile"))


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
COREDNS: Final = NameServer("CoreDNS", str(coredns.PROGRAM), _coredns, 200, {"GOMAXPROCS": "1"})
PEERS: Final = (NSD, KNOT, BIND, POWERDNS, POWERDNS_UNCACHED, COREDNS)


@dataclass(frozen=True, slots=True)
class Running:
    """A process, with those that it has started, that answers on a port of loopback."""

    port: int
    pid: int

    def cpu_s(self) -> float:
        """Return the processor time that it has taken so far."""
        return sum(user + system for user, system in self._ticks().values()) / os.sysconf("SC_CLK_TCK")

    def own_cpu_s(self) -> float:
        """Return how much of that it has taken outside of the kernel."""
        return sum(user for user, _ in self._ticks().values()) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """Return the memory that it has, pages that its processes share counted once."""
        total_kb = 0
        for pid in self._ticks():
            with suppress(OSError):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                total_kb += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return total_kb / 1024

    def _ticks(self) -> dict[int, tuple[int, int]]:
        """Return time outside of and in the kernel by process, for this one and those that it has started."""
        found: dict[int, tuple[int, int, int]] = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                found[int(path.parent.name)] = int(fields[1]), int(fields[11]), int(fields[12])
        family = {self.pid}
        while further := {pid for pid, (parent, _, _) in found.items() if parent in family} - family:
            family |= further
        return {pid: found[pid][1:] for pid in family if pid in found}


@contextmanager
def running(server: NameServer, folder: Path, zone: Path, owner: str = "") -> Iterator[Running]:
    """Run a server on its core until it answers for the apex, or for the A record of `owner`; raises RuntimeError when it does not."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = ("taskset", "-c", str(SERVER_CORE), *server.command(folder, zone, port))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env={**os.environ, **server.environment})
    try:
        _wait(server, port, process, folder / "log", owner)
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


def _wait(server: NameServer, port: int, process: subprocess.Popen[bytes], log: Path, owner: str) -> None:
    name = f"{owner}.{ORIGIN}" if owner else ORIGIN
    query = b"\x12\x34\0\0\0\1\0\0\0\0\0\0" + to_wire(name) + (b"\0\1\0\1" if owner else b"\0\6\0\1")
    until = time.monotonic() + START_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.1)
        while time.monotonic() < until and process.poll() is None:
            try:
                sock.sendto(query, ("127.0.0.1", port))
                if sock.recv(4096)[3] & 0xF == 0:
                    return
            except OSError:
                pass
            time.sleep(_LOOK_AGAIN_S)
    raise RuntimeError(f"{server.name} does not answer: {log.read_text(errors='replace')[-1000:]}")
