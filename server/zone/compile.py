"""From a zone's content to its table: every answer that does not depend on the spelling of the question, finished.

What an answer contains is decided in `lookup`, how it is written in `encode`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Final

from server import rdtype
from server.zone.dependency import Dependencies
from server.zone.encode import encode_plain, encode_reply, encode_soa
from server.zone.index import STAR, ZoneIndex, parent, wildcard_of
from server.zone.lookup import NXDOMAIN, Reply, resolve
from server.zone.persistent import Edit, Persistent
from server.zone.proof import Proofs
from server.zone.table import AUTHORITATIVE, COMPUTED, Answer, Cover, Node, Patch, ZoneTable, heads
from zonemodel.name import WireName
from zonemodel.rrset import RRset

NODATA_ANSWER: Final = Answer(heads(AUTHORITATIVE, 0, 1, 0), b"", soa=True)
NXDOMAIN_ANSWER: Final = Answer(heads(AUTHORITATIVE | NXDOMAIN, 0, 1, 0), b"", soa=True)

_NOTHING_BELOW: Final = Cover(b"", NXDOMAIN_ANSWER)
_COMPUTED_BELOW: Final = Cover(b"", COMPUTED)
PLAIN_NODE: Final = Node(NODATA_ANSWER, _NOTHING_BELOW)
"""The node of a name with nothing but its own sets, and nothing below it."""
_NOBODY: Final = WireName(b"")
_LINKED: Final = frozenset({rdtype.NS, rdtype.CNAME, rdtype.DNAME})
"""Types whose presence makes a name's answers draw on other names or hide them."""

_MOST_DRAWN_OCTETS: Final = 4096
"""What the finished answers of a name may hold of other names' records; those that hold more are worked out when they are asked for.

A set can take 64 KiB and any number of aliases and zone cuts can draw on it, so that a small file could fill any memory.
"""

_BESIDE_DATA_OCTETS: Final = 12
"""What a record takes beside its data where its owner is a pointer."""


@dataclass(frozen=True, slots=True)
class Step:
    """How a version came from the one before: `since` is that one's SOA set, the very object, `owners` all whose sets can differ."""

    since: RRset
    owners: frozenset[WireName]


@dataclass(frozen=True, slots=True)
class Zone:
    """One version of a zone: its content, what is served of it, and which answers hang on which other names.

    `proofs` are what a signed zone adds to its answers, None for a zone without signatures. `step` tells what changed, None in a
    version that was compiled from nothing.
    """

    index: ZoneIndex
    table: ZoneTable
    dependencies: Dependencies
    proofs: Proofs | None = None
    step: Step | None = field(default=None, compare=False)


def compile_zone(index: ZoneIndex) -> Zone:
    """Compile the whole of a zone's content, which `judge` has accepted."""
    names = len(index.children)
    draft = Draft(index, Persistent[bytes, Answer].sized(names).edit(), Persistent[bytes, Node].sized(names).edit())
    for name in index.children:
        draft.put(name)
    return draft.finish(Dependencies(index.origin))


@dataclass(frozen=True, slots=True)
class Draft:
    """A table in the making; nothing outside of it changes until `finish`."""

    index: ZoneIndex
    answers: Edit[bytes, Answer]
    nodes: Edit[bytes, Node]
    consulted: dict[WireName, frozenset[WireName]] = field(default_factory=dict)

    def finish(self, dependencies: Dependencies, patch: Patch | None = None) -> Zone:
        """Return the zone; `dependencies` take on what its answers hang on, `patch` tells what its table was made from."""
        soa = encode_soa(self.index.at(self.index.origin)[rdtype.SOA])
        for name, consulted in self.consulted.items():
            dependencies.replace(name, consulted)
        proofs = Proofs.of(self.index)
        answers, nodes = self.answers.finish(), self.nodes.finish()
        table = ZoneTable(self.index.origin, answers, nodes, soa, signed=proofs is not None, patch=patch)
        dependencies.version = table.version
        return Zone(self.index, table, dependencies, proofs)

    def put(self, name: WireName) -> None:
        """Compile one existing name; a name that a zone cut or DNAME hides gets no node (RFC 2181 section 6.1)."""
        if self.index.barrier_above(name) is not None:
            return
        sets = self.index.at(name)
        if _LINKED.isdisjoint(sets):
            for each in sets.values():
                self.answers[_key(name, each.rdtype)] = encode_plain(each, *_known(name))
            below = _below(self.index, name)
            self.nodes[name] = PLAIN_NODE if below is _NOTHING_BELOW else Node(NODATA_ANSWER, below)
            return
        consulted: set[WireName] = set()
        for type_, answer in _answers(self.index, name, consulted):
            self.answers[_key(name, type_)] = answer
        other = resolve(self.index, name, rdtype.NONE)
        consulted.update(other.consulted)
        self.nodes[name] = Node(_finished(other, name), _below(self.index, name))
        self.consulted[name] = frozenset(consulted)

    def drop(self, name: WireName, before: ZoneIndex) -> None:
        """Take out what `put` made of a name in the version `before`."""
        if self.nodes.pop(name, None) is not None:
            for type_ in answered_types(before, name):
                self.answers.pop(_key(name, type_), None)
            self.consulted[name] = frozenset()


