"""What the provider touches: it sends queries and nothing else to name servers, and never asks the API about a Secret."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import dns.flags
import dns.message
import dns.opcode
import dns.rdatatype
import pytest

from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.probe.address import Address
from controllers.providers.external.registration import EXTERNAL
from kube.access import Access
from tests.cluster.control_plane import programs
from tests.controllers.probe.peer import running_peer, zone_text
from tests.controllers.providers.external.world import DOMAIN, World

REQUEST_LINE = re.compile(rb"(?:^|\r\n\r\n|\})(GET|POST|PUT|PATCH|DELETE|HEAD) (\S+) HTTP/1\.1\r\n")
BODY = "ns1 IN A 127.0.0.1\nns2 IN A 127.0.0.1\nwww IN A 192.0.2.1\n"
# What the manager may do, as RBAC would grant it: core's own writes, and the provider's on ledgers and classes.
WRITES = {
    "zones",
    "zones/status",
    "recordsets",
    "recordsets/status",
    "zoneunits",
    "zoneunits/status",
    "zoneclasses/status",
    "recordwithdrawals/status",
    "recordwithdrawalwaivers/status",
    "leases",
    "events",
}


class RecordingWorld(World):
    """A World whose manager reaches the API through a wire that notes every request."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.requests: set[tuple[str, str]] = set()

    async def manager_access(self) -> Access:
        at = urlsplit(self.api.url)
        server = await asyncio.start_server(
            lambda r, w: self._carry(r, w, str(at.hostname), int(at.port or 80)), "127.0.0.1", 0
        )
        self._stack.push_async_callback(_close, server)
        host, port = server.sockets[0].getsockname()[:2]
        return Access(f"http://{host}:{port}")

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        theirs, ours = await asyncio.open_connection(host, port)
        await asyncio.gather(self._pump(reader, ours, note=True), self._pump(theirs, writer, note=False))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, note: bool) -> None:
        try:
            while octets := await reader.read(65536):
                if note:
                    for method, path in REQUEST_LINE.findall(octets):
                        self.requests.add((method.decode(), path.decode().partition("?")[0]))
                writer.write(octets)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def _close(server: asyncio.Server) -> None:
    server.close()


class _Wire(asyncio.DatagramProtocol):
    """Passes questions on to a name server and answers back, and notes both who asked and what."""

    def __init__(self, target: Address) -> None:
        self._target = target
        self.seen: list[tuple[int, dns.message.Message]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # asyncio's own is no subclass of it
        self._askers: dict[int, tuple[str, int]] = {}

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        message = dns.message.from_wire(data)
        if addr == (self._target.host, self._target.port):
            self._transport.sendto(data, self._askers[message.id])
        else:
            self.seen.append((addr[1], message))
            self._askers[message.id] = addr
            self._transport.sendto(data, (self._target.host, self._target.port))


@asynccontextmanager
async def wire_to(target: Address) -> AsyncIterator[tuple[Address, _Wire]]:
    loop = asyncio.get_running_loop()
    transport, wire = await loop.create_datagram_endpoint(lambda: _Wire(target), local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")[:2]
    try:
        yield Address(host, port), wire
    finally:
        transport.close()


@pytest.mark.skipif(programs() is not None, reason="a real API speaks TLS, which no wire can be tapped for")
async def test_only_queries_go_to_servers_and_no_secret_is_read(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, BODY)}) as peer,
        wire_to(peer.address) as (address, wire),
        RecordingWorld(tmp_path) as world,
    ):
        await world.zone(address)
        await world.record("www", "www", "A", {"addresses": ["192.0.2.1"]})
        await world.record("missing", "missing", "TXT", {"values": ["x"]})
        await world.withdrawal("old", "old", "192.0.2.9")
        await world.until_says(RECORD_SETS, "www", "True", "Programmed")
        await world.until_says(RECORD_SETS, "missing", "False", "ExternalResourceNotFound")
        await world.until_message(RECORD_WITHDRAWALS, "old", "Withdrawn", "None of 1 servers gives the address")
        await world.delete(RECORD_SETS, "missing")
        await world.until_gone(RECORD_SETS, "missing")
        await world.look_again()
        await world.until_says(ZONES, "shop", "True", "Programmed")
        await peer.edit(DOMAIN, zone_text(DOMAIN, BODY, 2), 2)

    asked = {
        (str(each.name), dns.rdatatype.to_text(each.rdtype)) for _, message in wire.seen for each in message.question
    }
    assert {(f"www.{DOMAIN}.", "A"), (f"missing.{DOMAIN}.", "TXT"), (f"old.{DOMAIN}.", "A")} <= asked
    for _, message in wire.seen:
        assert message.opcode() == dns.opcode.QUERY
        assert not message.flags & dns.flags.RD
        assert (message.edns, message.payload) == (0, 1232)
        assert not message.answer
        assert not message.authority
    assert len({message.id for _, message in wire.seen}) > len(wire.seen) * 0.9
    assert len({port for port, _ in wire.seen}) > len(wire.seen) * 0.5

    assert ("GET", "/apis/dns.appthrust.io/v1alpha1/zoneunits") in world.requests
    assert not [path for _, path in world.requests if "secrets" in path]
    written = {_resource(path) for method, path in world.requests if method != "GET"}
    assert written <= WRITES, written - WRITES


def test_the_provider_is_off_unless_it_is_switched_on_and_brings_no_identity() -> None:
    assert EXTERNAL.enabled is False
    assert EXTERNAL.name == "external"
    assert EXTERNAL.kinds == ()
    assert EXTERNAL.libraries == ()
    (version,) = EXTERNAL.provider_manifest()["spec"]["versions"]
    assert "identity" not in version
    assert "recordWithdrawal" in version


def _resource(path: str) -> str:
    """The resource of an API path, with its subresource."""
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    parts = parts[2:] if parts[0] == "namespaces" and len(parts) > 2 else parts
    return "/".join([parts[0], *parts[2:3]])
