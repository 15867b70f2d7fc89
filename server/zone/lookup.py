"""The algorithm of RFC 1034 section 4.3.2 over one zone: which RRsets answer a question.

The only place that decides what a reply contains; the compiler finishes its results ahead of time and the responder asks it
for the rest. Never encodes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from server import rdtype
from server.zone.index import NO_SETS, Sets, ZoneIndex, wildcard_of
from zonemodel.name import MAX_NAME_OCTETS, WireName, is_within
from zonemodel.rrset import RRset

NOERROR: Final = 0
NXDOMAIN: Final = 3
YXDOMAIN: Final = 6

MAX_CHAIN: Final = 20
"""How many CNAME and DNAME steps one answer follows; a longer chain is answered up to there."""

_MOST_OCTETS: Final = 65535
_LEAST_RECORD_OCTETS: Final = 11
"""What a record takes at least: an owner of one octet, and type, class, TTL and length (RFC 1035 section 4.1.3)."""


@dataclass(slots=True)
class Reply:
    """The RRsets of a reply by section. `glue` is required in the additional section (RFC 9471), `extra` may be left out.

    `denial` asks for the zone's SOA in the authority section. `chain` are the names of the zone that were looked up, the
    question name first; `consulted` are all names, beside that one, whose content or absence shaped the reply; `final` is what
    the last name of the chain holds, by type. Of addresses, each section has all or more than `most_octets` hold.
    """

    most_octets: int = _MOST_OCTETS
    rcode: int = NOERROR
    authoritative: bool = True
    denial: bool = False
    answer: list[RRset] = field(default_factory=list)
    authority: list[RRset] = field(default_factory=list)
    glue: list[RRset] = field(default_factory=list)
    extra: list[RRset] = field(default_factory=list)
    chain: list[WireName] = field(default_factory=list)
    consulted: list[WireName] = field(default_factory=list)
    final: Sets = field(default_factory=dict)


def resolve(
    index: ZoneIndex,
    question: WireName,
    qtype: int,
    is_elsewhere: Callable[[WireName, int], bool] | None = None,
    most_octets: int = _MOST_OCTETS,
) -> Reply:
    """Return the reply to a question inside the zone; `question` is lowercase.

    A message may take up to `most_octets`: no more addresses of name servers are looked up than show that not all of them fit.

    A chain of aliases is followed while it stays in the zone and out of those that `is_elsewhere` tells of, which lie within; a loop or
    a chain past MAX_CHAIN ends where it is found.
    """
    reply = Reply(most_octets)
    name: WireName | None = question
    while name is not None and name not in reply.chain and len(reply.chain) < MAX_CHAIN:
        reply.chain.append(name)
        name = _step(index, name, qtype, reply)
        if name is not None:
            reply.consulted.append(name)
            if not is_within(name, index.origin) or (is_elsewhere is not None and is_elsewhere(name, qtype)):
                break
    return reply


def _step(index: ZoneIndex, name: WireName, qtype: int, reply: Reply) -> WireName | None:
    """Add what one name of the chain gives; return the name to go on with, if any."""
    barrier = index.barrier_above(name)
    if barrier is None and qtype != rdtype.DS and index.is_cut(name):
        barrier = name
    if barrier is not None:
        if index.is_cut(barrier):
            _refer(index, barrier, reply)
            return None
        return _redirect(index, barrier, name, qtype, reply)
    if index.exists(name):
        return _match(index, name, index.at(name), qtype, reply)
    wildcard = wildcard_of(index.closest_encloser(name))
    if index.exists(wildcard):
        return _match(index, name, index.at(wildcard), qtype, reply)
    reply.rcode, reply.denial = NXDOMAIN, True
    return None


def _match(index: ZoneIndex, name: WireName, sets: Sets, qtype: int, reply: Reply) -> WireName | None:
    """Answer from the sets of the name or of the wildcard that covers it (RFC 1034 section 4.3.2 steps 3a and 3c)."""
    reply.final = sets
    if qtype == rdtype.ANY and sets:
        reply.answer += (_owned_by(name, part) for each in sets.values() for part in _parts(each, sets))
        return None
    found = sets.get(qtype)
    if found is not None:
        for part in _parts(found, sets):
            owned = _owned_by(name, part)
            if owned not in reply.answer:  # a DNAME may lead to its own owner
                reply.answer.append(owned)
        if qtype == rdtype.NS:
            reply.extra += _addresses(index, found, _targets(found, reply), reply)
        return None
    alias = sets.get(rdtype.CNAME)
    if alias is None:
        reply.denial = True
        return None
    reply.answer.append(_owned_by(name, alias))
    return WireName(alias.rdatas[0].lower())


def _parts(found: RRset, sets: Sets) -> Iterable[RRset]:
    """Return a set as it is, signatures by TTL: each has that of the set that it covers (RFC 4034 section 3)."""
    if found.rdtype != rdtype.RRSIG:
        return (found,)
    by_ttl: dict[int, list[bytes]] = {}
    for rdata in found.rdatas:
        covered = sets.get(int.from_bytes(rdata[:2], "big"), found)
        by_ttl.setdefault(covered.ttl_s, []).append(rdata)
    return (RRset(found.owner, found.rdtype, ttl_s, tuple(rdatas)) for ttl_s, rdatas in by_ttl.items())


def _refer(index: ZoneIndex, cut: WireName, reply: Reply) -> None:
    """Point to the child zone (RFC 1034 section 4.3.2 step 3b); glue inside the child is required, other glue helps."""
    if not reply.answer:
        reply.authoritative = False
    servers = index.at(cut)[rdtype.NS]
    reply.authority.append(servers)
    reply.final = NO_SETS
    targets = _targets(servers, reply)
    reply.glue += _addresses(index, servers, (name for name in targets if is_within(name, cut)), reply)
    reply.extra += _addresses(index, servers, (name for name in targets if not is_within(name, cut)), reply)


def _redirect(index: ZoneIndex, owner: WireName, name: WireName, qtype: int, reply: Reply) -> WireName | None:
    """Substitute a DNAME (RFC 6672 section 3.2)."""
    dname = index.at(owner)[rdtype.DNAME]
    if dname not in reply.answer:
        reply.answer.append(dname)
    target = WireName(name[: -len(owner)] + dname.rdatas[0])
    if len(target) > MAX_NAME_OCTETS:
        reply.rcode = YXDOMAIN
        return None
    alias = RRset(name, rdtype.CNAME, dname.ttl_s, (target,))
    reply.answer.append(alias)
    return None if qtype in {rdtype.CNAME, rdtype.ANY} else WireName(target.lower())


def negative_soa(soa: RRset) -> RRset:
    """Return the SOA set as denials carry it: its TTL is the lower of its own and its MINIMUM field (RFC 2308 section 3)."""
    minimum_s = int.from_bytes(soa.rdatas[0][-4:], "big")
    return RRset(soa.owner, soa.rdtype, min(soa.ttl_s, minimum_s), soa.rdatas)


def _targets(servers: RRset, reply: Reply) -> list[WireName]:
    targets = [WireName(rdata.lower()) for rdata in servers.rdatas]
    reply.consulted += targets
    return targets


def _addresses(index: ZoneIndex, servers: RRset, targets: Iterable[WireName], reply: Reply) -> Iterator[RRset]:
    """Yield the address sets that the zone itself holds for targets of an NS set, occluded ones and wildcards' included.

    It ends with the set that takes the reply past its octets: what is left out then could not be sent with the others.
    """
    room = reply.most_octets // _LEAST_RECORD_OCTETS - len(servers.rdatas)
    for target in targets:
        if room < 0:
            return
        sets = sets_for(index, target)
        for type_ in (rdtype.A, rdtype.AAAA):
            if type_ in sets and (found := _owned_by(target, sets[type_])) not in reply.answer:
                yield found
                room -= len(found.rdatas)


def sets_for(index: ZoneIndex, target: WireName) -> Sets:
    """Return what a name holds, or the wildcard that covers it, whatever a zone cut hides."""
    if index.exists(target) or not is_within(target, index.origin):
        return index.at(target)
    return index.at(wildcard_of(index.closest_encloser(target)))


def _owned_by(name: WireName, found: RRset) -> RRset:
    """Give a wildcard's set the name that was asked for (RFC 4592 section 2.2)."""
    return found if found.owner == name else RRset(name, found.rdtype, found.ttl_s, found.rdatas)
