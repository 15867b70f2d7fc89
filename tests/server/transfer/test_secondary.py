"""Zones that are pulled: when, from whom, what is believed, and what happens when nobody can be asked."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdatatype
import pytest

from server import rdtype
from server.app import NameServer
from server.config import Address, ServerConfig, ZoneFile
from server.transfer import service
from server.transfer.archive import Archive
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.difference import Difference
from server.transfer.key import key_name
from server.transfer.secondary import secondary
from server.transfer.secondary.timing import left_s
from server.transfer.secondary.version import stepped_zone
from server.transfer.serial import Soa
from server.transfer.slots import Slots
from server.transfer.target import Target
from server.zone.compile import Zone
from server.zone.index import Changes
from server.zone.judge import UnservableError
from server.zone.recompile import recompile
from tests.server.process import free_port
from tests.server.running import ANY_PORT, becomes, data, running, until
from tests.server.transfer.daemon import HOST, KEY_LINE, KEY_NAME
from tests.server.transfer.fake_primary import ZONE, FakePrimary, Script, reply, soa, zone_records
from tests.server.transfer.serving import over_tcp, over_udp
from tests.server.transfer.zone import keyring
from zonemodel.name import to_wire
from zonemodel.rrset import RRset


def config(folder: Path | None, *ports: int, signed: bool = False) -> ServerConfig:
    """Our server as a secondary of primaries on these ports."""
    key = key_name(KEY_NAME) if signed else None
    targets = tuple(Target(Address(HOST, port), key) for port in ports)
    keys: tuple[Path, ...] = ()
    if signed and folder is not None:
        (folder / "keys").write_text(KEY_LINE)
        keys = (folder / "keys",)
    transfer = TransferConfig(key_files=keys, secondaries=(SecondaryZone(to_wire(ZONE), targets),))
    cache = None if folder is None else folder / "cache"
    return ServerConfig((Address(HOST, 0),), cache_dir=cache, transfer=transfer)


@asynccontextmanager
async def pulling(folder: Path | None = None) -> AsyncIterator[tuple[FakePrimary, NameServer]]:
    """A primary with the host www, and a secondary that has its zone."""
    async with FakePrimary() as primary, running(config(folder, primary.port)) as server:
        await becomes(server, "www.edit.test", ["192.0.2.1"])
        yield primary, server


async def notice(server: NameServer, name: str = ZONE, kind: str = "SOA") -> str:
    """Send a NOTIFY and return the RCODE."""
    message = dns.message.make_query(name, kind, flags=dns.flags.AA, use_edns=False)
    message.set_opcode(dns.opcode.NOTIFY)
    answer = await over_udp(server, message)
    assert answer.opcode() == dns.opcode.NOTIFY
    return dns.rcode.to_text(answer.rcode())


async def test_a_zone_that_was_never_pulled_is_servfail() -> None:
    async with running(config(None, free_port())) as server:
        assert await data(server, "www.edit.test") == "SERVFAIL"
        assert await data(server, ZONE, "ANY") == "SERVFAIL"
        assert await data(server, ZONE, "DS") == "SERVFAIL"
        assert await data(server, "elsewhere.example") == "REFUSED"


async def test_a_notice_of_the_primary_brings_the_news_at_once() -> None:
    async with pulling() as (primary, server):
        primary.serve(2, "www", "new")
        assert await notice(server) == "NOERROR"
        await becomes(server, "new.edit.test", ["192.0.2.2"])
        assert server.transfers.counters.notices_received == 1


async def test_a_notice_that_has_no_news_transfers_nothing() -> None:
    async with pulling() as (primary, server):
        for _ in range(3):
            assert await notice(server) == "NOERROR"
        await until(lambda: primary.asked.count("SOA") >= 2, "a refresh")
        assert primary.asked.count("AXFR") == 1
        assert primary.asked.count("IXFR") == 0


async def test_notices_of_others_and_for_others_are_refused() -> None:
    async with pulling() as (_, server):
        assert await notice(server, "elsewhere.example") == "NOTAUTH"
        assert await notice(server, "www.edit.test") == "NOTAUTH"
        assert await notice(server, ZONE, "A") == "NOTIMP"
    secondary = SecondaryZone(to_wire(ZONE), (Target(Address("192.0.2.1", 53)),))
    elsewhere = ServerConfig((Address(HOST, 0),), transfer=TransferConfig(secondaries=(secondary,)))
    async with running(elsewhere) as server:
        assert await notice(server) == "REFUSED"


async def test_a_notice_that_is_signed_by_a_primary_counts_from_any_address(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(KEY_LINE)
    secondary = SecondaryZone(to_wire(ZONE), (Target(Address("192.0.2.1", 53), key_name(KEY_NAME)),))
    transfer = TransferConfig(key_files=(tmp_path / "keys",), secondaries=(secondary,))
    async with running(ServerConfig((Address(HOST, 0),), transfer=transfer)) as server:
        message = dns.message.make_query(ZONE, "SOA", flags=dns.flags.AA, use_edns=False)
        message.set_opcode(dns.opcode.NOTIFY)
        message.use_tsig(keyring(), dns.name.from_text(KEY_NAME))
        answer = await over_tcp(server, message)
        assert answer.rcode() == dns.rcode.NOERROR
        assert answer.had_tsig


async def test_news_is_found_without_a_notice_when_the_refresh_time_comes() -> None:
    async with FakePrimary() as primary:
        primary.serve(1, "www", refresh=1)
        async with running(config(None, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            primary.serve(2, "www", "new")
            await becomes(server, "new.edit.test", ["192.0.2.2"])


async def test_a_primary_that_comes_later_is_found() -> None:
    primary = FakePrimary()
    primary.port = free_port()
    async with running(config(None, primary.port)) as server:
        await until(lambda: server.transfers.counters.refresh_failures, "a failure")
        async with primary:
            await becomes(server, "www.edit.test", ["192.0.2.1"])


async def test_the_first_primary_that_can_be_asked_will_do() -> None:
    async with FakePrimary() as primary, running(config(None, free_port(), primary.port)) as server:
        await becomes(server, "www.edit.test", ["192.0.2.1"])


@pytest.mark.parametrize("silent_at", ["SOA", "AXFR"])
async def test_a_primary_that_never_answers_holds_up_the_zones_of_no_other(silent_at: str) -> None:
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = dns.message.from_wire((await reader.read(1000))[2:])
        question = request.question[0]
        if dns.rdatatype.to_text(question.rdtype) == silent_at:
            await hung_up.wait()
        else:
            octets = reply(request, f"{question.name} 300 IN SOA . . 1 1 1 1 1")
            writer.write(len(octets).to_bytes(2, "big") + octets)
        writer.close()

    async with FakePrimary() as primary:
        away = await asyncio.start_server(serve, "127.0.0.2", 0)
        never = Target(Address("127.0.0.2", away.sockets[0].getsockname()[1]))
        zones = [SecondaryZone(to_wire(f"{number}.test"), (never,)) for number in range(40)]
        zones.append(SecondaryZone(to_wire(ZONE), (Target(Address(HOST, primary.port)),)))
        async with running(ServerConfig((ANY_PORT,), transfer=TransferConfig(secondaries=tuple(zones)))) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
        hung_up.set()
        away.close()
        await away.wait_closed()


async def test_a_time_of_refresh_that_cannot_be_kept_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Archive, "note_refresh", refuse)
    async with pulling(tmp_path) as (primary, server):
        primary.serve(2, "other")
        await notice(server)
        await becomes(server, "other.edit.test", ["192.0.2.1"])


async def test_an_expired_zone_is_servfail_until_a_primary_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made ready beside the event loop then."""
    threads: list[threading.Thread] = []
    async with FakePrimary() as primary:
        primary.serve(1, "www", refresh=1, expire=2)
        async with running(config(None, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            await primary.close()
            await becomes(server, "www.edit.test", "SERVFAIL")
            assert await data(server, ZONE, "ANY") == "SERVFAIL"
            monkeypatch.setattr(server.catalog, "prepare", lambda _: threads.append(threading.current_thread()))
            await primary.open()
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            assert primary.asked.count("AXFR") == 1  # what was kept is good again
    assert threads
    assert threading.main_thread() not in threads


async def test_a_zone_whose_turn_came_late_is_as_new_as_its_transfer(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count()

    class LateSlots(Slots):
        @asynccontextmanager
        async def one(self, peer: str) -> AsyncIterator[None]:
            clock.monotonic = partial(float, 3600 * next(hours))
            async with super().one(peer):
                yield

    clock = SimpleNamespace(time=time.time)
    monkeypatch.setattr(service, "Slots", LateSlots)
    monkeypatch.setattr(secondary, "time", clock)
    async with FakePrimary() as primary:
        primary.serve(1, "www", refresh=60, retry=60, expire=1800)
        async with running(config(None, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])


async def test_a_zone_expires_in_time_while_its_primary_keeps_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """And also where native code fails at first."""
    hung_up = asyncio.Event()

    async def keep_silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await hung_up.wait()
        writer.close()

    async with FakePrimary() as primary:
        primary.serve(1, "www", refresh=1, expire=2)
        async with running(config(None, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            withhold = server.catalog.withhold

            def fail(_: object) -> None:
                monkeypatch.setattr(server.catalog, "withhold", withhold)
                raise UnservableError("made to fail")

            monkeypatch.setattr(server.catalog, "withhold", fail)
            await primary.close()
            silent = await asyncio.start_server(keep_silent, HOST, primary.port)
            await becomes(server, "www.edit.test", "SERVFAIL")
            hung_up.set()
            silent.close()
            await silent.wait_closed()
            await primary.open()
            await becomes(server, "www.edit.test", ["192.0.2.1"])


@pytest.mark.parametrize(
    ("timers", "left"),
    [
        ((60, 10, 0), 70),
        ((60, 10, 69), 70),
        ((60, 10, 90), 90),
        ((0, 0, 0), 2),
        ((2**32 - 1, 1, 5), 28 * 86400 + 1),
    ],
)
def test_a_zone_does_not_expire_before_its_refresh_has_failed_twice(timers: tuple[int, int, int], left: float) -> None:
    """RFC 1912 section 2.2: expire is to be more than the others; with less a zone would end between two refreshes that go well."""
    numbers = Soa(1, *timers, 60)
    assert left_s(numbers, 0.0) == left
    assert left_s(numbers, left + 1.0) == -1.0


async def test_an_expired_zone_binds_no_primary_that_begins_its_serials_anew() -> None:
    """RFC 1034 section 4.3.5: the zone is discarded then."""
    async with FakePrimary() as primary:
        primary.serve(2026113001, "www", refresh=1, expire=2)
        async with running(config(None, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            await primary.close()
            await becomes(server, "www.edit.test", "SERVFAIL")
            primary.serve(7, "again")
            await primary.open()
            await becomes(server, "again.edit.test", ["192.0.2.1"])


async def test_a_restart_serves_what_was_kept_while_no_primary_is_there(tmp_path: Path) -> None:
    async with pulling(tmp_path) as (primary, server):
        primary.serve(2, "www", "new")
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
    async with running(config(tmp_path, primary.port)) as server:
        assert await data(server, "new.edit.test") == ["192.0.2.2"]


async def test_a_server_that_stops_keeps_what_has_just_been_served(tmp_path: Path) -> None:
    async with pulling(tmp_path) as (primary, server):
        apex = to_wire("edit.test")
        before = server.catalog.zones[apex]
        for task in server.transfers._tasks:
            task.cancel()  # as the stop does, just before another version is there
        (data_before,) = before.index.at(apex)[rdtype.SOA].rdatas
        later = replace(
            before.index.at(apex)[rdtype.SOA], rdatas=(data_before[:-20] + bytes((0, 0, 0, 9)) + data_before[-16:],)
        )
        changes = Changes((later, RRset(to_wire("late.edit.test"), rdtype.A, 60, (b"\xc0\0\2\x09",))))
        server.catalog.replace(recompile(before, before.index.with_changes(changes), changes))
    async with running(config(tmp_path, primary.port)) as server:
        assert await data(server, "late.edit.test") == ["192.0.2.9"]


async def test_a_restart_does_not_serve_what_has_expired_meanwhile(tmp_path: Path) -> None:
    async with FakePrimary() as primary:
        primary.serve(1, "www", refresh=1, expire=2)
        async with running(config(tmp_path, primary.port)) as server:
            await becomes(server, "www.edit.test", ["192.0.2.1"])
            await until(lambda: list((tmp_path / "cache" / "transfer").glob("*.copy")), "a copy")
    (copy,) = (tmp_path / "cache" / "transfer").glob("*.copy")
    os.utime(copy, (time.time() - 3, time.time() - 3))
    async with running(config(tmp_path, primary.port)) as server:
        assert await data(server, "www.edit.test") == "SERVFAIL"


async def test_an_older_serial_is_not_taken() -> None:
    async with pulling() as (primary, server):
        primary.serve(2**32 - 5, "other")
        await notice(server)
        await until(lambda: server.transfers.counters.refresh_failures, "a failure")
        assert await data(server, "www.edit.test") == ["192.0.2.1"]


async def test_replies_that_are_not_signed_are_not_taken(tmp_path: Path) -> None:
    async with FakePrimary(keyring()) as primary, running(config(tmp_path, primary.port, signed=True)) as server:
        await becomes(server, "www.edit.test", ["192.0.2.1"])
        primary.serve(2, "www", "new")
        primary.soa = lambda request: [unsigned(request, soa(2))]
        await notice(server)
        await until(lambda: server.transfers.counters.refresh_failures, "a failure")
        assert primary.asked.count("AXFR") == 1
        assert "IXFR" not in primary.asked


def unsigned(request: dns.message.Message, *records: str) -> bytes:
    """A reply as if the request had no signature."""
    plain = dns.message.make_query(request.question[0].name, request.question[0].rdtype, id=request.id)
    return reply(plain, *records)


async def test_a_key_that_is_not_there_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = Target(Address(HOST, free_port()), key_name("missing.test"))
    transfer = TransferConfig(secondaries=(SecondaryZone(to_wire(ZONE), (target,)),))
    async with running(ServerConfig((Address(HOST, 0),), cache_dir=tmp_path, transfer=transfer)) as server:
        await until(lambda: server.transfers.counters.refresh_failures, "a failure")
    assert "there is no key missing.test." in capfd.readouterr().out


async def test_a_zone_has_one_source(tmp_path: Path) -> None:
    file = tmp_path / "edit.zone"
    file.write_text("edit.test. 60 IN SOA ns. h. 1 2 3 4 5\nedit.test. 60 IN NS ns.\n")
    pulled = config(None, free_port()).transfer
    with pytest.raises(UnservableError, match="pulled from another server already"):
        async with running(ServerConfig((Address(HOST, 0),), zone_files=(ZoneFile(file),), transfer=pulled)):
            pass


WHOLE = zone_records(2, "www", "new")


def script(*messages: Sequence[str]) -> Script:
    return lambda request: [reply(request, *records) for records in messages]


BROKEN_ZONES: dict[str, Script] = {
    "nothing": lambda _: [],
    "no records": script([]),
    "no soa first": script([*WHOLE[1:], WHOLE[0]]),
    "no soa last": script(WHOLE),
    "another soa last": script([*WHOLE, soa(3)]),
    "more behind the end": script([*WHOLE, WHOLE[0], WHOLE[1]]),
    "a soa of another zone": script([*WHOLE, "sub." + soa(2), WHOLE[0]]),
    "an address of three octets": lambda request: [
        reply(request, *WHOLE, WHOLE[0]).replace(b"\x00\x04\xc0\x00\x02\x01", b"\x00\x03\xc0\x00\x02")
    ],
    "cname beside others": script([*WHOLE, "www.edit.test. 300 IN CNAME new.edit.test.", WHOLE[0]]),
    "cut short": lambda request: [reply(request, *WHOLE, WHOLE[0])[:-7]],
    "octets behind": lambda request: [reply(request, *WHOLE, WHOLE[0]) + b"\0"],
    "another id": lambda request: [b"\0\0" + reply(request, *WHOLE, WHOLE[0])[2:]],
    "a query": lambda request: [request.to_wire()],
    "refused": lambda request: [reply(request)[:3] + b"\x05" + reply(request)[4:]],
    "noise": lambda _: [bytes(range(200))],
    "not a dns message": lambda _: [b"HTTP/1.1 400 Bad Request"],
}


@pytest.mark.parametrize("kind", BROKEN_ZONES)
async def test_what_is_no_transfer_leaves_the_zone_as_it_was(kind: str) -> None:
    async with pulling() as (primary, server):
        primary.serial = 2
        primary.axfr = primary.ixfr = BROKEN_ZONES[kind]
        await notice(server)
        await until(lambda: server.transfers.counters.refresh_failures, "a failure")
        assert await data(server, "www.edit.test") == ["192.0.2.1"]
        assert await data(server, "new.edit.test") == "NXDOMAIN"
        primary.serve(3, "www", "new")
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])


async def test_the_last_soa_may_be_spelled_in_another_case() -> None:
    """RFC 1035 section 2.3.3, RFC 5936 section 3.4: a primary that compresses names without regard to case sends it so."""
    async with pulling() as (primary, server):
        primary.serial = 2
        primary.axfr = primary.ixfr = script(WHOLE, [WHOLE[0].replace("host.edit.test", "Host.EDIT.test")])
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
        assert server.transfers.counters.refresh_failures == 0


async def test_records_of_other_zones_are_left_out() -> None:
    async with pulling() as (primary, server):
        primary.serial = 2
        primary.axfr = primary.ixfr = script([*WHOLE, "www.other.example. 300 IN A 192.0.2.9"], [WHOLE[0]])
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
        assert await data(server, "www.other.example") == "REFUSED"


NEW = "new.edit.test. 300 IN A 192.0.2.2"
WWW = "www.edit.test. 300 IN A 192.0.2.1"
GOOD_STEPS: dict[str, Script] = {
    "one": script([soa(2), soa(1), soa(2), NEW, soa(2)]),
    "one record a message": script(*([text] for text in (soa(2), soa(1), soa(2), NEW, soa(2)))),
    "two": script([soa(2), soa(1), WWW, soa(7), NEW, soa(7), NEW, soa(2), WWW, NEW, soa(2)]),
    "one that was there already": script([soa(2), soa(1), soa(2), WWW, NEW, soa(2)]),
    "the whole zone": script([*WHOLE, WHOLE[0]]),
}


@pytest.mark.parametrize("kind", GOOD_STEPS)
async def test_differences_lead_to_the_new_version(kind: str) -> None:
    async with pulling() as (primary, server):
        primary.serial = 2
        primary.ixfr = GOOD_STEPS[kind]
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
        assert await data(server, "www.edit.test") == ["192.0.2.1"]
        assert primary.asked.count("AXFR") == 1


BROKEN_STEPS: dict[str, Script] = {
    "refused": lambda request: [reply(request)[:3] + b"\x04" + reply(request)[4:]],
    "another start": script([soa(2), soa(9), soa(2), NEW, soa(2)]),
    "a gap": script([soa(2), soa(1), soa(5), NEW, soa(6), soa(2), soa(2)]),
    "one to go that is not there": script([soa(2), soa(1), NEW, soa(2), NEW, soa(2)]),
    "a cname beside others": script([soa(2), soa(1), soa(2), "www.edit.test. 1 IN CNAME a.", soa(2)]),
    "cut short": script([soa(2), soa(1), soa(2), NEW]),
    "noise": lambda _: [bytes(range(200))],
}


@pytest.mark.parametrize("kind", BROKEN_STEPS)
async def test_differences_that_do_not_fit_are_replaced_by_the_zone(kind: str) -> None:
    async with pulling() as (primary, server):
        primary.serve(2, "www", "new")
        primary.ixfr = BROKEN_STEPS[kind]
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
        assert primary.asked.count("AXFR") == 2


async def test_steps_are_worked_out_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little they change, the whole zone may hang on it, and queries are to be answered meanwhile."""
    threads: list[threading.Thread] = []

    def noting(zone: Zone, differences: list[Difference]) -> Zone:
        threads.append(threading.current_thread())
        return stepped_zone(zone, differences)

    async with pulling() as (primary, server):
        monkeypatch.setattr(secondary, "stepped_zone", noting)
        primary.serial = 2
        primary.ixfr = GOOD_STEPS["one"]
        await notice(server)
        await becomes(server, "new.edit.test", ["192.0.2.2"])
    assert threads
    assert threading.main_thread() not in threads
