"""We pull zones from NSD, Knot and BIND, by AXFR and IXFR, signed, told by their notices, and pass them on."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.config import Address, ServerConfig
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.key import key_name
from server.transfer.target import Target
from tests.server.process import free_port
from tests.server.running import running
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME, KINDS, Role, running_daemon
from tests.server.transfer.zone import EditedZone, fetch, reaches
from zonemodel.hosted_zone import Transfer
from zonemodel.name import to_wire

ZONE = "edit.test"


def secondary_config(folder: Path, port: int, primary: int, *notified: int) -> ServerConfig:
    """Our server as a secondary that passes the zone on."""
    keys = folder / "keys"
    keys.write_text(KEY_LINE)
    target = Target(Address(HOST, primary), key_name(KEY_NAME))
    transfer = TransferConfig(
        key_files=(keys,),
        every_zone=Transfer(allow=(HOST,), notify=tuple(f"{HOST}:{each}" for each in notified)),
        secondaries=(SecondaryZone(to_wire(ZONE), (target,)),),
    )
    return ServerConfig((Address(HOST, port),), cache_dir=folder / f"cache{port}", transfer=transfer)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_primary_is_followed_by_ixfr_and_passed_on(kind: str, tmp_path: Path) -> None:
    zone = EditedZone().fill(500)
    port, next_port = free_port(), free_port()
    role = Role(ZONE, secondary=port)
    async with (
        running_daemon(kind, tmp_path / kind, role, zone.text()) as daemon,
        running(secondary_config(tmp_path, port, daemon.port, next_port)) as server,
        running(secondary_config(tmp_path, next_port, port)) as next_server,
    ):
        await reaches(port, ZONE, zone.serial)
        for _ in range(5):
            zone.edit()
            zone.write(daemon.zone_file)
            daemon.reload()
            await reaches(port, ZONE, zone.serial)
            await reaches(next_port, ZONE, zone.serial)
        theirs = await fetch(daemon.port, ZONE, signed=False)
        assert len(theirs) > 100
        assert await fetch(port, ZONE) == theirs
        assert await fetch(next_port, ZONE) == theirs
        received = server.transfers.counters.received
        assert received["AXFR"] == 1, daemon.log_file.read_text()
        assert received["IXFR"] == 5, daemon.log_file.read_text()
        assert next_server.transfers.counters.received == {"AXFR": 1, "IXFR": 5}
