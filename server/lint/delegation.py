"""Rules about name servers: those of the zone, those of its children, and what stands below a delegation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from server import rdtype
from server.lint.content import Content
from server.lint.finding import Finding, error, warning
from server.text import name_text, type_text
from zonemodel.name import WireName, is_within
from zonemodel.zone_reader import Record

_ADDRESSES: Final = frozenset({rdtype.A, rdtype.AAAA})
_AT_A_CUT: Final = frozenset({rdtype.NS, rdtype.DS, rdtype.RRSIG, rdtype.NSEC})
_FEWEST_SERVERS: Final = 2


def apex_has_name_servers(content: Content) -> Iterator[Finding]:
    """RFC 1034 section 4.2.1; two of them so that one may fail (RFC 2182 section 5)."""
    soa = content.sets.get((content.origin, rdtype.SOA))
    if soa is None:
        return
    servers = content.sets.get((content.origin, rdtype.NS), ())
    if not servers:
        yield error(
            soa[0].place,
            f"{name_text(content.origin)} has no NS records, at least one is needed (RFC 1034 section 4.2.1)",
        )
    elif len({record.canonical for record in servers}) < _FEWEST_SERVERS:
        what = f"{name_text(content.origin)} has one name server"
        yield warning(
            servers[0].place, f"{what}, two or more are needed to outlive the fault of one (RFC 2182 section 5)"
        )


def name_servers_are_no_aliases(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 10.3."""
    for record in content.of_type(rdtype.NS):
        target = WireName(record.rdata.lower())
        if rdtype.CNAME in content.index.at(target):
            alias = content.sets[target, rdtype.CNAME][0]
            what = f"the name server {name_text(target)} of {name_text(record.owner)} is an alias, at {alias.place}"
            yield error(record.place, f"{what}; allowed is a name with addresses of its own (RFC 2181 section 10.3)")


def name_servers_have_addresses(content: Content) -> Iterator[Finding]:
    """RFC 1034 section 4.2.2, RFC 9471 section 3: nobody but this zone can tell addresses within it."""
    for record in content.of_type(rdtype.NS):
        target = WireName(record.rdata.lower())
        if not is_within(target, content.origin) or rdtype.CNAME in content.index.at(target):
            continue
        if content.has_address(target):
            continue
        owner = name_text(record.owner)
        if record.owner != content.origin and is_within(target, record.owner):
            needed = f"glue is needed: A or AAAA records of {name_text(target)} (RFC 9471 section 3)"
            yield error(
                record.place,
                f"{owner} is delegated to {name_text(target)}, which lies in it and has no address here; {needed}",
            )
        elif _cut_above(content, target) is None:
            yield error(
                record.place, f"the name server {name_text(target)} of {owner} lies in this zone and has no address"
            )
        else:
            what = f"the name server {name_text(target)} of {owner} lies in another child of this zone"
            yield warning(record.place, f"{what}; without its address here resolvers have a step more to make")


def nothing_hidden_by_delegations(content: Content) -> Iterator[Finding]:
    """RFC 2181 section 6.1: below a delegation this zone has no say, but for the addresses of name servers."""
    servers = {WireName(record.rdata.lower()) for record in content.of_type(rdtype.NS)}
    for (owner, kind), records in content.sets.items():
        if not is_within(owner, content.origin):
            continue
        cut = _cut_above(content, owner)
        is_glue = kind in _ADDRESSES and owner in servers
        if cut is None or is_glue or (owner == cut and kind in _AT_A_CUT) or kind == rdtype.NSEC3:
            continue
        place = content.sets[cut, rdtype.NS][0].place
        what = f"{name_text(owner)} {type_text(kind)} is hidden by the delegation of {name_text(cut)} at {place}"
        yield warning(
            records[0].place, f"{what}; only addresses of name servers are of use there (RFC 2181 section 6.1)"
        )


def ds_stands_at_delegations(content: Content) -> Iterator[Finding]:
    """RFC 4035 section 2.4."""
    told: set[WireName] = set()
    for record in content.of_type(rdtype.DS):
        if record.owner not in told and not _is_delegation(content, record):
            told.add(record.owner)
            what = f"{name_text(record.owner)} has a DS record and is not delegated"
            yield error(record.place, f"{what}; allowed is DS beside the NS records of a child (RFC 4035 section 2.4)")


def _is_delegation(content: Content, record: Record) -> bool:
    return record.owner != content.origin and rdtype.NS in content.index.at(record.owner)


def _cut_above(content: Content, name: WireName) -> WireName | None:
    """Return the topmost delegation at or above a name."""
    found = None
    for each in (name, *content.index.ancestors(name)):
        if content.index.is_cut(each):
            found = each
    return found
