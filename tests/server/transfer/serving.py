"""Our server as the primary of a zone that a test edits, and messages exchanged with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dns.asyncquery
import dns.message
import dns.name
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from server.app import NameServer
from server.config import Address, ServerConfig, ZoneFile
from server.transfer.config import TransferConfig
from tests.server.running import running
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME
from tests.server.transfer.zone import EditedZone, keyring

ZONE = "edit.test"
TIMEOUT_S = 30.0


@asynccontextmanager
async def primary(
    zone: EditedZone, folder: Path, port: int = 0, **transfer: Any
) -> AsyncIterator[tuple[NameServer, Path]]:
    """Our server with the zone as a master file; `transfer` are fields of its TransferConfig."""
    keys, file = folder / "keys", folder / "edit.zone"
    keys.write_text(KEY_LINE)
    zone.write(file)
    config = ServerConfig(
        (Address(HOST, port),),
        zone_files=(ZoneFile(file),),
        cache_dir=folder / "cache",
        transfer=TransferConfig(key_files=(keys,), **transfer),
    )
    async with running(config) as server:
        yield server, file


async def edit(server: NameServer, zone: EditedZone, file: Path, changes: int = 5) -> None:
    """Change the zone and have the server read it."""
    zone.edit(changes)
    zone.write(file)
    await server.reload()


def query(kind: str, name: str = ZONE, *, serial: int | None = None, signed: bool = False) -> dns.message.Message:
    """A request for a transfer; `serial` is the version that IXFR starts from."""
    message = dns.message.make_query(name, kind, flags=0, use_edns=False)
    if serial is not None:
        soa = dns.rrset.from_text(name + ".", 0, "IN", "SOA", f". . {serial} 0 0 0 0")
        message.authority.append(soa)
    if signed:
        message.use_tsig(keyring(), dns.name.from_text(KEY_NAME))
    return message


async def over_udp(server: NameServer, message: dns.message.Message) -> dns.message.Message:
    return await dns.asyncquery.udp(message, HOST, TIMEOUT_S, server.ports[0])


async def over_tcp(server: NameServer, message: dns.message.Message) -> dns.message.Message:
    """The first message of the reply."""
    return await dns.asyncquery.tcp(message, HOST, TIMEOUT_S, server.ports[0])


async def stream(
    server: NameServer, message: dns.message.Message, count: int | None = None
) -> list[dns.message.Message]:
    """Messages of a reply over TCP: so many, or up to the last SOA record of a transfer, each record on its own."""
    reader, writer = await asyncio.open_connection(HOST, server.ports[0])
    try:
        octets = message.to_wire()
        writer.write(len(octets).to_bytes(2, "big") + octets)
        found: list[dns.message.Message] = []
        async with asyncio.timeout(TIMEOUT_S):
            while len(found) != count:
                size = int.from_bytes(await reader.readexactly(2), "big")
                found.append(dns.message.from_wire(await reader.readexactly(size), one_rr_per_rrset=True))
                if count is None and _is_complete([rrset for each in found for rrset in each.answer]):
                    break
        return found
    finally:
        writer.close()
        await writer.wait_closed()


def _is_complete(records: list[dns.rrset.RRset]) -> bool:
    if not records:
        return True
    same = [each for each in records if each.rdtype == dns.rdatatype.SOA and each[0] == records[0][0]]
    is_ixfr = len(records) > 1 and records[1].rdtype == dns.rdatatype.SOA
    return records[-1].rdtype == dns.rdatatype.SOA and len(same) == (3 if is_ixfr else 2)


def serials(messages: list[dns.message.Message]) -> list[int]:
    """The serials of the SOA records of a reply, in order."""
    return [rrset[0].serial for each in messages for rrset in each.answer if rrset.rdtype == dns.rdatatype.SOA]
