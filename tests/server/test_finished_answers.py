"""Finished answers are what the algorithm of RFC 1034 section 4.3.2 gives for the question, whatever the zone and the question."""

from __future__ import annotations

import itertools

import dns.message
import dns.rdataclass
import dns.rdatatype
from hypothesis import given, settings
from hypothesis import strategies as st

from server.answer.matcher import Matcher
from server.catalog import Catalog
from server.transport import Reply, Transport
from server.zone.compile import compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.recompile import recompile
from tests.server import zone_strategy
from zonemodel.name import WireName, from_labels
from zonemodel.rrset import RRset, ZoneData

CLIENT = "192.0.2.1"


def query(name: bytes, rdtype: int) -> bytes:
    return b"\x12\x34\x00\x00\x00\x01" + bytes(6) + name + rdtype.to_bytes(2, "big") + b"\x00\x01"


def content(reply: Reply) -> tuple[object, ...]:
    """What a reply says: header, and the records of each section in their order; how it is compressed does not matter."""
    assert isinstance(reply, bytes)
    message = dns.message.from_wire(reply, one_rr_per_rrset=True)
    sections = [
        [(str(rrset.name).lower(), rrset.ttl, rrset.rdtype, str(rrset[0]).lower()) for rrset in section]
        for section in message.sections[1:]
    ]
    return message.flags, message.rcode(), *sections


@settings(deadline=None)
@given(zone_strategy.zones)
def test_the_matcher_says_what_the_responder_works_out(zone: ZoneData) -> None:
    catalog = Catalog()
    catalog.complete = True
    catalog.replace(compile_zone(ZoneIndex.of(zone)))
    matcher = Matcher(catalog)
    for name in zone_strategy.names_around(zone):
        for rdtype in zone_strategy.TYPES:
            packet = query(name, rdtype)
            found = matcher.answer(packet, CLIENT, Transport.TCP)
            expected = matcher.responder.respond(packet, CLIENT, Transport.TCP)
            assert found == expected or content(found) == content(expected)


@settings(deadline=None)
@given(zone_strategy.zones, st.data())
def test_mixed_case_finds_the_same_answer(zone: ZoneData, data: st.DataObject) -> None:
    catalog = Catalog()
    catalog.replace(compile_zone(ZoneIndex.of(zone)))
    matcher = Matcher(catalog)
    name = data.draw(st.sampled_from(zone_strategy.names_around(zone)))
    rdtype = data.draw(st.sampled_from(zone_strategy.TYPES))
    question = query(name, rdtype)
    shouted = question.replace(name, name.upper())
    assert content(matcher.answer(shouted, CLIENT)) == content(matcher.answer(question, CLIENT))


@settings(deadline=None)
@given(st.lists(zone_strategy.zones, min_size=2, max_size=4))
def test_a_zone_that_is_changed_becomes_the_zone_that_is_made_anew(versions: list[ZoneData]) -> None:
    zone = compile_zone(ZoneIndex.of(versions[0]))
    for before, after in itertools.pairwise(versions):
        changes = difference(before, after)
        zone = recompile(zone, zone.index.with_changes(changes), changes)
        anew = compile_zone(ZoneIndex.of(after))
        assert zone.index == anew.index
        assert zone.table == anew.table


@settings(deadline=None)
@given(zone_strategy.zones, st.lists(zone_strategy.rrsets(), min_size=1, max_size=6))
def test_small_changes_one_after_another(zone: ZoneData, edits: list[RRset]) -> None:
    """Each edit puts a set in, or takes it out when it is there; an edit that the zone does not bear is left out."""
    version, compiled = zone, compile_zone(ZoneIndex.of(zone))
    for edit in edits:
        later = zone_strategy.edited(version, edit)
        if later is None:
            continue
        changes = difference(version, later)
        compiled = recompile(compiled, compiled.index.with_changes(changes), changes)
        version = later
        assert compiled.table == compile_zone(ZoneIndex.of(version)).table


def difference(before: ZoneData, after: ZoneData) -> Changes:
    old = {(rrset.owner, rrset.rdtype): rrset for rrset in before.rrsets}
    new = {(rrset.owner, rrset.rdtype): rrset for rrset in after.rrsets}
    gone: tuple[tuple[WireName, int], ...] = tuple(key for key in old if key not in new)
    return Changes(tuple(rrset for key, rrset in new.items() if old.get(key) != rrset), gone)


def test_one_changed_record_leaves_the_other_answers_as_they_are() -> None:
    """The next version of a large zone shares everything that did not change, so that an edit costs what it changes."""
    hosts = [
        RRset(
            from_labels([f"host-{number}".encode(), *zone_strategy.APEX_LABELS]), 1, 300, (number.to_bytes(4, "big"),)
        )
        for number in range(10_000)
    ]
    before = compile_zone(
        ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns(), *hosts)))
    )
    changes = Changes((zone_strategy.soa(2), RRset(hosts[77].owner, 1, 300, (b"\xc0\x00\x02\x01",))))
    after = recompile(before, before.index.with_changes(changes), changes)
    changed = {key for key, answer in after.table.answers.items() if before.table.answers.get(key) is not answer}
    apex = zone_strategy.APEX
    assert changed == {hosts[77].owner + b"\x00\x01", apex + b"\x00\x06", apex + b"\x00\x02"}
    assert before.table.answers.keys() == after.table.answers.keys()
    assert before.table.answers[hosts[77].owner + b"\x00\x01"].body.endswith((77).to_bytes(4, "big"))
