"""Denial of existence by NSEC records (RFC 4034 section 4, RFC 4035 section 3.1.3).

Owns the chain in canonical order. Never makes a record.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from server import rdtype
from server.zone.index import ZoneIndex, wildcard_of
from zonemodel.name import WireName, wire_labels
from zonemodel.rrset import RRset


@dataclass(frozen=True, slots=True)
class NsecChain:
    """NSEC sets by the canonical order of their owners (RFC 4034 section 6.1); `order` holds the sort key of each."""

    index: ZoneIndex
    order: tuple[list[bytes], ...]
    sets: tuple[RRset, ...]

    @classmethod
    def of(cls, index: ZoneIndex) -> NsecChain:
        found = [(_order(owner), sets[rdtype.NSEC]) for owner, sets in index.sets.items() if rdtype.NSEC in sets]
        found.sort(key=lambda pair: pair[0])
        return cls(index, tuple(key for key, _ in found), tuple(rrset for _, rrset in found))

    def no_name(self, name: WireName) -> Iterator[RRset]:
        yield from self._at_or_before(name)
        yield from self._at_or_before(wildcard_of(self.index.closest_encloser(name)))

    def no_type(self, name: WireName) -> Iterator[RRset]:
        yield from self._at_or_before(
            name
        )  # an empty non-terminal has no record: the one before it shows that nothing stands there

    def no_type_at_wildcard(self, name: WireName) -> Iterator[RRset]:
        yield from self._at_or_before(name)
        yield from self._at_or_before(wildcard_of(self.index.closest_encloser(name)))

    def no_closer_name(self, name: WireName) -> Iterator[RRset]:
        yield from self._at_or_before(name)

    def _at_or_before(self, name: WireName) -> Iterator[RRset]:
        place = bisect_right(self.order, _order(name))
        if place:
            yield self.sets[place - 1]


def _order(name: WireName) -> list[bytes]:
    return [label.lower() for label in reversed(wire_labels(name))]
