"""A primary that sends whatever a test wants, right or wrong, over TCP."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Sequence
from types import TracebackType

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rdatatype
import dns.rrset
import dns.tsig

from tests.server.transfer.daemon import HOST

ZONE = "edit.test"

Script = Callable[[dns.message.Message], Sequence[bytes]]
"""From a request to the messages of its reply."""


def soa(serial: int, *, refresh: int = 3600, retry: int = 1, expire: int = 86400) -> str:
    return f"edit.test. 300 IN SOA ns.edit.test. host.edit.test. {serial} {refresh} {retry} {expire} 60"


def zone_records(serial: int, *hosts: str, **timers: int) -> list[str]:
    """A whole zone as its records stand in a transfer, but for the last SOA."""
    return [
        soa(serial, **timers),
        "edit.test. 300 IN NS ns.edit.test.",
        *(f"{host}.edit.test. 300 IN A 192.0.2.{number}" for number, host in enumerate(hosts, 1)),
    ]


def reply(request: dns.message.Message, *records: str) -> bytes:
    """One message with these records in its answer, in this order."""
    message = dns.message.make_response(request)
    message.flags |= dns.flags.AA
    for text in records:
        owner, ttl, klass, kind, data = text.split(" ", 4)
        message.answer.append(dns.rrset.from_text(owner, int(ttl), klass, kind, data))
    return message.to_wire(want_shuffle=False)


class FakePrimary:
    """`serial` is what SOA queries are told; `axfr` and `ixfr` are the scripts of transfers. `asked` are the types of all requests."""

    def __init__(self, keyring: dict[dns.name.Name, dns.tsig.Key] | None = None) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.serve(1, "www")
        self._keyring = keyring
        self._server: asyncio.Server | None = None

    def serve(self, serial: int, *hosts: str, **timers: int) -> None:
        """Give this zone to everybody, whole."""
        records = zone_records(serial, *hosts, **timers)
        self.serial = serial
        self.axfr: Script = lambda request: [reply(request, *records, records[0])]
        self.ixfr: Script = self.axfr
        self.soa: Script = lambda request: [reply(request, soa(self.serial))]

    async def __aenter__(self) -> FakePrimary:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            (size,) = struct.unpack("!H", await reader.readexactly(2))
            request = dns.message.from_wire(await reader.readexactly(size), keyring=self._keyring or False)
            kind = dns.rdatatype.to_text(request.question[0].rdtype)
            self.asked.append(kind)
            for octets in {"AXFR": self.axfr, "IXFR": self.ixfr}.get(kind, self.soa)(request):
                writer.write(struct.pack("!H", len(octets)) + octets)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
