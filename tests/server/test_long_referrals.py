"""Referrals and other replies that no message can hold: they take no more time and space than others, and say what fits."""

from __future__ import annotations

import dns.flags
import dns.message
import pytest

from server.plane.choice import has_native
from server.rdtype import ANY
from server.zone.compile import Zone, compile_zone
from server.zone.encode import encode_reply
from server.zone.index import Changes
from server.zone.judge import judge_zone
from server.zone.lookup import resolve
from server.zone.recompile import recompile
from tests.server.zone_strategy import APEX, APEX_LABELS, NS, A, apex_ns, soa
from zonemodel.name import WireName, from_labels
from zonemodel.rrset import RRset, ZoneData

CUT = from_labels([b"cut", *APEX_LABELS])
LONGEST = 65535


def addresses(owner: WireName, count: int) -> RRset:
    return RRset(owner, A, 60, tuple(number.to_bytes(4, "big") for number in range(count)))


def zone_data(servers: tuple[WireName, ...], sets: tuple[RRset, ...]) -> ZoneData:
    return ZoneData(APEX, (soa(1), apex_ns(), RRset(CUT, NS, 60, servers), *sets))


def referral(zone: Zone, limit: int) -> dns.message.Message:
    """Return what a client of a name below the cut gets within so many octets."""
    name = from_labels([b"www", b"cut", *APEX_LABELS])
    question = name + bytes((0, 1, 0, 1))
    answer = zone.table.nodes[CUT].below.other
    room = limit - 12 - len(question)
    body, heads = answer.body_for(len(name)), answer.heads
    if len(body) > room:
        trim = next((trim for trim in answer.trims if trim.size <= room), None)
        if trim is None:
            return dns.message.from_wire(b"\0\1" + b"\x82\0\0\1\0\0\0\0\0\0" + question)
        body, heads = body[: trim.size], trim.heads
    return dns.message.from_wire(b"\0\1" + heads[0] + question + body)


def test_a_wildcard_gives_glue_to_many_servers() -> None:
    wild = addresses(from_labels([b"*", *APEX_LABELS]), 300)
    servers = tuple(sorted(from_labels([b"ns%d" % number, *APEX_LABELS]) for number in range(300)))
    zone = compile_zone(judge_zone(zone_data(servers, (wild,))))
    found = referral(zone, LONGEST)
    assert not found.flags & dns.flags.TC
    assert len(found.authority[0]) == len(servers)
    assert all(len(rrset) == len(wild.rdatas) for rrset in found.additional)
    octets = len(zone.table.nodes[CUT].below.other.body)
    assert LONGEST < octets < 2 * LONGEST


def test_an_edit_makes_glue_too_long() -> None:
    servers = tuple(sorted(from_labels([b"ns%d" % number, *APEX_LABELS]) for number in range(300)))
    zone = compile_zone(judge_zone(zone_data(servers, ())))
    wild = addresses(from_labels([b"*", *APEX_LABELS]), 300)
    changes = Changes((wild,))
    index = zone.index.with_changes(changes)
    later = recompile(zone, index, changes)
    assert later.table.nodes == compile_zone(index).table.nodes


def test_required_glue_that_no_message_holds_is_never_left_out_silently() -> None:
    sets = tuple(addresses(from_labels([b"ns%d" % number, b"cut", *APEX_LABELS]), 4000) for number in range(17))
    zone = compile_zone(judge_zone(zone_data(tuple(each.owner for each in sets), sets)))
    assert referral(zone, LONGEST).flags & dns.flags.TC


def test_any_has_more_records_than_can_be_counted() -> None:
    owner = from_labels([b"many", *APEX_LABELS])
    data = tuple(number.to_bytes(2, "big") for number in range(4600))
    sets = (RRset(owner, rdtype, 60, data) for rdtype in range(65280, 65300))
    index = judge_zone(ZoneData(APEX, (soa(1), apex_ns(), *sets)))
    answer = encode_reply(resolve(index, owner, ANY), owner, owner, exact=True)
    assert LONGEST < len(answer.body) < 3 * LONGEST


@pytest.mark.skipif(not has_native(), reason="the native data plane is not built")
@pytest.mark.parametrize("above", [APEX, CUT], ids=["optional", "required"])
@pytest.mark.parametrize("servers", [17, 300])
def test_native_code_finishes_them_as_python_does(above: WireName, servers: int) -> None:
    from server.plane.bulk import collect_bulk

    owners = (WireName(b"\x05%05d" % number + above) for number in range(servers))
    sets = tuple(addresses(owner, 4000 if number < 17 else 400) for number, owner in enumerate(owners))
    data = zone_data(tuple(each.owner for each in sets), sets)
    records = [(each.owner, each.rdtype, each.ttl_s, rdata) for each in data.rrsets for rdata in each.rdatas]
    bulk, zone = collect_bulk(APEX, records) or pytest.fail("it is left to Python")
    assert CUT not in {owner for owner, *_ in bulk.others()}
    expected = compile_zone(judge_zone(data))
    assert zone.table.nodes[CUT] == expected.table.nodes[CUT]
