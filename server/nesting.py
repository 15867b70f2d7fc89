"""Zones that lie within other zones, both served here: what an alias of the outer one leads to in the inner one is for the inner to say.

Owns which finished answers of an outer zone do not hold then; the responder works these out. Never answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from server import rdtype
from server.zone.compile import Zone, answered_types
from server.zone.index import STAR, parent
from server.zone.table import COMPUTED, Cover, Node, Patch, ZoneTable
from zonemodel.name import WireName

_COMPUTED_BELOW = Cover(b"", COMPUTED)


class Nesting:
    """The apexes of all zones, by every name above them."""

    def __init__(self) -> None:
        self._below: dict[WireName, set[WireName]] = {}

    def add(self, apex: WireName) -> None:
        for above in _above(apex):
            self._below.setdefault(above, set()).add(apex)

    def discard(self, apex: WireName) -> None:
        for above in _above(apex):
            apexes = self._below.get(above, set())
            apexes.discard(apex)
            if not apexes:
                self._below.pop(above, None)

    def inner(self, apex: WireName) -> Collection[WireName]:
        """Return the apexes below this one."""
        return self._below.get(apex, ())

    def outer(self, apex: WireName) -> Iterator[WireName]:
        """Yield the names above this apex, of which some may be apexes."""
        return _above(apex)


def aliases_into(zone: Zone, inner: Collection[WireName]) -> frozenset[WireName]:
    """Return the owners of aliases whose answers hang on names of inner zones."""
    owners = {owner for apex in inner for owner in zone.dependencies.under(apex)}
    return frozenset(owner for owner in owners if rdtype.CNAME in zone.index.at(owner))


def without_answers(zone: Zone, owners: Collection[WireName], put_right: Collection[WireName]) -> ZoneTable:
    """Return the zone's table with the aliases of `owners` left to the responder, and those of `put_right` as they were compiled."""
    answers, nodes = zone.table.answers.edit(), zone.table.nodes.edit()
    for owner in owners:
        if (node := nodes.get(owner)) is None:
            continue  # hidden by a zone cut or DNAME
        for type_ in answered_types(zone.index, owner):
            if type_ != rdtype.CNAME:
                answers[owner + type_.to_bytes(2, "big")] = COMPUTED
        nodes[owner] = Node(COMPUTED, node.below)
        if owner.startswith(STAR) and (covering := nodes.get(parent(owner))) is not None:
            nodes[parent(owner)] = Node(covering.other, _COMPUTED_BELOW)
    touched = {name for owner in (*owners, *put_right) for name in _carriers(owner)}
    names = {name: tuple(answered_types(zone.index, name)) if name in nodes else () for name in touched}
    patch = Patch(zone.table.version, names)
    return replace(zone.table, answers=answers.finish(), nodes=nodes.finish(), patch=patch)


def _carriers(owner: WireName) -> Iterator[WireName]:
    """Yield the names whose nodes hold what an owner's alias gives."""
    yield owner
    if owner.startswith(STAR):
        yield parent(owner)


def _above(apex: WireName) -> Iterator[WireName]:
    while len(apex) > 1:
        apex = parent(apex)
        yield apex
