"""Whether a zone's content can be served at all.

Owns the rules that RFCs set for a zone as a whole. Never reads a source; whoever does says where the content came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from server import rdtype
from server.text import name_text, type_text
from server.zone.index import Changes, Sets, ZoneIndex
from zonemodel.name import WireName, is_within
from zonemodel.rrset import ANSWER_MAX_OCTETS, ZoneData, answer_octets

Rule = Callable[[ZoneIndex, WireName, Sets], str | None]

_BESIDE_CNAME: Final = frozenset({rdtype.CNAME, rdtype.RRSIG, rdtype.NSEC})
MOST_ITERATIONS: Final = 2500

_SINGLE: Final = (rdtype.SOA, rdtype.CNAME, rdtype.DNAME)


class UnservableError(ValueError):
    """Content that no zone can have; the message names the record set and the rule."""


def judge_zone(zone: ZoneData) -> ZoneIndex:
    """Return a zone's content arranged for lookup; raises UnservableError."""
    for rrset in zone.rrsets:
        if not is_within(rrset.owner, zone.origin):
            raise UnservableError(f"{name_text(rrset.owner)} lies outside the zone {name_text(zone.origin)}")
    index = ZoneIndex.of(zone)
    if rdtype.SOA not in index.at(index.origin):
        raise UnservableError(
            f"the zone {name_text(index.origin)} has no SOA record at its apex (RFC 1035 section 5.2)"
        )
    _judge(index, index.sets)
    return index


def judge_changes(index: ZoneIndex, changes: Changes) -> None:
    """Judge the next version of a zone that was judged before, in proportion to what changed; raises UnservableError."""
    if any(rrset.rdtype == rdtype.DNAME for rrset in changes.put):
        _judge(index, index.sets)  # any name may now stand below a DNAME
    else:
        _judge(index, {owner: index.at(owner) for owner in changes.owners})


def _judge(index: ZoneIndex, sets: Mapping[WireName, Sets]) -> None:
    if (objection := next(_objections(index, sets), None)) is not None:
        raise UnservableError(objection)


def _objections(index: ZoneIndex, sets: Mapping[WireName, Sets]) -> Iterator[str]:
    for owner, found in sets.items():
        for rule in _RULES:
            if objection := rule(index, owner, found):
                yield objection


def _alone_where_alias(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    """RFC 2181 section 10.1."""
    if rdtype.CNAME not in found:
        return None
    others = sorted(found.keys() - _BESIDE_CNAME)
    if not others:
        return None
    return f"{name_text(owner)} has a CNAME record beside {type_text(others[0])}, allowed is nothing else (RFC 2181 section 10.1)"


def _single(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    for type_ in _SINGLE:
        if type_ in found and len(found[type_].rdatas) > 1:
            return f"{name_text(owner)} has {len(found[type_].rdatas)} {type_text(type_)} records, allowed is one"
    return None


def _nothing_below_dname(index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    """RFC 6672 section 2.4."""
    if not index.barriers or not found.keys() - {rdtype.NSEC3, rdtype.RRSIG}:
        return None
    for above in index.ancestors(owner):
        if rdtype.DNAME in index.at(above):
            return f"{name_text(owner)} stands below the DNAME record of {name_text(above)}, allowed is nothing (RFC 6672 section 2.4)"
    return None


def _fits_a_message(_index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    for type_, rrset in found.items():
        octets = answer_octets(rrset.rdatas)
        if octets > ANSWER_MAX_OCTETS:
            return f"{name_text(owner)} {type_text(type_)} takes {octets} octets in a message, allowed are {ANSWER_MAX_OCTETS}"
    return None


def _few_iterations(index: ZoneIndex, owner: WireName, found: Sets) -> str | None:
    """RFC 5155 section 10.3: each denial costs so many hashes."""
    for parameters in found[rdtype.NSEC3PARAM].rdatas if owner == index.origin and rdtype.NSEC3PARAM in found else ():
        if (iterations := int.from_bytes(parameters[2:4], "big")) > MOST_ITERATIONS:
            return f"{name_text(owner)} has {iterations} NSEC3 iterations, allowed are {MOST_ITERATIONS} (RFC 5155 section 10.3)"
    return None


_RULES: Final[tuple[Rule, ...]] = (_alone_where_alias, _single, _nothing_below_dname, _fits_a_message, _few_iterations)
