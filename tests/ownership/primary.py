"""BIND and Knot as primaries that take updates signed with a key, on free ports of the loopback, and a link that loses answers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message
import dns.name
import dns.opcode
import dns.rdatatype
import dns.tsig

from ownership.backends.rfc2136 import Rfc2136Backend
from tests.server.process import free_port
from tests.server.transfer.daemon import ALGORITHM, HOST, KEY_NAME, SECRET, Daemon, Role
from zonemodel.name import Fqdn

ZONE = Fqdn("example.com")
KEY = dns.tsig.Key(KEY_NAME, SECRET, ALGORITHM)
START_S = 60.0
ZONE_TEXT = f"""$ORIGIN {ZONE}.
$TTL 300
@ IN SOA ns hostmaster 1 3600 600 86400 60
@ IN NS ns
ns IN A 192.0.2.53
www IN A 192.0.2.1
*.wild IN TXT "anything"
"""


class Bind(Daemon):
    def configuration(self) -> str:
        return f"""options {{
    directory "{self.folder}";
    listen-on port {self.port} {{ {HOST}; }};
    listen-on-v6 {{ none; }};
    pid-file "{self.folder}/named.pid";
    session-keyfile "{self.folder}/session.key";
    managed-keys-directory "{self.folder}";
    recursion no;
    dnssec-validation no;
    empty-zones-enable no;
    allow-transfer {{ key "{KEY_NAME}"; }};
}};
controls {{ }};
key "{KEY_NAME}" {{ algorithm {ALGORITHM}; secret "{SECRET}"; }};
zone "{self.role.zone}" {{
    type primary;
    file "{self.zone_file}";
    notify no;
    allow-update {{ key "{KEY_NAME}"; }};
}};
"""

    def command(self) -> list[str]:
        return ["/usr/sbin/named", "-g", "-n", "1", "-c", str(self.config_file)]


class Knot(Daemon):
    def configuration(self) -> str:
        return f"""server:
    rundir: "{self.folder}"
    listen: {HOST}@{self.port}
    pidfile: "{self.folder}/knot.pid"
log:
  - target: stderr
    any: info
database:
    storage: "{self.folder}"
key:
  - id: {KEY_NAME}
    algorithm: {ALGORITHM}
    secret: {SECRET}
acl:
  - id: writer
    key: {KEY_NAME}
    action: [transfer, update]
zone:
  - domain: {self.role.zone}
    storage: "{self.folder}"
    file: "{self.zone_file}"
    zonefile-sync: -1
    acl: writer
"""

    def command(self) -> list[str]:
        return ["/usr/sbin/knotd", "-c", str(self.config_file)]


KINDS: dict[str, Callable[[Path, Role, int], Daemon]] = {"bind": Bind, "knot": Knot}


@dataclass(frozen=True, slots=True)
class Primary:
    """A primary server that runs."""

    port: int
    daemon: Daemon

    def backend(self, key: dns.tsig.Key | None = KEY, port: int | None = None) -> Rfc2136Backend:
        return Rfc2136Backend(ZONE, HOST, self.port if port is None else port, key)

    async def ask(self, name: str, kind: str = "TXT") -> list[bytes]:
        """The TXT values of a name by a plain query, without a signature."""
        reply = await dns.asyncquery.tcp(dns.message.make_query(name, kind), HOST, 5.0, self.port)
        return [b"".join(rdata.strings) for rrset in reply.answer for rdata in rrset]


@asynccontextmanager
async def running_primary(kind: str, folder: Path, zone_text: str = ZONE_TEXT) -> AsyncIterator[Primary]:
    daemon = KINDS[kind](folder, Role(ZONE), free_port())
    daemon.start(zone_text)
    try:
        await _until_served(daemon)
        yield Primary(daemon.port, daemon)
    finally:
        await asyncio.to_thread(daemon.end)


async def _until_served(daemon: Daemon) -> None:
    deadline = time.monotonic() + START_S
    query = dns.message.make_query(ZONE, "SOA")
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, EOFError, dns.exception.DNSException):
            if (await dns.asyncquery.tcp(query, HOST, 1.0, daemon.port)).answer:
                return
        await asyncio.sleep(0.02)
    raise AssertionError(f"no answer: {daemon.log_file.read_text()}")


class LossyLink:
    """Passes messages on to a server and loses what `loses` chooses: answers, or requests before they arrive."""

    def __init__(self, port: int, loses: Callable[[bytes], str | None]) -> None:
        self._port = port
        self._loses = loses
        self.lost = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _message(reader)
            fate = self._loses(request)
            if fate != "request":
                server_reader, server_writer = await asyncio.open_connection(HOST, self._port)
                server_writer.write(len(request).to_bytes(2, "big") + request)
                reply = await _message(server_reader)
                server_writer.close()
                if fate is None:
                    writer.write(len(reply).to_bytes(2, "big") + reply)
                    await writer.drain()
            self.lost += fate is not None
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def lossy(port: int, loses: Callable[[bytes], str | None]) -> AsyncIterator[tuple[LossyLink, int]]:
    link = LossyLink(port, loses)
    server = await asyncio.start_server(link.serve, HOST, 0)
    async with server:
        yield link, server.sockets[0].getsockname()[1]


def is_update(request: bytes) -> bool:
    return (request[2] >> 3) & 0xF == dns.opcode.UPDATE


async def _message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(2), "big")
    return await reader.readexactly(length)
