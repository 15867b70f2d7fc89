"""NSD, Knot and BIND pull zones from us, by AXFR and IXFR, signed, while the zone changes, and end with the same records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import dns.rdatatype
import dns.zone
import pytest

from server.app import NameServer
from server.config import Address, ServerConfig, ZoneFile
from server.transfer.config import TransferConfig
from server.transfer.serial import serial_of
from tests.server.conftest import ZONES
from tests.server.process import free_port
from tests.server.running import running, until
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME, KINDS, Daemon, Role, running_daemon
from tests.server.transfer.serving import ZONE, edit, primary
from tests.server.transfer.zone import EditedZone, fetch, reaches
from zonemodel.hosted_zone import Transfer


@asynccontextmanager
async def pair(kind: str, zone: EditedZone, folder: Path) -> AsyncIterator[tuple[NameServer, Path, Daemon]]:
    """Our server and a secondary of it."""
    notified = free_port()
    allow = Transfer(allow=(f"key:{KEY_NAME}",), notify=(f"{HOST}:{notified}",))
    async with primary(zone, folder, every_zone=allow) as (server, file):
        role = Role(ZONE, primary=server.ports[0])
        async with running_daemon(kind, folder / kind, role, port=notified) as daemon:
            await reaches(daemon.port, ZONE, zone.serial)
            yield server, file, daemon


async def ends_equal(server: NameServer, daemon: Daemon, zone: EditedZone) -> None:
    try:
        await reaches(daemon.port, ZONE, zone.serial)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{daemon.log_file.read_text()[-4000:]}") from None
    ours, theirs = await fetch(server.ports[0], ZONE), await fetch(daemon.port, ZONE, signed=False)
    assert len(ours) > 100
    assert ours == theirs


@pytest.mark.parametrize("kind", KINDS)
async def test_a_secondary_follows_edits_by_ixfr(kind: str, tmp_path: Path) -> None:
    zone = EditedZone().fill(500)
    async with pair(kind, zone, tmp_path) as (server, file, daemon):
        sent = server.transfers.counters.sent
        assert sent["AXFR"] >= 1
        for _ in range(10):
            await edit(server, zone, file)
            await reaches(daemon.port, ZONE, zone.serial)
        await ends_equal(server, daemon, zone)
        assert sent["IXFR"] >= 10
        assert sent["AXFR"] <= 3  # the first, and the two that compare


@pytest.mark.parametrize("kind", KINDS)
async def test_a_secondary_that_missed_edits_catches_up_in_one_step(kind: str, tmp_path: Path) -> None:
    zone = EditedZone().fill(500)
    async with pair(kind, zone, tmp_path) as (server, file, daemon):
        for _ in range(20):
            await edit(server, zone, file)
        await ends_equal(server, daemon, zone)


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_secondary_follows_a_minute_of_edits(kind: str, tmp_path: Path) -> None:
    zone = EditedZone().fill(2000)
    loop = asyncio.get_running_loop()
    async with pair(kind, zone, tmp_path) as (server, file, daemon):
        end_s = loop.time() + 60
        while loop.time() < end_s:
            await edit(server, zone, file, zone.random.randrange(1, 40))
            await asyncio.sleep(zone.random.uniform(0, 0.3))
        await ends_equal(server, daemon, zone)
        await until(lambda: server.transfers.counters.sent["IXFR"] > 10, "transfers of differences")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_signed_zone_arrives_as_it_was_signed(kind: str, tmp_path: Path) -> None:
    name, notified = "nsec3.signed.test", free_port()
    file = ZONES / f"{name}.zone"
    (tmp_path / "keys").write_text(KEY_LINE)
    allow = Transfer(allow=(f"key:{KEY_NAME}",), notify=(f"{HOST}:{notified}",))
    transfer = TransferConfig(key_files=(tmp_path / "keys",), every_zone=allow)
    config = ServerConfig((Address(HOST, 0),), zone_files=(ZoneFile(file),), transfer=transfer)
    async with running(config) as server:
        (index,) = (zone.index for zone in server.catalog.zones.values())
        role = Role(name, primary=server.ports[0])
        async with running_daemon(kind, tmp_path / kind, role, port=notified) as daemon:
            await reaches(daemon.port, name, serial_of(index))
            ours, theirs = await fetch(server.ports[0], name), await fetch(daemon.port, name, signed=False)
    assert ours == theirs
    written = dns.zone.from_file(str(file), name, relativize=False).iterate_rdatas()
    assert ours == sorted(
        (owner.to_digestable().hex(), ttl_s, dns.rdatatype.to_text(rdata.rdtype), rdata.to_digestable().hex())
        for owner, ttl_s, rdata in written
    )
