"""Rules about a zone as a whole and about single sets: what may stand where, how often, with which TTL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from server import rdtype
from server.lint.content import Content
from server.lint.finding import Finding, error, warning
from server.text import name_text, type_text
from server.zone.index import STAR
from zonemodel.name import is_within
from zonemodel.rrset import ANSWER_MAX_OCTETS, answer_octets

_SINGLE: Final = (rdtype.SOA, rdtype.CNAME, rdtype.DNAME)
_BESIDE_CNAME: Final = frozenset({rdtype.CNAME, rdtype.RRSIG, rdtype.NSEC})
_NOT_AT_WILDCARDS: Final = frozenset({rdtype.NS, rdtype.DNAME, rdtype.DS})


def nothing_outside(content: Content) -> Iterator[Finding]:
    """RFC 1035 section 5.2: a file holds one zone, and one SOA at its apex."""
    for (owner, kind), records in content.sets.items():
        if not is_within(owner, content.origin):
            what = f"{name_text(owner)} lies outside the zone {name_text(content.origin)}"
            yield warning(records[0].place, f"{what}; it is left out")
        elif kind == rdtype.SOA and owner != content.origin:
            allowed = f"allowed is one, at {name_text(content.origin)}"
            yield error(records[0].place, f"found an SOA record at {name_text(owner)}, {allowed}")


def one_of_a_kind(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 10.1, RFC 6672 section 2.4: one SOA, CNAME or DNAME at a name."""
    for (owner, kind), records in content.sets.items():
        first = records[0]
        for other in records[1:]:
            if kind in _SINGLE and other.canonical != first.canonical:
                what = f"found a second {type_text(kind)} record at {name_text(owner)}"
                yield error(other.place, f"{what}, allowed is one; the first is at {first.place}")


def aliases_stand_alone(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 10.1."""
    for (owner, kind), records in content.sets.items():
        others = sorted(content.index.at(owner).keys() - _BESIDE_CNAME)
        if kind != rdtype.CNAME or not others:
            continue
        first = {each: content.sets[owner, each][0] for each in others}
        latest = max((records[0], *first.values()), key=lambda record: record.place.line)
        what = f"{name_text(owner)} has a CNAME record beside {', '.join(map(type_text, others))}"
        where = ", ".join(f"{type_text(each)} at {record.place}" for each, record in first.items())
        allowed = "allowed is nothing else (RFC 2181 section 10.1)"
        yield error(latest.place, f"{what}, {allowed}: CNAME at {records[0].place}, {where}")


def sets_fit_messages(content: Content) -> Iterator[Finding]:
    """RFC 1035 section 4.2.2: a set goes in one message, whole."""
    for (owner, kind), records in content.sets.items():
        octets = answer_octets(tuple({record.canonical: record.rdata for record in records}.values()))
        if octets > ANSWER_MAX_OCTETS:
            what = f"{name_text(owner)} {type_text(kind)} takes {octets} octets in a message"
            yield error(records[0].place, f"{what}, allowed are {ANSWER_MAX_OCTETS}")


def nothing_below_dnames(content: Content) -> Iterator[Finding]:
    """RFC 6672 section 2.4."""
    redirected = {record.owner: record for record in content.of_type(rdtype.DNAME)}
    if not redirected:
        return
    for (owner, kind), records in content.sets.items():
        if not is_within(owner, content.origin) or kind in {rdtype.NSEC3, rdtype.RRSIG}:
            continue
        above = next((name for name in content.index.ancestors(owner) if name in redirected), None)
        if above is not None:
            what = f"{name_text(owner)} {type_text(kind)} stands below the DNAME record of {name_text(above)}"
            yield error(
                records[0].place, f"{what} at {redirected[above].place}, allowed is nothing (RFC 6672 section 2.4)"
            )


def no_duplicates(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 5: a set holds each record once."""
    for (owner, kind), records in content.sets.items():
        seen = {records[0].canonical: records[0]}
        for record in records[1:]:
            if (first := seen.setdefault(record.canonical, record)) is not record:
                what = f"{name_text(owner)} {type_text(kind)} is written twice"
                yield warning(record.place, f"{what}, first at {first.place}; one counts")


def one_ttl_a_set(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 5.2; each signature has the TTL of what it covers."""
    for (owner, kind), records in content.sets.items():
        lowest_s = min(record.ttl_s for record in records)
        for record in records if kind != rdtype.RRSIG else ():
            if record.ttl_s != records[0].ttl_s:
                what = f"{name_text(owner)} {type_text(kind)} has the TTL {record.ttl_s}"
                why = f"the records of one set must have the same TTL; {lowest_s} counts for all (RFC 2181 section 5.2)"
                yield warning(record.place, f"{what}, and {records[0].ttl_s} at {records[0].place}: {why}")


def no_odd_wildcards(content: Content) -> Iterator[Finding]:
    """RFC 4592 sections 4.2 and 4.4: what these records mean at a wildcard is not defined."""
    for (owner, kind), records in content.sets.items():
        if owner.startswith(STAR) and kind in _NOT_AT_WILDCARDS:
            what = f"found {type_text(kind)} at the wildcard {name_text(owner)}"
            yield warning(records[0].place, f"{what}, whose meaning no standard defines (RFC 4592 section 4)")