def answered_types(index: ZoneIndex, name: WireName) -> Iterator[int]:
    """Yield the types that have an answer of their own at a name that is not hidden."""
    if index.is_cut(name):
        yield rdtype.DS
        return
    sets = index.at(name)
    yield from sets
    if rdtype.CNAME in sets:
        end = resolve(index, name, rdtype.NONE)
        further = {rdtype.DS} if end.authority else set(end.final)  # at a zone cut DS alone is not referred
        yield from further - sets.keys()


def _answers(index: ZoneIndex, name: WireName, consulted: set[WireName]) -> Iterator[tuple[int, Answer]]:
    """Yield a name's answers by type. Those that draw least on other names are finished, as long as there is room for them together."""
    replies = ((type_, resolve(index, name, type_)) for type_ in answered_types(index, name))
    measured = [(_drawn_octets(reply, name), type_, reply) for type_, reply in replies]
    drawn_octets = 0
    for octets, type_, reply in sorted(measured, key=itemgetter(0, 1)):
        consulted.update(reply.consulted)
        drawn_octets += octets
        is_of_apex = type_ == rdtype.SOA and name != index.origin  # finished, it would have to change with every serial
        yield type_, COMPUTED if is_of_apex or drawn_octets > _MOST_DRAWN_OCTETS else _finished(reply, name)


def _drawn_octets(reply: Reply, name: WireName) -> int:
    """Return what a reply holds of other names than this one, uncompressed; past the bound it may be any number that is past it."""
    drawn = [rrset for rrset in chain(reply.answer, reply.authority, reply.glue, reply.extra) if rrset.owner != name]
    most_records = _MOST_DRAWN_OCTETS // _BESIDE_DATA_OCTETS
    return sum(len(each.rdatas) * _BESIDE_DATA_OCTETS + sum(map(len, each.rdatas[:most_records])) for each in drawn)


def _below(index: ZoneIndex, name: WireName) -> Cover:
    """Return what covers the missing names below an existing one (RFC 1034 section 4.3.2 steps 3b and 3c, RFC 4592)."""
    if name in index.barriers:
        if index.is_cut(name):
            referral = resolve(index, name, rdtype.NONE)
            if _drawn_octets(referral, name) > _MOST_DRAWN_OCTETS:
                return _COMPUTED_BELOW
            return Cover(b"", encode_reply(referral, _NOBODY, name, exact=False))
        return _COMPUTED_BELOW
    wildcard = wildcard_of(name)
    if not index.exists(wildcard):
        return _NOTHING_BELOW
    if wildcard in index.barriers:
        return _COMPUTED_BELOW
    return Cover(wildcard, _finished(resolve(index, wildcard, rdtype.NONE), wildcard))


def _finished(reply: Reply, name: WireName) -> Answer:
    """Encode a reply for the question names that get it, unless it draws much on other names.

    A wildcard alias that leads to names it covers itself depends on the question: a circle ends where it closes.
    """
    if _drawn_octets(reply, name) > _MOST_DRAWN_OCTETS:
        return COMPUTED
    known, exact = _known(name)
    if not exact and reply.answer:
        uses = sum(each.rdatas is reply.answer[0].rdatas for each in reply.answer)
        if uses > 1 or name in reply.consulted:
            return COMPUTED
    return encode_reply(reply, name, known, exact=exact)


def _known(name: WireName) -> tuple[WireName, bool]:
    """Return what is certain of the question names that get a name's answers: all of it, or a wildcard's parent."""
    return (parent(name), False) if name.startswith(STAR) else (name, True)


def _key(name: WireName, type_: int) -> bytes:
    return name + type_.to_bytes(2, "big")
