"""A zone's RRsets by owner, with the names that exist because something exists below them.

Owns existence: empty non-terminals (RFC 8020), the closest encloser (RFC 4592 section 3.3.1), zone cuts and DNAME owners with
what they hide (RFC 2181 section 6, RFC 6672 section 2.4). Never builds an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

from server import rdtype
from server.zone.persistent import Persistent
from zonemodel.name import WireName
from zonemodel.rrset import RRset, ZoneData

Sets = Mapping[int, RRset]
"""The RRsets of one owner, by type."""

NO_SETS: Final[Sets] = {}
STAR: Final = b"\x01*"


def parent(name: WireName) -> WireName:
    """Return the name without its leftmost label; the root has no parent and must not be asked for one."""
    return WireName(name[name[0] + 1 :])


def wildcard_of(name: WireName) -> WireName:
    """Return the wildcard owner directly below `name`."""
    return WireName(STAR + name)


@dataclass(frozen=True, slots=True)
class Changes:
    """RRsets that appear or get another content, and (owner, type) pairs that go."""

    put: tuple[RRset, ...]
    removed: tuple[tuple[WireName, int], ...] = ()

    @property
    def owners(self) -> set[WireName]:
        return {rrset.owner for rrset in self.put} | {owner for owner, _ in self.removed}


@dataclass(frozen=True, slots=True)
class ZoneIndex:
    """One version of a zone's content.

    `children` counts the existing names directly below each existing name: its keys are all names that exist, from the apex
    down. `barriers` are the owners that hide what lies below them: zone cuts and DNAME owners.
    """

    origin: WireName
    sets: Persistent[WireName, Sets]
    children: Persistent[WireName, int]
    barriers: Persistent[WireName, None]

    @classmethod
    def of(cls, zone: ZoneData) -> ZoneIndex:
        """Arrange a whole zone."""
        sets: dict[WireName, dict[int, RRset]] = {}
        for rrset in zone.rrsets:
            sets.setdefault(rrset.owner, {})[rrset.rdtype] = rrset
        children: dict[WireName, int] = {zone.origin: 0}
        for owner, found in sets.items():
            if _makes_exist(found):
                _add_name(children, owner)
        barriers = {owner: None for owner, found in sets.items() if is_barrier(owner, found, zone.origin)}
        return cls(zone.origin, Persistent.of(sets), Persistent.of(children), Persistent.of(barriers))

    def with_changes(self, changes: Changes) -> ZoneIndex:
        """Return the next version; this one stays as it is."""
        sets, children, barriers = self.sets.edit(), self.children.edit(), self.barriers.edit()
        edited: dict[WireName, dict[int, RRset]] = {owner: dict(self.at(owner)) for owner in changes.owners}
        for owner, type_ in changes.removed:
            edited[owner].pop(type_, None)
        for rrset in changes.put:
            edited[rrset.owner][rrset.rdtype] = rrset
        for owner, found in edited.items():
            if found:
                sets[owner] = found
            else:
                sets.pop(owner, None)
            if _makes_exist(found):
                _add_name(children, owner)
            else:
                _drop_name(children, owner, sets, self.origin)
            if is_barrier(owner, found, self.origin):
                barriers[owner] = None
            else:
                barriers.pop(owner, None)
        return ZoneIndex(self.origin, sets.finish(), children.finish(), barriers.finish())

    def at(self, name: WireName) -> Sets:
        """Return the RRsets of an owner, none when it has none."""
        return self.sets.get(name, NO_SETS)

    def exists(self, name: WireName) -> bool:
        return name in self.children

    def is_cut(self, name: WireName) -> bool:
        """Say whether a child zone begins at `name`."""
        return name in self.barriers and name != self.origin and rdtype.NS in self.sets[name]

    def ancestors(self, name: WireName) -> Iterator[WireName]:
        """Yield the names above `name` up to the apex, nearest first."""
        while name != self.origin:
            name = parent(name)
            yield name

    def barrier_above(self, name: WireName) -> WireName | None:
        """Return the topmost zone cut or DNAME owner strictly above `name`, or None when nothing hides it."""
        if not self.barriers:
            return None
        found = None
        for above in self.ancestors(name):
            if above in self.barriers:
                found = above
        return found

    def closest_encloser(self, name: WireName) -> WireName:
        """Return the longest existing name above `name`, which lies in the zone."""
        return next(above for above in self.ancestors(name) if above in self.children)


def is_barrier(owner: WireName, found: Sets, origin: WireName) -> bool:
    return rdtype.DNAME in found or (rdtype.NS in found and owner != origin)


def _makes_exist(found: Sets) -> bool:
    """Say whether sets make their owner a name of the zone; hashed owners of NSEC3 records are none (RFC 5155 section 7.2.8)."""
    return not found.keys() <= {rdtype.NSEC3, rdtype.RRSIG} or (bool(found) and rdtype.NSEC3 not in found)


def _add_name(children: MutableMapping[WireName, int], name: WireName) -> None:
    """Make `name` exist, and so every name between it and the apex, which is in `children` already."""
    if name in children:
        return
    children[name] = 0
    while (above := parent(name)) not in children:
        children[above] = 1
        name = above
    children[above] += 1


def _drop_name(
    children: MutableMapping[WireName, int], name: WireName, sets: Mapping[WireName, Sets], origin: WireName
) -> None:
    """End the existence of `name` unless something stands below it, and of the names above that existed for it alone."""
    while children.get(name) == 0 and not _makes_exist(sets.get(name, NO_SETS)) and name != origin:
        del children[name]
        name = parent(name)
        children[name] -= 1
