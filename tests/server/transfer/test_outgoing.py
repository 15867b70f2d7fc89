"""What requests for transfers are answered (RFC 5936, RFC 1995)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest
from prometheus_client import CollectorRegistry

from server.app import NameServer
from server.health.metrics import ServerCollector, exposition
from server.transfer.slots import BusyError, Slots
from tests.server.running import becomes
from tests.server.transfer.daemon import HOST, KEY_NAME
from tests.server.transfer.serving import ZONE, edit, over_tcp, over_udp, primary, query, serials, stream
from tests.server.transfer.zone import EditedZone
from zonemodel.hosted_zone import Transfer

ANYBODY = Transfer(allow=("127.0.0.0/8",))
KEY_ALONE = Transfer(allow=(f"key:{KEY_NAME.upper()}", "192.0.2.1"))


def rcode(message: dns.message.Message) -> str:
    return dns.rcode.to_text(message.rcode())


async def test_nobody_may_transfer_unless_told_so(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path) as (server, _):
        assert rcode(await over_tcp(server, query("AXFR"))) == "REFUSED"
        assert rcode(await over_tcp(server, query("AXFR", signed=True))) == "REFUSED"
        assert rcode(await over_udp(server, query("IXFR", serial=0))) == "REFUSED"
        assert server.transfers.counters.refused == 3


async def test_a_key_opens_and_an_address_does_not(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=KEY_ALONE) as (server, _):
        assert rcode(await over_tcp(server, query("AXFR"))) == "REFUSED"
        reply = await over_tcp(server, query("AXFR", signed=True))
        assert rcode(reply) == "NOERROR"
        assert reply.had_tsig


async def test_one_zone_may_have_an_allow_list_of_its_own(tmp_path: Path) -> None:
    own = {b"\x04edit\x04test\x00": ANYBODY}
    async with primary(EditedZone().fill(5), tmp_path, zones=own) as (server, _):
        assert rcode(await over_tcp(server, query("AXFR"))) == "NOERROR"


async def test_names_that_are_no_apex_are_notauth(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=ANYBODY) as (server, _):
        for name in ("test", "www.edit.test", "elsewhere.example"):
            assert rcode(await over_tcp(server, query("AXFR", name))) == "NOTAUTH"


async def test_a_zone_does_not_fit_a_datagram(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=ANYBODY) as (server, _):
        assert rcode(await over_udp(server, query("AXFR"))) == "FORMERR"


async def test_axfr_begins_and_ends_with_the_soa_and_has_each_record_once(tmp_path: Path) -> None:
    zone = EditedZone().fill(1500)
    async with primary(zone, tmp_path, every_zone=ANYBODY) as (server, _):
        messages = await stream(server, query("AXFR"))
        assert len(messages) > 1
        records = [rrset for each in messages for rrset in each.answer]
        assert serials(messages) == [1, 1]
        assert records[0].rdtype == records[-1].rdtype == dns.rdatatype.SOA
        assert len({rrset.to_text() for rrset in records}) == len(records) - 1 == len(zone.records) + 3
        assert all(each.flags & dns.flags.AA and each.flags & dns.flags.QR for each in messages)
        assert [len(each.question) for each in messages] == [1] + [0] * (len(messages) - 1)
        assert {each.id for each in messages} == {messages[0].id}


async def test_edns_is_answered_in_the_first_message(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(1500), tmp_path, every_zone=ANYBODY) as (server, _):
        message = query("AXFR")
        message.use_edns(0, payload=4096)
        replies = await stream(server, message)
        assert [each.edns for each in replies] == [0] + [-1] * (len(replies) - 1)


async def test_other_classes_and_versions_are_refused_as_for_all_questions(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=ANYBODY) as (server, _):
        chaos = dns.message.make_query(ZONE, "AXFR", "CH")
        assert rcode(await over_tcp(server, chaos)) == "REFUSED"
        newer = query("AXFR")
        newer.use_edns(1)
        assert rcode(await over_tcp(server, newer)) == "BADVERS"


async def test_names_in_capitals_get_the_zone_in_its_own_case(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(50), tmp_path, every_zone=ANYBODY) as (server, _):
        (plain,), (capitals,) = await stream(server, query("AXFR")), await stream(server, query("AXFR", "EDIT.test"))
        assert [rrset.to_text() for rrset in capitals.answer] == [rrset.to_text() for rrset in plain.answer]
        assert capitals.question[0].name.to_text() == "EDIT.test."


async def test_ixfr_gives_what_changed_joined_into_one(tmp_path: Path) -> None:
    zone = EditedZone().fill(500)
    async with primary(zone, tmp_path, every_zone=ANYBODY) as (server, file):
        await becomes_served(server, zone)
        for _ in range(4):
            await edit(server, zone, file, 2)
            await becomes_served(server, zone)
        messages = await stream(server, query("IXFR", serial=2))
        assert serials(messages) == [5, 2, 5, 5]
        assert len(messages[0].answer) < 4 + 2 * 6 * 6
        assert serials(await stream(server, query("IXFR", serial=4))) == [5, 4, 5, 5]


async def becomes_served(server: NameServer, zone: EditedZone) -> None:
    """Wait until the version is served and its history settled: otherwise several edits make one step."""
    soa = f"ns.edit.test. hostmaster.edit.test. {zone.serial} {zone.refresh_s} 1 86400 60"
    await becomes(server, ZONE, [soa], "SOA")
    await stream(server, query("IXFR", serial=zone.serial - 1))


async def test_ixfr_without_history_gives_the_whole_zone(tmp_path: Path) -> None:
    zone = EditedZone(serial=7).fill(50)
    async with primary(zone, tmp_path, every_zone=ANYBODY) as (server, _):
        messages = await stream(server, query("IXFR", serial=3))
        assert serials(messages) == [7, 7]
        assert len(messages[0].answer) == len(zone.records) + 4


async def test_ixfr_gives_the_whole_zone_where_that_is_shorter(tmp_path: Path) -> None:
    zone = EditedZone().fill(40)
    async with primary(zone, tmp_path, every_zone=ANYBODY) as (server, file):
        await becomes_served(server, zone)
        zone.records.clear()
        await edit(server, zone.fill(20), file)
        assert serials(await stream(server, query("IXFR", serial=1))) == [2, 2]


async def test_ixfr_to_who_has_it_all_is_one_soa(tmp_path: Path) -> None:
    async with primary(EditedZone(serial=7).fill(50), tmp_path, every_zone=ANYBODY) as (server, _):
        for serial in (7, 8, 2**31 + 6):
            for ask in (over_tcp, over_udp):
                reply = await ask(server, query("IXFR", serial=serial))
                assert [rrset[0].serial for rrset in reply.answer] == [7]


async def test_ixfr_over_udp_gives_what_fits_and_else_the_soa(tmp_path: Path) -> None:
    zone = EditedZone().fill(500)
    async with primary(zone, tmp_path, every_zone=ANYBODY) as (server, file):
        await becomes_served(server, zone)
        zone.records["one-more", "A", "192.0.2.77"] = 300
        await edit(server, zone, file, 0)
        await becomes_served(server, zone)
        small = await raw_udp(server, query("IXFR", serial=1))
        assert serials([small]) == [2, 1, 2, 2]
        assert not small.flags & dns.flags.TC
        signed = await raw_udp(server, query("IXFR", serial=1, signed=True))
        assert serials([signed]) == [2, 1, 2, 2]
        await edit(server, zone, file, 60)
        await becomes_served(server, zone)
        assert serials([await raw_udp(server, query("IXFR", serial=1))]) == [3]
        assert serials([await raw_udp(server, query("IXFR", serial=99_000))]) == [3]


async def raw_udp(server: NameServer, message: dns.message.Message) -> dns.message.Message:
    """One datagram's reply, each record on its own."""
    loop = asyncio.get_running_loop()
    received: asyncio.Queue[bytes] = asyncio.Queue()

    class Take(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            received.put_nowait(data)

    peer = (HOST, server.ports[0])
    transport, _ = await loop.create_datagram_endpoint(Take, remote_addr=peer)
    try:
        transport.sendto(message.to_wire())
        async with asyncio.timeout(60):
            octets = await received.get()
        assert len(octets) <= 512
        return dns.message.from_wire(octets, one_rr_per_rrset=True, keyring=False)
    finally:
        transport.close()


@pytest.mark.parametrize("kind", ["none", "other", "two"])
async def test_ixfr_that_does_not_say_from_where_is_formerr(kind: str, tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=ANYBODY) as (server, _):
        message = query("IXFR", serial=1)
        if kind == "none":
            message.authority.clear()
        elif kind == "other":
            message.authority = query("IXFR", "other.test", serial=1).authority
        else:
            message.authority.append(query("IXFR", ZONE, serial=2).authority[0])
        assert rcode(await over_tcp(server, message)) == "FORMERR"


async def test_signed_questions_for_data_are_answered_signed(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path) as (server, _):
        for kind in ("SOA", "TXT", "ANY"):
            for ask in (over_tcp, over_udp):
                reply = await ask(server, query(kind, signed=True))
                assert reply.had_tsig
                assert rcode(reply) == "NOERROR"
        outside = await over_udp(server, query("SOA", "elsewhere.example", signed=True))
        assert outside.had_tsig
        assert rcode(outside) == "REFUSED"


async def test_a_signed_question_for_much_is_answered_signed(tmp_path: Path) -> None:
    zone = EditedZone()
    zone.records |= {("@", "TXT", f"{'x' * 200}{number}"): 60 for number in range(40)}
    async with primary(zone, tmp_path) as (server, _):
        reply = await over_tcp(server, query("ANY", signed=True))
        assert reply.had_tsig
        assert sum(map(len, reply.answer)) > 40


async def test_a_reader_that_leaves_frees_its_place(tmp_path: Path) -> None:
    zone = EditedZone().fill(3000)
    async with primary(zone, tmp_path, every_zone=ANYBODY, outgoing=1) as (server, _):
        for _ in range(5):
            assert len(await stream(server, query("AXFR"), count=1)) == 1
        assert serials(await stream(server, query("AXFR"))) == [1, 1]


async def test_places_are_given_in_order_and_within_the_bounds() -> None:
    slots, order = Slots(2, 1, most_waiting=2), list[str]()
    release = asyncio.Event()

    async def hold(name: str, peer: str) -> None:
        async with slots.one(peer):
            order.append(name)
            await release.wait()

    async with asyncio.TaskGroup() as group:
        for name, peer in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")):
            group.create_task(hold(name, peer))
        await asyncio.sleep(0)
        assert order == ["a1", "b1"]
        with pytest.raises(BusyError):
            await hold("c", "c")
        waits = group.create_task(hold("gone", "c"))
        waits.cancel()
        release.set()
    assert order == ["a1", "b1", "a2", "b2"]
    assert slots.taken == 0


async def test_a_peer_with_many_that_wait_holds_up_no_other() -> None:
    slots, order = Slots(2, 2, None), list[str]()

    async def hold(peer: str) -> None:
        async with slots.one(peer):
            order.append(peer)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for peer in ("many",) * 10 + ("few",) * 3:
            group.create_task(hold(peer))
    assert order[:8] == ["many", "many", "many", "few", "many", "few", "many", "few"]


async def test_transfers_are_counted_in_metrics(tmp_path: Path) -> None:
    async with primary(EditedZone().fill(5), tmp_path, every_zone=ANYBODY) as (server, _):
        await stream(server, query("AXFR"))
        await over_tcp(server, query("AXFR", "elsewhere.example"))
        registry = CollectorRegistry()
        registry.register(ServerCollector(server))
        text = exposition(registry).decode()
    assert 'dns_api_server_transfers_sent_total{kind="AXFR"} 1.0' in text
    assert "dns_api_server_transfers_refused_total 1.0" in text
    assert "dns_api_server_zones_withheld 0.0" in text
