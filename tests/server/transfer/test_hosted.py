"""Zones of HostedZone objects: who may transfer them stands in the object, and each snapshot is a step of their history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import dns.rcode
import pytest

from server.transfer.config import TransferConfig
from tests.kube.fake_api import Json
from tests.server.hosted_api import NAME_SERVERS, SOA_VALUES, HostedApi, a, manifest
from tests.server.process import free_port
from tests.server.running import becomes, following, until
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME, Role, running_daemon
from tests.server.transfer.serving import over_tcp, query, serials, stream
from tests.server.transfer.zone import fetch, reaches
from zonemodel.hosted_zone import HostedRecordSet, Transfer
from zonemodel.name import Fqdn
from zonemodel.snapshot import record_sets_digest, snapshot_digest

ZONE = "shop.example"
ANYBODY = Transfer(allow=("127.0.0.0/8",))


@pytest.fixture
async def api() -> AsyncIterator[HostedApi]:
    async with HostedApi() as server:
        yield server


def transferable(serial: int, *record_sets: HostedRecordSet, transfer: Transfer = ANYBODY) -> Json:
    """A manifest that says who may transfer the zone."""
    pages = [record_sets_digest(record_sets)] if record_sets else []
    digest = snapshot_digest(Fqdn(ZONE), SOA_VALUES, NAME_SERVERS, transfer, pages)
    made = manifest("shop", *record_sets, serial=serial, digest=digest)
    made["spec"]["transfer"] = transfer.dump()
    return made


def hosts(count: int, last: int = 1) -> list[HostedRecordSet]:
    return [a(f"h{number}", f"192.0.2.{last}") for number in range(count)]


async def test_an_object_says_who_may_transfer(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        assert (await over_tcp(server, query("AXFR", ZONE))).rcode() == dns.rcode.REFUSED
        api.write(transferable(2, a("www", "192.0.2.2")))
        await becomes(server, "www.shop.example", ["192.0.2.2"])
        assert serials(await stream(server, query("AXFR", ZONE))) == [2, 2]
        api.write(transferable(3, a("www", "192.0.2.3"), transfer=Transfer(allow=("nonsense", "192.0.2.0/24"))))
        await becomes(server, "www.shop.example", ["192.0.2.3"])
        assert (await over_tcp(server, query("AXFR", ZONE))).rcode() == dns.rcode.REFUSED


async def test_snapshots_are_steps_of_the_history_across_restarts(api: HostedApi, tmp_path: Path) -> None:
    api.write(transferable(1, *hosts(20)))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "h1.shop.example", ["192.0.2.1"])
        await stream(server, query("IXFR", ZONE, serial=0))
        api.write(transferable(2, *hosts(20), a("new", "192.0.2.7")))
        await becomes(server, "new.shop.example", ["192.0.2.7"])
        assert serials(await stream(server, query("IXFR", ZONE, serial=1))) == [2, 1, 2, 2]
        await until(lambda: list((tmp_path / "transfer").glob("*.journal")), "a journal")
        await until(lambda: list(tmp_path.glob("*.zone")), "a snapshot in the cache")
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "new.shop.example", ["192.0.2.7"])
        assert serials(await stream(server, query("IXFR", ZONE, serial=1))) == [2, 1, 2, 2]
        api.write(transferable(3, *hosts(20)))
        await becomes(server, "new.shop.example", "NXDOMAIN")
        assert serials(await stream(server, query("IXFR", ZONE, serial=2))) == [3, 2, 3, 3]
        (joined,) = await stream(server, query("IXFR", ZONE, serial=1))
        assert len(joined.answer) == 4  # what came and went in between is not told


async def test_a_zone_that_was_deleted_has_no_history_left(api: HostedApi, tmp_path: Path) -> None:
    api.write(transferable(1, *hosts(20)))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "h1.shop.example", ["192.0.2.1"])
        api.write(transferable(2, *hosts(19)))
        await until(lambda: list((tmp_path / "transfer").glob("*.journal")), "a journal")
        api.delete("shop")
        await becomes(server, "h1.shop.example", "REFUSED")
        await until(lambda: not list((tmp_path / "transfer").glob("*.journal")), "no journal")


async def test_a_secondary_follows_snapshots(api: HostedApi, tmp_path: Path) -> None:
    notified = free_port()
    transfer = Transfer(allow=(f"key:{KEY_NAME}", HOST), notify=(f"{HOST}:{notified}",))
    api.write(transferable(1, *hosts(200), transfer=transfer))
    keys = tmp_path / "keys"
    keys.write_text(KEY_LINE)
    async with following(api, transfer=TransferConfig(key_files=(keys,))) as server:
        await becomes(server, "h1.shop.example", ["192.0.2.1"])
        role = Role(ZONE, primary=server.ports[0])
        async with running_daemon("nsd", tmp_path / "nsd", role, port=notified) as daemon:
            await reaches(daemon.port, ZONE, 1)
            for serial in range(2, 8):
                api.write(transferable(serial, *hosts(200 - serial), a("new", f"192.0.2.{serial}"), transfer=transfer))
                await reaches(daemon.port, ZONE, serial)
            ours = await fetch(server.ports[0], ZONE, signed=False)
            assert len(ours) == 196
            assert ours == await fetch(daemon.port, ZONE, signed=False)
        assert server.transfers.counters.sent["IXFR"] == 6
