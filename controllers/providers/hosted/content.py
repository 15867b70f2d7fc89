"""What a zone's snapshot holds, and what that means for each item of the ledger.

Pure. Owns the rule that in doubt a record stays served as it last was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from controllers.providers.hosted.item import Item, Items, Line, RecordKey
from zonemodel.name import OwnerName
from zonemodel.record import RecordType

Hosts = frozenset[OwnerName]
"""Owners of the addresses that the zone's name servers have by its class."""
Lines = Mapping[RecordKey, Line]


class Fate(Enum):
    """What becomes of an item in a snapshot."""

    SERVED = auto()  # its line stands in the snapshot
    DEFERRED = auto()  # its line must not be brought in; what was served of it before stays
    FAULTY = auto()  # it has no line; what was served of it before stays
    MISPLACED = auto()  # it is an alias where a name server has its addresses; what was served of it before stays
    SHADOWED = auto()  # another item has the same owner name and type
    LEAVING = auto()  # its deletion was asked for


@dataclass(frozen=True, slots=True)
class Content:
    """The record sets of a snapshot, and the fate of each item in the order of the parts."""

    lines: Lines
    fates: tuple[tuple[Fate, ...], ...]


def needs_base(parts: Iterable[Items], frozen: bool, hosts: Hosts = frozenset()) -> bool:
    """Say whether the content depends on what was served before."""
    return frozen or any(_is_held(item, hosts) for items in parts for item in items)


def choose(parts: Iterable[Items], base: Lines, frozen: bool, hosts: Hosts = frozenset()) -> Content:
    """Return the content of the next snapshot; `base` is that of the last one.

    `frozen` brings nothing in and changes nothing, for a zone whose class cannot be followed; deletions go on.
    """
    lines: dict[RecordKey, Line] = {}
    owners: set[RecordKey] = set()
    fates = tuple(tuple(_place(item, base, frozen, hosts, lines, owners) for item in items) for items in parts)
    return Content(lines, fates)


def as_written(parts: Iterable[Items]) -> Lines:
    """Return the content as if every item were free to be served as the ledger has it."""
    found: dict[RecordKey, Line] = {}
    for item in _staying(parts):
        if item.line is not None:
            found.setdefault(item.record_key, item.line)
    return found


def _place(
    item: Item, base: Lines, frozen: bool, hosts: Hosts, lines: dict[RecordKey, Line], owners: set[RecordKey]
) -> Fate:
    if item.source.deletion_requested:
        return Fate.LEAVING
    if item.record_key in owners:
        return Fate.SHADOWED
    owners.add(item.record_key)
    line = item.line
    if frozen or _is_held(item, hosts):
        line = base.get(item.record_key)
    if line is not None:
        lines[item.record_key] = line
    if item.line is None:
        return Fate.FAULTY
    if _is_misplaced(item, hosts):
        return Fate.MISPLACED
    return Fate.SERVED if line == item.line else Fate.DEFERRED


def _is_held(item: Item, hosts: Hosts) -> bool:
    if item.source.deletion_requested:
        return False
    return not item.source.allowed or item.line is None or _is_misplaced(item, hosts)


def _is_misplaced(item: Item, hosts: Hosts) -> bool:
    """RFC 2181 section 10.3: the name of a name server is no alias."""
    return item.record_key.type is RecordType.CNAME and item.record_key.name in hosts


def _staying(parts: Iterable[Items]) -> Iterator[Item]:
    return (item for items in parts for item in items if not item.source.deletion_requested)
