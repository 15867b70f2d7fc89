"""A zone from its master file by way of native code, which keeps plain names to itself: Python has no object for each of them.

Owns how such a zone looks to the rest of the server: as any other. A plain name's answers are its own sets and nothing else; what is to be
decided about all other names is decided where it always is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import dns.exception
import dns.name
import dns.rdatatype

from server._native import Bulk, BulkDraft
from server.zone.compile import PLAIN_NODE, Draft, Zone
from server.zone.dependency import Dependencies
from server.zone.encode import encode_plain
from server.zone.index import Changes, Sets, ZoneIndex, is_barrier
from server.zone.judge import UnservableError, judge_changes
from server.zone.persistent import Layered, LayeredEdit, Persistent
from server.zone.table import Answer, Node
from zonemodel.name import WireName
from zonemodel.rrset import RRset
from zonemodel.zone_error import Place, ZoneFileError
from zonemodel.zone_reader import ZoneReader, parse_origin

Value = TypeVar("Value")


def read_bulk(path: Path, origin: str | None) -> tuple[Bulk, Zone] | None:
    """Return a zone and its plain names; None for a file, or a zone, that has to be read in the ordinary way."""
    try:
        apex = None if origin is None else parse_origin(origin, Place(str(path), 1)).to_digestable()
    except ZoneFileError:
        return None
    bulk = Bulk.read(path, apex, _read_data)
    return None if bulk is None else _judged(bulk)


def gather_bulk(
    origin: WireName, made: Iterable[RRset], pages: Iterable[tuple[bytes, ...]], read: Callable[[bytes], RRset]
) -> tuple[Bulk, Zone] | None:
    """Return the zone of a snapshot: of the sets that are `made`, and those of canonical lines, which `read` understands all.

    None for a zone that has to be compiled in the ordinary way. Raises ValueError as `read` does.
    """
    draft = BulkDraft(origin)
    for rrset in made:
        draft.add_set(rrset.owner, rrset.rdtype, rrset.ttl_s, rrset.rdatas)
    for lines in pages:
        for rrset in map(read, draft.add_lines(lines)):
            draft.add_set(rrset.owner, rrset.rdtype, rrset.ttl_s, rrset.rdatas)
    bulk = draft.finish()
    return None if bulk is None else _judged(bulk)


def _judged(bulk: Bulk) -> tuple[Bulk, Zone] | None:
    try:
        return bulk, _zone(bulk)
    except UnservableError:
        return None  # what is said about it names its source, which is not known here


def _read_data(rdtype: int, text: str, origin: bytes) -> bytes | None:
    """Return record data that are more than plain words; None where there is more to say about them than their octets."""
    kind = dns.rdatatype.to_text(dns.rdatatype.RdataType.make(rdtype))
    name = dns.name.from_wire(origin, 0)[0]
    try:
        (record,) = ZoneReader(f". 0 IN {kind}{text}\n", "", name, None).records()
    except (ZoneFileError, ValueError, dns.exception.DNSException):
        return None
    has_names = rdtype in _NAMES_IN_DATA
    return record.rdata if has_names or record.rdata == record.canonical else None


_NAMES_IN_DATA = frozenset({2, 5, 6, 12, 15, 33})
"""Types whose data native code compares as RFC 4034 section 6.2 has them."""


def _zone(bulk: Bulk) -> Zone:
    others: dict[WireName, dict[int, RRset]] = {}
    for owner, rdtype, ttl_s, rdatas in bulk.others():
        others.setdefault(WireName(owner), {})[rdtype] = RRset(WireName(owner), rdtype, ttl_s, rdatas)
    origin = WireName(bulk.apex)
    children = dict.fromkeys(others, 0) | {WireName(name): count for name, count in bulk.children()}
    barriers = {owner: None for owner, sets in others.items() if is_barrier(owner, sets, origin)}
    plain = _Plain(bulk)
    index = ZoneIndex(
        origin, Layered.over(_PlainSets(bulk), others), _with_counts(plain, children), Persistent.of(barriers)
    )
    judge_changes(index, Changes(tuple(rrset for sets in others.values() for rrset in sets.values())))
    draft = Draft(index, LayeredEdit(_empty(_PlainAnswers(bulk))), LayeredEdit(_empty(_PlainNodes(bulk))))
    for name in children:
        if not bulk.has(name):
            draft.put(name)
    return draft.finish(Dependencies(origin))


def _with_counts(plain: _Plain, children: Mapping[WireName, int]) -> Layered[WireName, int]:
    """Return how many names are directly below each; plain names that have some stand in both."""
    later = Layered.over(plain, {}).edit()
    later.update(children)
    return later.finish()


def bulk_of(index: ZoneIndex) -> Bulk | None:
    """Return the plain names that a zone rests on, None for a zone that rests on none."""
    if isinstance(index.sets, Layered) and isinstance(index.sets.base, _PlainSets):
        return index.sets.base.bulk
    return None


def _empty(base: Mapping[bytes, Value]) -> Layered[bytes, Value]:
    return Layered.over(base, {})


class _PlainNames(Mapping[WireName, Value]):
    """A map over the plain names."""

    def __init__(self, bulk: Bulk) -> None:
        self.bulk = self._bulk = bulk

    def __contains__(self, name: object) -> bool:
        return isinstance(name, bytes) and self._bulk.has(name)

    def __iter__(self) -> Iterator[WireName]:
        return _names(self._bulk)

    def __len__(self) -> int:
        return len(self._bulk)


class _Plain(_PlainNames[int]):
    """The number of names directly below most of them."""

    def __getitem__(self, name: WireName) -> int:
        if not self._bulk.has(name):
            raise KeyError(name)
        return 0


class _PlainSets(_PlainNames[Sets]):
    """Their sets by type."""

    def __getitem__(self, name: WireName) -> Sets:
        found = self._bulk.sets(name)
        if found is None:
            raise KeyError(name)
        return {rdtype: RRset(name, rdtype, ttl_s, rdatas) for rdtype, ttl_s, rdatas in found}


class _PlainNodes(Mapping[bytes, Node]):
    """Their nodes."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk

    def __getitem__(self, name: bytes) -> Node:
        if not self._bulk.has(name):
            raise KeyError(name)
        return PLAIN_NODE

    def __iter__(self) -> Iterator[bytes]:
        return _names(self._bulk)

    def __len__(self) -> int:
        return len(self._bulk)


class _PlainAnswers(Mapping[bytes, Answer]):
    """Their answers by name and type, joined."""

    def __init__(self, bulk: Bulk) -> None:
        self._bulk = bulk

    def __getitem__(self, key: bytes) -> Answer:
        name, rdtype = WireName(key[:-2]), int.from_bytes(key[-2:], "big")
        for each, ttl_s, rdatas in self._bulk.sets(name) or ():
            if each == rdtype:
                return encode_plain(RRset(name, rdtype, ttl_s, rdatas), name, exact=True)
        raise KeyError(key)

    def __iter__(self) -> Iterator[bytes]:
        for name in _names(self._bulk):
            yield from (name + rdtype.to_bytes(2, "big") for rdtype, _, _ in self._bulk.sets(name) or ())

    def __len__(self) -> int:
        return self._bulk.answers


def _names(bulk: Bulk) -> Iterator[WireName]:
    segment = 0
    while (names := bulk.names(segment)) is not None:
        yield from map(WireName, names)
        segment += 1
