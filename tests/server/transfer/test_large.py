"""A zone of 100,000 records goes out and comes in while queries are answered, each time one version of it."""

from __future__ import annotations

import asyncio
import gc
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dns.asyncquery
import dns.message
import dns.rcode
import pytest

from server import rdtype
from server.app import NameServer
from server.config import ServerConfig
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.message_reader import read_message
from server.transfer.record import Record
from server.transfer.target import Target
from server.zone.compile import Zone, compile_zone
from server.zone.judge import judge_zone
from tests.server.process import free_port
from tests.server.running import ANY_PORT, running
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME, Role, running_daemon
from tests.server.transfer.serving import ZONE, query
from tests.server.transfer.zone import reaches
from zonemodel.hosted_zone import Transfer
from zonemodel.name import to_wire
from zonemodel.rrset import RRset, ZoneData

COUNT = 100_000
SOON_S = 1.0
SOON_SHARE = 0.5
"""For a query while a zone is transferred: so long, or that share of the transfer on a machine that has other things to do."""


def version(serial: int) -> Zone:
    """One address for each of many hosts; its upper bits tell the serial."""
    apex = to_wire(ZONE)
    soa = to_wire("ns." + ZONE) + to_wire("host." + ZONE) + struct.pack("!5I", serial, 3600, 1, 86400, 60)
    sets = [RRset(apex, rdtype.SOA, 3600, (soa,)), RRset(apex, rdtype.NS, 3600, (to_wire("ns." + ZONE),))]
    sets += (
        RRset(to_wire(f"h{number}.{ZONE}"), rdtype.A, 300, ((serial << 20 | number).to_bytes(4, "big"),))
        for number in range(COUNT)
    )
    return compile_zone(judge_zone(ZoneData(apex, tuple(sets))))


@pytest.fixture(scope="module")
def versions() -> Iterator[tuple[Zone, Zone]]:
    found = version(1), version(2)
    gc.collect()
    gc.freeze()  # as the process of a server does: collecting would look at every record again and again
    yield found
    gc.unfreeze()


@asynccontextmanager
async def serving(zone: Zone, folder: Path, *notified: int) -> AsyncIterator[NameServer]:
    """Our server with the zone, which anybody here may transfer."""
    transfer = Transfer(allow=(HOST, f"key:{KEY_NAME}"), notify=tuple(f"{HOST}:{port}" for port in notified))
    keys = folder / "keys"
    keys.write_text(KEY_LINE)
    config = ServerConfig((ANY_PORT,), transfer=TransferConfig(key_files=(keys,), every_zone=transfer))
    async with running(config) as server:
        server.catalog.replace(zone)
        yield server


async def received(port: int, midway: Callable[[], object] = lambda: None) -> list[Record]:
    """The records of a zone up to the last SOA record; `midway` is called when some have come."""
    reader, writer = await asyncio.open_connection(HOST, port, limit=4096)
    octets = query("AXFR").to_wire()
    writer.write(len(octets).to_bytes(2, "big") + octets)
    records: list[Record] = []
    try:
        while len(records) < 2 or records[-1] != records[0]:
            message = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
            first = not records
            records += (await asyncio.to_thread(read_message, message)).answer
            if first:
                midway()
    finally:
        writer.close()
        await writer.wait_closed()
    return records


async def asked_meanwhile(server: NameServer, work: asyncio.Task[Any]) -> list[float]:
    """How long each query took until the work was done."""
    durations_s = []
    message = dns.message.make_query("h5.edit.test", "A", flags=0)
    while not work.done():
        began_s = time.perf_counter()
        await dns.asyncquery.udp(message, HOST, 30, server.ports[0])
        durations_s.append(time.perf_counter() - began_s)
    return durations_s


async def address_of(server: NameServer) -> str:
    message = dns.message.make_query(f"h77.{ZONE}", "A", flags=0)
    reply = await dns.asyncquery.udp(message, HOST, 30, server.ports[0])
    return str(reply.answer[0][0]) if reply.answer else dns.rcode.to_text(reply.rcode())


async def test_it_goes_out_as_it_was_when_it_began(versions: tuple[Zone, Zone], tmp_path: Path) -> None:
    async with serving(versions[0], tmp_path) as server:
        work = asyncio.create_task(received(server.ports[0], lambda: server.catalog.replace(versions[1])))
        durations_s = await asked_meanwhile(server, work)
        addresses = [record.rdata for record in work.result() if record.rdtype == rdtype.A]
        assert len(set(addresses)) == COUNT
        assert {int.from_bytes(each, "big") >> 20 for each in addresses} == {1}
        assert await address_of(server) == "0.32.0.77"
        assert len(durations_s) > 50
        assert max(durations_s) < max(SOON_S, SOON_SHARE * sum(durations_s))


async def test_it_comes_in_and_nothing_is_served_of_it_before_it_is_whole(
    versions: tuple[Zone, Zone], tmp_path: Path
) -> None:
    async with serving(versions[0], tmp_path) as first:
        pulled = SecondaryZone(to_wire(ZONE), (Target(first.addresses[0]),))
        config = ServerConfig((ANY_PORT,), transfer=TransferConfig(secondaries=(pulled,)))
        async with running(config) as server:
            seen: set[str] = set()

            async def until_there() -> None:
                while (found := await address_of(server)) != "0.16.0.77":
                    seen.add(found)

            durations_s = await asked_meanwhile(server, asyncio.create_task(until_there()))
            assert seen == {"SERVFAIL"}
            assert max(durations_s) < max(SOON_S, SOON_SHARE * sum(durations_s))
            assert server.catalog.zones[to_wire(ZONE)].index.sets == versions[0].index.sets


async def test_it_is_whole_in_another_server(versions: tuple[Zone, Zone], tmp_path: Path) -> None:
    port = free_port()
    async with (
        serving(versions[0], tmp_path, port) as server,
        running_daemon("nsd", tmp_path / "nsd", Role(ZONE, primary=server.ports[0]), port=port) as daemon,
    ):
        await reaches(daemon.port, ZONE, 1)
        server.catalog.replace(versions[1])
        await reaches(daemon.port, ZONE, 2)
        theirs, ours = await received(daemon.port), await received(server.ports[0])
        assert sorted(theirs) == sorted(ours)
        assert len(ours) == COUNT + 3
