"""NSD, Knot and BIND as somebody else's name servers: each on an address of the loopback network, ended by its own process handle."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message

from controllers.probe.address import Address

START_S = 60.0
END_S = 30.0
HEAD = """$ORIGIN {zone}.
$TTL 300
@ IN SOA ns1.{zone}. hostmaster.{zone}. {serial} 3600 600 86400 60
"""


def zone_text(zone: str, body: str, serial: int = 1, names: tuple[str, ...] = ("ns1", "ns2")) -> str:
    """A zone file: its SOA, its name servers and `body`."""
    servers = "".join(f"@ IN NS {name}.{zone}.\n" for name in names)
    return HEAD.format(zone=zone, serial=serial) + servers + body


def _nsd(peer: Peer) -> tuple[list[str], str]:
    zones = "".join(f'zone:\n    name: "{zone}"\n    zonefile: "{peer.file(zone)}"\n' for zone in peer.zones)
    text = f"""server:
    ip-address: {peer.host}@{peer.port}
    username: ""
    chroot: ""
    server-count: 1
    zonesdir: "{peer.folder}"
    database: ""
    zonelistfile: "{peer.folder}/zone.list"
    xfrdfile: "{peer.folder}/xfrd.state"
    xfrdir: "{peer.folder}"
    pidfile: "{peer.folder}/nsd.pid"
    zonefiles-check: yes
    xfrd-reload-timeout: 0
remote-control:
    control-enable: no
{zones}"""
    return ["/usr/sbin/nsd", "-d", "-c", str(peer.config_file)], text


def _knot(peer: Peer) -> tuple[list[str], str]:
    zones = "".join(
        f'  - domain: {zone or "."}\n    file: "{peer.file(zone)}"\n    zonefile-sync: -1\n' for zone in peer.zones
    )
    text = f"""server:
    rundir: "{peer.folder}"
    listen: {peer.host}@{peer.port}
    pidfile: "{peer.folder}/knot.pid"
database:
    storage: "{peer.folder}"
zone:
{zones}"""
    return ["/usr/sbin/knotd", "-c", str(peer.config_file)], text


def _bind(peer: Peer) -> tuple[list[str], str]:
    zones = "".join(f'zone "{zone or "."}" {{ type primary; file "{peer.file(zone)}"; }};\n' for zone in peer.zones)
    text = f"""options {{
    directory "{peer.folder}";
    listen-on port {peer.port} {{ {peer.host}; }};
    listen-on-v6 {{ none; }};
    pid-file "{peer.folder}/named.pid";
    session-keyfile "{peer.folder}/session.key";
    managed-keys-directory "{peer.folder}";
    recursion no;
    dnssec-validation no;
    empty-zones-enable no;
    notify no;
    minimal-responses no;
    check-names primary ignore;
}};
controls {{ }};
{zones}"""
    return ["/usr/sbin/named", "-g", "-n", "1", "-c", str(peer.config_file)], text


KINDS: Mapping[str, Callable[[Peer], tuple[list[str], str]]] = {"nsd": _nsd, "knot": _knot, "bind": _bind}


@dataclass
class Peer:
    """One name server with some zones."""

    kind: str
    folder: Path
    host: str
    port: int
    zones: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)

    @property
    def config_file(self) -> Path:
        return self.folder / "peer.conf"

    def file(self, zone: str) -> Path:
        return self.folder / f"{zone or 'root'}.zone"

    async def start(self) -> None:
        """Run it; BIND listens on addresses of interfaces only, of the loopback network that is 127.0.0.1."""
        self._spawn()
        await self._answers(next(iter(self.zones)), None)

    def _spawn(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for zone, text in self.zones.items():
            self.file(zone).write_text(text)
        command, text = KINDS[self.kind](self)
        self.config_file.write_text(text)
        with (self.folder / "peer.log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    async def edit(self, zone: str, text: str, serial: int) -> None:
        """Give it another zone file and return when it serves that serial."""
        assert self.process is not None
        self.zones[zone] = text
        self.file(zone).write_text(text)
        # A file of the same second is not read again by some servers.
        later = time.time() + serial
        os.utime(self.file(zone), (later, later))
        self.process.send_signal(signal.SIGHUP)
        await self._answers(zone, serial)

    async def end(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            await asyncio.to_thread(self.process.wait, END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            await asyncio.to_thread(self.process.wait, END_S)

    async def _answers(self, zone: str, serial: int | None) -> None:
        async with asyncio.timeout(START_S):
            while not await self._serves(zone, serial):
                await asyncio.to_thread(time.sleep, 0.02)

    async def _serves(self, zone: str, serial: int | None) -> bool:
        query = dns.message.make_query(f"{zone}.", "SOA", flags=0)
        try:
            reply = await dns.asyncquery.udp(query, self.host, 0.5, self.port)
        except (dns.exception.DNSException, OSError):
            return False
        return bool(reply.answer) and (serial is None or reply.answer[0][0].serial == serial)


@asynccontextmanager
async def running_peer(
    kind: str, folder: Path, zones: dict[str, str], host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Peer]:
    """Run one until the end of the block."""
    peer = Peer(kind, folder, host, port or free_port(host), dict(zones))
    try:
        await peer.start()
        yield peer
    finally:
        await peer.end()


def free_port(*hosts: str) -> int:
    """A port that is free on all of these addresses, for UDP and TCP."""
    host = hosts[0] if hosts else "127.0.0.1"
    while True:
        with socket.socket(_family(host), socket.SOCK_STREAM) as first:
            first.bind((host, 0))
            port = int(first.getsockname()[1])
        if all(_is_free(host, port) for host in hosts or ("127.0.0.1",)):
            return port


def _is_free(host: str, port: int) -> bool:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(_family(host), kind) as each:
            try:
                each.bind((host, port))
            except OSError:
                return False
    return True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


@contextmanager
def silent_server(host: str = "127.0.0.1", port: int = 0) -> Iterator[Address]:
    """A socket that takes questions and never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((host, port))
        yield Address(host, int(taken.getsockname()[1]))
