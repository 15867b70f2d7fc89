"""Rules about the names that records point to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from server import rdtype
from server.lint.content import Content
from server.lint.finding import Finding, error, warning
from server.text import name_text, type_text
from zonemodel.name import WireName, wire_labels
from zonemodel.zone_reader import Record

_TARGET_AT: Final = {
    rdtype.NS: 0,
    rdtype.CNAME: 0,
    rdtype.PTR: 0,
    rdtype.DNAME: 0,
    rdtype.MX: 2,
    rdtype.SRV: 6,
}
"""By type: where the name begins that the record points to, and that ends the record data."""

_HOSTS: Final = {rdtype.MX: "RFC 2181 section 10.3", rdtype.SRV: "RFC 2782"}
"""Types that point to a name with addresses of its own."""

_IPV4_LABELS: Final = 4


def hosts_are_no_aliases(content: Content) -> Iterator[Finding]:
    """The target of MX and SRV must not be an alias."""
    for record, target in _targets(content, *_HOSTS):
        if rdtype.CNAME in content.index.at(target):
            alias = content.sets[target, rdtype.CNAME][0]
            yield warning(
                record.place,
                f"{_about(record, target)} is an alias, at {alias.place}, allowed is none ({_HOSTS[record.rdtype]})",
            )


def hosts_have_addresses(content: Content) -> Iterator[Finding]:
    """The target of MX and SRV, where it lies in the zone, has an address."""
    for record, target in _targets(content, *_HOSTS):
        if content.holds(target) and not content.has_address(target) and rdtype.CNAME not in content.index.at(target):
            yield warning(record.place, f"{_about(record, target)} lies in this zone and has no address")


def aliases_lead_somewhere(content: Content) -> Iterator[Finding]:
    """An alias inside the zone leads to a name that exists, in a bounded number of steps."""
    for record, target in _targets(content, rdtype.CNAME):
        chain, name = [record.owner], target
        while content.holds(name) and name not in chain and (following := _next(content, name)) is not None:
            chain.append(name)
            name = following
        if name in chain:
            if min(chain) == record.owner:  # told once for all names of a circle
                yield error(
                    record.place, f"{' -> '.join(map(name_text, [*chain, name]))}: a circle of aliases leads nowhere"
                )
        elif content.holds(name) and not _exists(content, name):
            via = "" if name == target else f" by way of {name_text(target)}"
            yield warning(
                record.place, f"{name_text(record.owner)} is an alias{via} of {name_text(name)}, which does not exist"
            )


def names_are_complete(content: Content) -> Iterator[Finding]:
    """A name that ends in the origin twice, or is an address in it, lacks the dot at its end or is none."""
    labels = wire_labels(content.origin)
    if not labels:
        return
    for record, target in _targets(content, *_TARGET_AT):
        found = wire_labels(target)
        if found[-2 * len(labels) :] == labels * 2:
            shorter = name_text(target[: -len(content.origin)] + b"\0")
            yield warning(
                record.place,
                f"{_about(record, target)} ends in the zone's name twice; if {shorter} is meant, a dot at its end is missing",
            )
        elif len(found) == len(labels) + _IPV4_LABELS and all(label.isdigit() for label in found[:_IPV4_LABELS]):
            address = b".".join(found[:_IPV4_LABELS]).decode()
            yield warning(
                record.place,
                f"{type_text(record.rdtype)} takes a name, and found is the address {address}, read as {name_text(target)}",
            )


def _targets(content: Content, *types: int) -> Iterator[tuple[Record, WireName]]:
    for record in content.of_type(*types):
        yield record, WireName(record.rdata[_TARGET_AT[record.rdtype] :].lower())


def _next(content: Content, name: WireName) -> WireName | None:
    alias = content.index.at(name).get(rdtype.CNAME)
    return None if alias is None else WireName(alias.rdatas[0].lower())


def _exists(content: Content, name: WireName) -> bool:
    index = content.index
    return index.exists(name) or index.exists(WireName(b"\x01*" + index.closest_encloser(name)))


def _about(record: Record, target: WireName) -> str:
    return f"the {type_text(record.rdtype)} target {name_text(target)} of {name_text(record.owner)}"
