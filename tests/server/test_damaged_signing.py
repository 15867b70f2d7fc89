"""Zones whose signing is incomplete or odd: what is there is told, nothing raises, and what would cost too much is not served."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import dns.message
import dns.name
import pytest

from server import rdtype
from server.answer.matcher import Matcher
from server.catalog import Catalog
from server.transport import Transport
from server.zone.compile import compile_zone
from server.zone.index import ZoneIndex
from server.zone.judge import UnservableError, judge_zone
from tests.server.conftest import ZONES
from zonemodel.name import WireName
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import read_zone_file

TYPES = ("A", "NS", "DS", "TXT", "NSEC", "NSEC3", "RRSIG", "ANY", "DNSKEY")
DENIALS = {rdtype.NSEC, rdtype.NSEC3}
Damage = Callable[[RRset], RRset | None]

dice = random.Random(1)


def without(*types: int) -> Damage:
    return lambda rrset: None if rrset.rdtype in types else rrset


def half(rrset: RRset) -> RRset | None:
    return None if rrset.rdtype in DENIALS and dice.random() < 0.5 else rrset


def half_signed(rrset: RRset) -> RRset | None:
    if rrset.rdtype != rdtype.RRSIG:
        return rrset
    kept = tuple(each for each in rrset.rdatas if dice.random() < 0.5)
    return RRset(rrset.owner, rrset.rdtype, rrset.ttl_s, kept) if kept else None


def unknown_hash(rrset: RRset) -> RRset:
    if rrset.rdtype not in {rdtype.NSEC3, rdtype.NSEC3PARAM}:
        return rrset
    return RRset(rrset.owner, rrset.rdtype, rrset.ttl_s, tuple(b"\x06" + each[1:] for each in rrset.rdatas))


def hashed_so_often(iterations: int) -> Damage:
    def damage(rrset: RRset) -> RRset:
        if rrset.rdtype not in {rdtype.NSEC3, rdtype.NSEC3PARAM}:
            return rrset
        rdatas = tuple(each[:2] + iterations.to_bytes(2, "big") + each[4:] for each in rrset.rdatas)
        return RRset(rrset.owner, rrset.rdtype, rrset.ttl_s, rdatas)

    return damage


DAMAGES: dict[str, Damage] = {
    "no denials": without(*DENIALS),
    "no parameters": without(rdtype.NSEC3PARAM),
    "half of the denials": half,
    "half of the signatures": half_signed,
    "an unknown hash": unknown_hash,
    "other iterations": hashed_so_often(100),
}


def damaged(path: Path, damage: Damage) -> ZoneData:
    zone = read_zone_file(path, None)
    return ZoneData(zone.origin, tuple(each for rrset in zone.rrsets if (each := damage(rrset)) is not None))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("path", sorted(ZONES.glob("*.signed.test.zone")), ids=lambda path: path.name.split(".")[0])
def test_every_question_gets_a_reply_that_can_be_read(path: Path, damage: Damage) -> None:
    zone = damaged(path, damage)
    catalog = Catalog()
    catalog.replace(compile_zone(judge_zone(zone)))
    matcher = Matcher(catalog)
    names = [dns.name.from_wire(each, 0)[0] for each in ZoneIndex.of(zone).children]
    for name in names + [dns.name.Name((label, *each.labels)) for each in names for label in (b"absent", b"*")]:
        for kind in TYPES:
            query = dns.message.make_query(name, kind, want_dnssec=True, flags=0)
            reply = matcher.answer(query.to_wire(), "192.0.2.1", Transport.TCP)
            assert isinstance(reply, bytes)
            assert query.is_response(dns.message.from_wire(reply))


def test_more_iterations_than_any_zone_may_have_are_refused() -> None:
    with pytest.raises(UnservableError, match="has 2501 NSEC3 iterations, allowed are 2500"):
        judge_zone(damaged(ZONES / "nsec3.signed.test.zone", hashed_so_often(2501)))


@pytest.mark.parametrize("kind", ["nsec3", "optout"])
def test_denials_are_signed_beside_a_wildcard_that_would_cover_their_owners(kind: str) -> None:
    """RFC 5155 section 7.2.8: hashed owner names are no names of the zone, so no wildcard stands for them."""
    zone = read_zone_file(ZONES / f"{kind}.signed.test.zone", None)
    star = RRset(WireName(b"\x01*" + zone.origin), rdtype.TXT, 60, (b"\x01*",))
    catalog = Catalog()
    catalog.replace(compile_zone(judge_zone(ZoneData(zone.origin, (*zone.rrsets, star)))))
    query = dns.message.make_query(f"www.{kind}.signed.test.", "AAAA", want_dnssec=True)
    reply = Matcher(catalog).answer(query.to_wire(), "192.0.2.1", Transport.TCP)
    assert isinstance(reply, bytes)
    authority = dns.message.from_wire(reply).authority
    denials = {rrset.name for rrset in authority if rrset.rdtype == rdtype.NSEC3}
    assert denials
    assert denials <= {rrset.name for rrset in authority if rrset.covers == rdtype.NSEC3}


def replies(zone: ZoneData, names: Sequence[dns.name.Name]) -> list[bytes]:
    catalog = Catalog()
    catalog.replace(compile_zone(judge_zone(zone)))
    matcher, found = Matcher(catalog), []
    for name in names:
        for kind in ("A", "DS", "TXT"):
            query = dns.message.make_query(name, kind, want_dnssec=True, id=1)
            reply = matcher.answer(query.to_wire(), "192.0.2.1", Transport.TCP)
            assert isinstance(reply, bytes)
            found.append(reply)
    return found


@pytest.mark.parametrize("parameters", [b"\x01\x00\x00\x05\x02\xaa\xbb", b"\x01\x01\x00\x05\x00", None])
@pytest.mark.parametrize("kind", ["nsec3", "optout"])
def test_the_records_of_another_chain_prove_nothing_in_this_one(kind: str, parameters: bytes | None) -> None:
    """RFC 5155 sections 4.1.2 and 7.1: a zone that goes over to other parameters holds two chains, of which one may be in the making."""
    zone = read_zone_file(ZONES / f"{kind}.signed.test.zone", None)
    hashing = parameters or b"\x01\x00\x00\x05\x00"
    half_made = []
    for number, rrset in enumerate(each for each in zone.rrsets if each.rdtype == rdtype.NSEC3):
        label = rrset.owner[1:33].translate(bytes.maketrans(b"0123456789abcdef", b"fedcba9876543210"))
        owner = WireName(b"\x20" + label + rrset.owner[33:])
        data = hashing + rrset.rdatas[0][5 + rrset.rdatas[0][4] :]
        if number % 2:
            half_made.append(RRset(owner, rdtype.NSEC3, rrset.ttl_s, (data,)))
    rrsets = [
        RRset(each.owner, each.rdtype, each.ttl_s, (parameters, *each.rdatas))
        if each.rdtype == rdtype.NSEC3PARAM and parameters
        else each
        for each in zone.rrsets
    ]
    names = [dns.name.from_wire(each, 0)[0] for each in ZoneIndex.of(zone).children]
    names += [dns.name.Name((label, *each.labels)) for each in names for label in (b"absent", b"q")]
    assert replies(ZoneData(zone.origin, (*half_made, *rrsets)), names) == replies(zone, names)


def test_a_ds_set_at_the_apex_belongs_to_no_denial() -> None:
    """RFC 4035 section 2.4: it is of no use there, and no child begins at the apex."""
    zone = read_zone_file(ZONES / "nsec.signed.test.zone", None)
    ds = RRset(zone.origin, rdtype.DS, 60, (b"\0\x01\x0d\x02" + bytes(32),))
    name = dns.name.from_text("nope.nsec.signed.test.")
    assert replies(ZoneData(zone.origin, (*zone.rrsets, ds)), [name]) == replies(zone, [name])
