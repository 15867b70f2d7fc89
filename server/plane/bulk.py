"""A zone that native code has read or gathered and, for the most part, finished: Python has no object for each of its names.

Owns how such a zone looks to the rest of the server: as any other. What native code does not finish is decided where it always is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

import dns.exception
import dns.name
import dns.rdatatype
import structlog

from server._native import Bulk, BulkDraft
from server.zone.compile import PLAIN_NODE, Draft, Zone
from server.zone.dependency import Dependencies
from server.zone.index import Changes, Sets, ZoneIndex, is_barrier
from server.zone.judge import UnservableError, judge_changes
from server.zone.lookup import NXDOMAIN
from server.zone.persistent import Layered
from server.zone.table import AUTHORITATIVE, COMPUTED, Answer, Cover, Node, Trim, heads
from zonemodel.name import WireName
from zonemodel.rrset import RRset
from zonemodel.zone_error import Place, ZoneFileError
from zonemodel.zone_reader import ZoneReader, parse_origin

if TYPE_CHECKING:
    from server._native import AnswerParts

Key = TypeVar("Key")
Value = TypeVar("Value")

log = structlog.get_logger(__name__)

_TURN: Final = 10_000
"""Records that are handed over before other threads get their turn."""


def read_bulk(path: Path, origin: str | None) -> Zone | None:
    """Return a zone; None for a file, or a zone, that has to be read in the ordinary way."""
    try:
        apex = None if origin is None else parse_origin(origin, Place(str(path), 1)).to_digestable()
    except ZoneFileError:
        return None
    bulk = Bulk.read(path, apex, _read_data)
    return None if bulk is None else _judged(bulk)


def gather_bulk(
    origin: WireName, made: Iterable[RRset], pages: Iterable[bytes], read: Callable[[bytes], RRset]
) -> Zone | None:
    """Return the zone of a snapshot: of the sets that are `made`, and those of canonical lines, which `read` understands all.

    None for a zone that has to be compiled in the ordinary way. Raises ValueError as `read` does.
    """
    draft = BulkDraft(origin)
    for rrset in made:
        draft.add_set(rrset.owner, rrset.rdtype, rrset.ttl_s, rrset.rdatas)
    for page in pages:
        for rrset in map(read, draft.add_lines(page)):
            draft.add_set(rrset.owner, rrset.rdtype, rrset.ttl_s, rrset.rdatas)
    bulk = draft.finish()
    return None if bulk is None else _judged(bulk)


def collect_bulk(origin: WireName, records: Sequence[tuple[WireName, int, int, bytes]]) -> Zone | None:
    """Return the zone of records in any order; None for a zone that has to be compiled in the ordinary way."""
    draft = BulkDraft(origin)
    for start in range(0, len(records), _TURN):
        if not draft.add_records(records[start : start + _TURN]):
            return None
    bulk = draft.finish()
    return None if bulk is None else _judged(bulk)


def _judged(bulk: Bulk) -> Zone | None:
    try:
        return _zone(bulk)
    except UnservableError:
        return None  # what is said about it names its source, which is not known here
    except RuntimeError as error:  # a fault of native code
        log.error("native code failed on a zone, Python compiles it", reason=str(error))
        return None


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
    bare = [WireName(name) for name in bulk.bare()]
    children = {name: bulk.children(name) or 0 for name in others}
    barriers = {owner: None for owner, sets in others.items() if is_barrier(owner, sets, origin)}
    index = ZoneIndex(
        origin,
        Layered.over(_OwnSets(bulk), others),
        Layered.over(_Children(bulk), children),
        Layered.over(_Barriers(bulk), barriers),
    )
    judge_changes(index, Changes(tuple(rrset for sets in others.values() for rrset in sets.values())))
    draft = Draft(index, Layered.over(_Answers(bulk), {}).edit(), Layered.over(_Nodes(bulk), {}).edit())
    for name in (*others, *bare):
        draft.put(name)
    return draft.finish(Dependencies(origin, partial(_dependents, bulk)))


def _dependents(bulk: Bulk, name: WireName, exactly: bool) -> Iterator[WireName]:
    return map(WireName, bulk.dependents(name, exactly))


def bulk_of(found: Mapping[Key, Value]) -> Bulk | None:
    """Return what native code holds of a zone, by one of the zone's maps; None for a zone that does not rest on it."""
    return found.base.bulk if isinstance(found, Layered) and isinstance(found.base, _Names) else None


