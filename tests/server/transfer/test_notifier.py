"""NOTIFY to others (RFC 1996): who is told what, and until when."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdatatype
import pytest

from kube.backoff import Backoff
from server.catalog import Catalog
from server.config import ZoneFile
from server.transfer import notifier
from server.transfer.config import TransferConfig
from server.transfer.counters import TransferCounters
from server.transfer.exchange import Sources
from server.transfer.key_store import KeyStore
from server.transfer.permission import Permissions
from server.zone_files import read_zone
from tests.server.running import until
from tests.server.transfer.daemon import HOST, KEY_NAME
from tests.server.transfer.serving import edit, primary
from tests.server.transfer.zone import EditedZone, keyring
from zonemodel.hosted_zone import Transfer
from zonemodel.name import to_wire


class Listener(asyncio.DatagramProtocol):
    """Takes notices and answers them, once it has left so many of them unanswered."""

    def __init__(self, ignored: int = 0) -> None:
        self.notices: list[dns.message.Message] = []
        self.rcode = dns.rcode.NOERROR
        self._ignored = ignored
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # asyncio's own class does not derive from it

    @property
    def port(self) -> int:
        return int(self._transport.get_extra_info("sockname")[1])

    @property
    def serials(self) -> list[int]:
        return [each.answer[0][0].serial for each in self.notices]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        message = dns.message.from_wire(data, keyring=keyring())
        self.notices.append(message)
        if len(self.notices) > self._ignored:
            answer = dns.message.make_response(message)
            answer.set_rcode(self.rcode)
            self._transport.sendto(answer.to_wire(), addr)


@asynccontextmanager
async def listening(ignored: int = 0) -> AsyncIterator[Listener]:
    loop = asyncio.get_running_loop()
    transport, listener = await loop.create_datagram_endpoint(lambda: Listener(ignored), local_addr=(HOST, 0))
    try:
        yield listener
    finally:
        transport.close()


def notified(*listeners: Listener, key: str = "") -> Transfer:
    return Transfer(allow=(HOST,), notify=tuple(f"{HOST}:{each.port}{key}" for each in listeners))


async def test_all_are_told_at_the_start_and_of_each_new_serial(tmp_path: Path) -> None:
    zone = EditedZone().fill(20)
    async with (
        listening() as first,
        listening() as second,
        primary(zone, tmp_path, every_zone=notified(first, second)) as (server, file),
    ):
        for wanted in ([1], [1, 2], [1, 2, 3]):
            for listener in (first, second):
                await heard(listener, wanted)
            await edit(server, zone, file)
    message = first.notices[0]
    assert message.opcode() == dns.opcode.NOTIFY
    assert message.flags & dns.flags.AA
    assert not message.flags & dns.flags.QR
    assert message.question[0].to_text() == "edit.test. IN SOA"
    assert not message.had_tsig


async def heard(listener: Listener, serials: list[int]) -> None:
    await until(lambda: listener.serials == serials, f"notices of {serials}")


async def test_a_version_with_the_same_serial_is_no_news(tmp_path: Path) -> None:
    zone = EditedZone().fill(20)
    async with listening() as listener, primary(zone, tmp_path, every_zone=notified(listener)) as (server, file):
        await until(lambda: listener.serials == [1], "the first")
        zone.serial = 0
        await edit(server, zone, file)
        await server.reload()
        await edit(server, zone, file)
        await until(lambda: listener.serials == [1, 2], "the second")


async def test_notices_are_signed_where_a_key_is_named(tmp_path: Path) -> None:
    async with listening() as listener:
        transfer = notified(listener, key=f"#{KEY_NAME}")
        async with primary(EditedZone().fill(20), tmp_path, every_zone=transfer) as (server, _):
            await until(lambda: server.transfers.counters.notices_sent, "an answer that is believed")
    assert listener.notices[0].had_tsig


async def test_a_notice_is_repeated_until_it_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "_REPLY_S", 0.05)
    monkeypatch.setattr(notifier, "_BACKOFF", Backoff(0.01, 0.01, 0.05))
    async with (
        listening(ignored=4) as listener,
        primary(EditedZone().fill(20), tmp_path, every_zone=notified(listener)) as (server, _),
    ):
        await until(lambda: server.transfers.counters.notices_sent, "an answer")
        assert listener.serials == [1] * 5


async def test_a_refusal_ends_it_too(tmp_path: Path) -> None:
    async with listening() as listener:
        listener.rcode = dns.rcode.NOTAUTH
        async with primary(EditedZone().fill(20), tmp_path, every_zone=notified(listener)) as (server, _):
            await until(lambda: server.transfers.counters.notices_sent, "an answer")


async def test_it_is_given_up_where_nobody_ever_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "_REPLY_S", 0.02)
    monkeypatch.setattr(notifier, "_BACKOFF", Backoff(0.01, 0.01, 0.02))
    zone = EditedZone().fill(20)
    async with (
        listening(ignored=1000) as listener,
        primary(zone, tmp_path, every_zone=notified(listener)) as (server, file),
    ):
        await until(lambda: server.transfers.counters.notices_failed == 1, "given up")
        assert set(listener.serials) == {1}
        await edit(server, zone, file)
        await until(lambda: server.transfers.counters.notices_failed == 2, "given up again")
        assert listener.serials[-1] == 2


async def test_a_server_that_never_answers_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "_AT_ONCE_PER_TARGET", 1)
    monkeypatch.setattr(notifier, "_REPLY_S", 3600.0)
    async with (
        listening(ignored=1000) as away,
        listening() as there,
        primary(EditedZone().fill(20), tmp_path, every_zone=notified(away, there)),
    ):
        await heard(away, [1])
        await heard(there, [1])


async def test_a_zone_that_goes_or_has_nobody_to_tell_before_its_turn_is_not_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notifier, "_AT_ONCE_PER_TARGET", 1)
    monkeypatch.setattr(notifier, "_REPLY_S", 0.1)
    monkeypatch.setattr(notifier, "_ATTEMPTS", 1)
    catalog, counters = Catalog(), TransferCounters()
    async with listening(ignored=1) as listener:
        permissions = Permissions(catalog, TransferConfig(every_zone=notified(listener)))
        telling = notifier.Notifier(catalog, permissions, KeyStore(), Sources(()), counters)
        for name in ("stays", "goes", "ends", "comes"):
            EditedZone(f"{name}.test").write(tmp_path / name)
            catalog.replace(read_zone(ZoneFile(tmp_path / name)))
            telling.announce(to_wire(f"{name}.test"))
        await until(lambda: listener.notices, "the turn of the first")
        catalog.remove(to_wire("goes.test"))
        catalog.transfers[to_wire("ends.test")] = Transfer()
        await until(lambda: (counters.notices_failed, counters.notices_sent) == (1, 1), "the others told")
        await telling.stop()
    assert [each.question[0].name.to_text() for each in listener.notices] == ["stays.test.", "comes.test."]
    gc.collect()  # a task that failed says so when it goes
    assert not caplog.records


async def test_news_goes_out_at_once_though_the_last_waits_for_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifier, "_REPLY_S", 0.02)
    monkeypatch.setattr(notifier, "_BACKOFF", Backoff(3600, 3600, 3600))
    zone = EditedZone().fill(20)
    async with (
        listening(ignored=1) as listener,
        primary(zone, tmp_path, every_zone=notified(listener)) as (server, file),
    ):
        await until(lambda: listener.serials == [1], "the first")
        await edit(server, zone, file)
        await until(lambda: server.transfers.counters.notices_sent == 1, "the second answered")
        assert listener.serials == [1, 2]
