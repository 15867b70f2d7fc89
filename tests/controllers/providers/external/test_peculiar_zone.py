"""What NSD, Knot and BIND say of zones with everything in them, and what that means for record sets and withdrawals: the same for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dns.rdatatype
import pytest

from controllers.api.record_withdrawal_item import UnitWithdrawal
from controllers.api.zone_unit import UnitRecordSet
from controllers.ledger.sighting import sight, subject_of
from controllers.ledger.withdrawal import ServerWord
from controllers.probe.address import Address
from controllers.probe.exchange import NetworkExchange
from controllers.probe.pace import Pace
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import Round
from controllers.probe.subject import Subject, question_about
from controllers.providers.external.observation import judge_records, judge_zone
from controllers.providers.external.wanted import wanted_of
from tests.controllers.probe.peer import KINDS, running_peer, zone_text
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

ZONE = Fqdn("shop.test")
HERE = "192.0.2.1"
MANY = "".join(f"many 300 IN A 192.0.2.{number}\n" for number in range(1, 101))
CHAIN = "".join(f"a{number} IN CNAME a{number + 1}\n" for number in range(8)) + f"a8 900 IN A {HERE}\n"
BODY = rf"""ns1 IN A 127.0.0.1
ns2 IN A 127.0.0.1
WWW 300 IN A {HERE}
*.app 60 IN A {HERE}
*.alias 60 IN CNAME www
upper IN CNAME WWW.Shop.TEST.
loop IN CNAME loop2
loop2 IN CNAME loop
old IN DNAME new
x.new 600 IN A {HERE}
old2 IN DNAME new.elsewhere.test.
dot IN CNAME weird\.label
weird\.label 77 IN A {HERE}
oct IN CNAME \000\255x
\000\255x 78 IN A {HERE}
outside IN CNAME fake\.shop.test.
txt IN TXT "one" "" "two" "three"
mail IN MX 10 MX.Shop.TEST.
mail IN MX 5 b
deep.a.b IN TXT "x"
child IN NS ns.child
ns.child IN A 192.0.2.53
tochild IN CNAME host.child
dangling IN CNAME nothing
wildchain IN CNAME foo.app
six IN AAAA 2001:DB8::1
{CHAIN}{MANY}"""
GAVE = {
    "www": 300,
    "foo.app": 60,
    "*.app": 60,
    "*.alias": 300,
    "upper": 300,
    "a0": 900,
    "a1": 900,
    "x.old": 600,
    "dot": 300,
    "oct": 300,
    "wildchain": 300,
    "many": 300,
}
NOT = {
    "nobody": "NXDOMAIN",
    "y.old": "NXDOMAIN",
    "z.old2": "NOERROR",
    "old": "NOERROR",
    "outside": "NOERROR",
    "dangling": "NXDOMAIN",
    "a.b": "NOERROR",
    "@": "NOERROR",
    "six": "NOERROR",
}
UNKNOWN = {"child": "REFERRAL", "host.child": "REFERRAL", "tochild": "REFERRAL"}


def withdrawal(name: str, address: str = HERE) -> UnitWithdrawal:
    claim = {"claimNamespace": "team", "claimName": "old", "claimUID": name, "claimGeneration": 1}
    kind = "AAAA" if ":" in address else "A"
    return UnitWithdrawal.model_validate({**claim, "name": name, "type": kind, "address": address})


def record(name: str, kind: str, body: dict[str, Any], ttl: int = 300) -> UnitRecordSet:
    claim = {"recordSetNamespace": "team", "recordSetName": "r", "observedGeneration": 1}
    return UnitRecordSet.model_validate({**claim, "name": name, "type": kind, "ttl": ttl, kind.lower(): body})


async def look(servers: tuple[Address, ...], *subjects: Subject) -> Round:
    plan = Plan(ZONE, subjects, name_servers=servers, timeout_s=2.0)
    return await Prober(NetworkExchange(Pace(1000.0)), 53).probe(plan)


def word(found: Round, item: UnitWithdrawal) -> ServerWord:
    sighting = sight(item, found)
    assert sighting is not None
    (only,) = sighting.words
    return only


@pytest.mark.parametrize("kind", KINDS)
async def test_every_way_to_an_address_is_seen(kind: str, tmp_path: Path) -> None:
    items = {name: withdrawal(name) for name in (*GAVE, *NOT, *UNKNOWN, "loop")}
    async with running_peer(kind, tmp_path / kind, {ZONE: zone_text(ZONE, BODY)}) as peer:
        found = await look((peer.address,), *map(subject_of, items.values()))
    words = {name: word(found, item) for name, item in items.items()}
    assert {name: words[name].ttl_s for name in words if words[name].gave} == GAVE
    assert {name: words[name].rcode for name in words if words[name].answered and not words[name].gave} == NOT
    silent = {name: words[name].rcode for name in words if not words[name].answered}
    # BIND fails where others give the circle as it is.
    assert silent.pop("loop") in ("CHAIN", "SERVFAIL")
    assert silent == UNKNOWN


SAME = [
    record("www", "A", {"addresses": [HERE]}),
    record("txt", "TXT", {"values": ["onetwothree"]}),
    record(
        "mail",
        "MX",
        {"records": [{"preference": p, "exchange": e} for p, e in ((5, "b.shop.test"), (10, "mx.shop.test"))]},
    ),
    record("upper", "CNAME", {"target": "www.shop.test"}),
    record("child", "NS", {"nameServers": ["ns.child.shop.test"]}),
    record("six", "AAAA", {"addresses": ["2001:db8:0::1"]}),
    record("*.app", "A", {"addresses": [HERE]}, ttl=3600),
    record("many", "A", {"addresses": [f"192.0.2.{number}" for number in range(1, 101)]}),
]


@pytest.mark.parametrize("kind", KINDS)
async def test_record_sets_are_recognised_however_servers_write_them(kind: str, tmp_path: Path) -> None:
    subjects = [Subject(item.name, item.type.code) for item in SAME]
    async with running_peer(kind, tmp_path / kind, {ZONE: zone_text(ZONE, BODY)}) as peer:
        found = await look((peer.address,), *subjects, Subject("www", RecordType.TXT.code))
    for item in SAME:
        told = found.told(question_about(item.name, item.type.code, ZONE, found.label))
        verdict = judge_records(wanted_of(item, ZONE), told, require_all=True).programmed
        assert verdict.accepted, (item.name, verdict)
        assert ("TTL: want 3600, got" in verdict.message) is (item.ttl == 3600)


async def test_a_server_that_has_the_zone_above_instead_speaks_for_no_name_in_it(tmp_path: Path) -> None:
    async with running_peer(
        "nsd", tmp_path / "nsd", {"test": zone_text("test", "ns1 A 127.0.0.1\nns2 A 127.0.0.1\n")}
    ) as peer:
        found = await look((peer.address,), subject_of(withdrawal("www")))
    # It answers with authority that there is no such name: in another zone.
    assert word(found, withdrawal("www")) == ServerWord(str(peer.address), "LAME", answered=False)
    item = record("www", "A", {"addresses": [HERE]})
    told = found.told(question_about("www", item.type.code, ZONE, found.label))
    assert judge_records(wanted_of(item, ZONE), told, require_all=True).programmed.reason == "ProviderConflict"
    assert judge_zone(found).reason == "ProviderConflict"


@pytest.mark.parametrize("kind", ["nsd", "knot"])
async def test_a_server_that_has_ipv6_only_is_asked_there(kind: str, tmp_path: Path) -> None:
    async with running_peer(kind, tmp_path / kind, {ZONE: zone_text(ZONE, BODY)}, host="::1") as peer:
        found = await look((peer.address,), subject_of(withdrawal("www")), subject_of(withdrawal("six", "2001:db8::1")))
    assert word(found, withdrawal("www")).gave
    assert word(found, withdrawal("six", "2001:db8::1")).gave
    assert [name for name, _ in found.apex(dns.rdatatype.SOA)] == [f"[::1]:{peer.address.port}"]