class _Names(Mapping[Key, Value]):
    """A map over the names of one kind."""

    kind: ClassVar[int]

    def __init__(self, bulk: Bulk) -> None:
        self.bulk = bulk

    def names(self) -> Iterator[WireName]:
        number = 0
        while (names := self.bulk.names(self.kind, number)) is not None:
            yield from map(WireName, names)
            number += 1


class _Nodes(_Names[bytes, Node]):
    """The nodes of names that are finished."""

    kind = 0

    def __getitem__(self, name: bytes) -> Node:
        found = self.bulk.node(name)
        if found is None:
            raise KeyError(name)
        other, below, source = found
        if not source and (other, below) == (_NO_DATA, _NO_NAME):
            return PLAIN_NODE
        return Node(_answer(other), Cover(source, _answer(below)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, bytes) and self.bulk.has(name)

    def __iter__(self) -> Iterator[bytes]:
        return self.names()

    def __len__(self) -> int:
        return self.bulk.sizes[0]


class _Answers(_Names[bytes, Answer]):
    """Their answers by name and type, joined."""

    kind = 0

    def __getitem__(self, key: bytes) -> Answer:
        found = self.bulk.answer(key[:-2], int.from_bytes(key[-2:], "big"))
        if found is None:
            raise KeyError(key)
        return _answer(found)

    def __iter__(self) -> Iterator[bytes]:
        for name in self.names():
            yield from (name + rdtype.to_bytes(2, "big") for rdtype in self.bulk.types(name))

    def __len__(self) -> int:
        return self.bulk.sizes[1]


class _OwnSets(_Names[WireName, Sets]):
    """The sets of names by type."""

    kind = 1

    def __getitem__(self, name: WireName) -> Sets:
        found = self.bulk.sets(name)
        if found is None:
            raise KeyError(name)
        return {rdtype: RRset(name, rdtype, ttl_s, rdatas) for rdtype, ttl_s, rdatas in found}

    def __iter__(self) -> Iterator[WireName]:
        return self.names()

    def __len__(self) -> int:
        return self.bulk.sizes[2]


class _Children(_Names[WireName, int]):
    """How many names exist directly below those that exist."""

    kind = 2

    def __getitem__(self, name: WireName) -> int:
        found = self.bulk.children(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[WireName]:
        return self.names()

    def __len__(self) -> int:
        return self.bulk.sizes[3]


class _Barriers(_Names[WireName, None]):
    """The names that hide what lies below them."""

    kind = 3

    def __getitem__(self, name: WireName) -> None:
        if not self.bulk.is_barrier(name):
            raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, bytes) and self.bulk.is_barrier(name)

    def __iter__(self) -> Iterator[WireName]:
        return self.names()

    def __len__(self) -> int:
        return self.bulk.sizes[4]


_NO_DATA: Final[AnswerParts] = (AUTHORITATIVE, (0, 1, 0), True, b"", [], [])
_NO_NAME: Final[AnswerParts] = (AUTHORITATIVE | NXDOMAIN, (0, 1, 0), True, b"", [], [])
_COMPUTED: Final[AnswerParts] = (0, (0, 0, 0), False, b"", [], [])


def _answer(parts: AnswerParts) -> Answer:
    if parts == _COMPUTED:
        return COMPUTED
    flags, counts, soa, body, moving, trims = parts
    last = len(body)
    step = sum(1 << 8 * (last - place - 2) for place in moving)
    shorter = tuple(Trim(size, heads(flags, *each)) for size, each in trims)
    return Answer(heads(flags, *counts), body, step, soa, shorter)
