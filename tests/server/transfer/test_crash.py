"""Servers that are killed in the middle of edits and come back: secondaries go on from the version that they have."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import dns.query
import dns.rdatatype

from tests.server.process import END_S, ROOT, free_port
from tests.server.running import until
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME, Role, running_daemon
from tests.server.transfer.zone import EditedZone, Wire, fetch, reaches, serial

ZONE = "edit.test"


class DnsApiServer:
    """`dns-api server` as a process that can be killed and started again on the same port and folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(exist_ok=True)
        self.port = free_port()
        self.folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", "from cli.main import main; main()", "server"]
        command += ["--listen", f"{HOST}:{self.port}", "--cache-dir", str(self.folder / "cache"), *self._options]
        with (self.folder / "server.log").open("ab") as output:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)

    def reload(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(END_S)

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    def journal_bytes(self) -> int:
        return sum(file.stat().st_size for file in (self.folder / "cache" / "transfer").glob("*.journal"))


@asynccontextmanager
async def started(server: DnsApiServer) -> AsyncIterator[None]:
    server.start()
    try:
        yield
    finally:
        await asyncio.to_thread(server.kill)
    assert "Traceback" not in server.log, server.log


def primary_of(zone: EditedZone, folder: Path, *options: str) -> DnsApiServer:
    """A server of the zone's file that anybody here may transfer."""
    keys, file = folder / "keys", folder / "edit.zone"
    keys.write_text(KEY_LINE)
    zone.write(file)
    allow = ("--allow-transfer", HOST, "--allow-transfer", f"{ZONE}=key:{KEY_NAME}")
    return DnsApiServer(folder / "server", "--zonefile", str(file), "--tsig-keys", str(keys), *allow, *options)


async def edit(server: DnsApiServer, zone: EditedZone, folder: Path) -> None:
    zone.edit()
    zone.write(folder / "edit.zone")
    server.reload()
    await reaches(server.port, ZONE, zone.serial)


def soa_serials(port: int, since: int) -> list[int]:
    """The serials of the SOA records of an IXFR reply."""
    messages = dns.query.xfr(HOST, ZONE, "IXFR", port=port, serial=since, relativize=False, lifetime=10)
    records = [rrset for message in messages for rrset in message.answer]
    return [rdata.serial for rrset in records if rrset.rdtype == dns.rdatatype.SOA for rdata in rrset]


async def grows(server: DnsApiServer, before: int) -> None:
    await until(lambda: server.journal_bytes() > before, "an entry on disk")


async def test_the_history_survives_a_crash(tmp_path: Path) -> None:
    zone = EditedZone().fill(300)
    server = primary_of(zone, tmp_path)
    async with started(server):
        await reaches(server.port, ZONE, 1)
        for _ in range(4):
            before = server.journal_bytes()
            await edit(server, zone, tmp_path)
            await grows(server, before)
    async with started(server):
        await reaches(server.port, ZONE, 5)
        assert await asyncio.to_thread(soa_serials, server.port, 2) == [5, 2, 5, 5]
        await edit(server, zone, tmp_path)
        assert await asyncio.to_thread(soa_serials, server.port, 1) == [6, 1, 6, 6]


async def test_a_secondary_ends_equal_through_crashes(tmp_path: Path) -> None:
    zone, notified = EditedZone().fill(300), free_port()
    server = primary_of(zone, tmp_path, "--notify", f"{ZONE}={HOST}:{notified}#{KEY_NAME}")
    role = Role(ZONE, primary=server.port)
    async with running_daemon("bind", tmp_path / "bind", role, port=notified) as daemon:
        for _ in range(2):
            async with started(server):
                await reaches(server.port, ZONE, zone.serial)
                for _ in range(zone.random.randrange(1, 5)):
                    await edit(server, zone, tmp_path)
        async with started(server):
            await reaches(server.port, ZONE, zone.serial)
            await reaches(daemon.port, ZONE, zone.serial)
            ours = await fetch(server.port, ZONE)
            assert len(ours) > 100
            assert ours == await fetch(daemon.port, ZONE, signed=False)


async def test_a_secondary_that_is_killed_serves_a_whole_version(tmp_path: Path) -> None:
    zone = EditedZone().fill(300)
    primary = primary_of(zone, tmp_path)
    pulled = f"{ZONE}={HOST}:{primary.port}#{KEY_NAME}"
    options = ("--secondary", pulled, "--tsig-keys", str(tmp_path / "keys"), "--allow-transfer", HOST)
    server = DnsApiServer(tmp_path / "secondary", *options)
    versions: dict[int, list[Wire]] = {}
    async with started(primary):
        await reaches(primary.port, ZONE, 1)
        async with started(server):
            await reaches(server.port, ZONE, zone.serial)
            for _ in range(5):
                versions[zone.serial] = await fetch(primary.port, ZONE)
                await edit(primary, zone, tmp_path)
                server.reload()  # asks its primaries
                await reaches(server.port, ZONE, zone.serial)
            versions[zone.serial] = await fetch(primary.port, ZONE)
    async with started(server):
        served = await any_serial(server.port)
        assert await fetch(server.port, ZONE) == versions[served]


async def any_serial(port: int) -> int:
    """Wait for an answer and return its serial."""
    found: list[int | None] = []

    async def is_answered() -> bool:
        found.append(await serial(port, ZONE))
        return found[-1] is not None

    await until(is_answered, "an answer")
    assert found[-1] is not None
    return found[-1]
