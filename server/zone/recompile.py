"""The next version of a zone from the last one and what changed.

Owns which names a change reaches: those it makes exist or vanish, those it hides or uncovers, and those whose answers hang on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from server import rdtype
from server.zone.compile import Draft, Step, Zone, answered_types, compile_zone
from server.zone.index import STAR, Changes, ZoneIndex, parent
from server.zone.table import Patch
from zonemodel.name import WireName, is_within


def recompile(zone: Zone, index: ZoneIndex, changes: Changes) -> Zone:
    """Return the next version of a zone, whose content is `index`; work is in proportion to the answers that change.

    The dependencies go over to the new version. The old one can serve on; where it does because the new one failed, a version that is
    made from it is compiled whole.
    """
    step = step_from(zone, changes)
    if zone.dependencies.version != zone.table.version:
        return replace(compile_zone(index), step=step)
    touched = set(_touched(zone, index, changes))
    touched |= {
        parent(name) for name in touched if name.startswith(STAR) and name != index.origin
    }  # they carry its cover
    if len(touched) * 2 > len(index.children):
        return replace(compile_zone(index), step=step)
    draft = Draft(index, zone.table.answers.edit(), zone.table.nodes.edit())
    for name in touched:
        draft.drop(name, zone.index)
        if index.exists(name):
            draft.put(name)
    names = {name: tuple(answered_types(index, name)) if name in draft.nodes else () for name in touched}
    return replace(draft.finish(zone.dependencies, Patch(zone.table.version, names)), step=step)


def step_from(zone: Zone, changes: Changes) -> Step:
    """Return how the version that these changes lead to comes from this one."""
    return Step(zone.index.at(zone.index.origin)[rdtype.SOA], frozenset(changes.owners))


def reach(zone: Zone, changes: Changes, most: int) -> int:
    """Return how many names the changes may have compiled again for hanging on others, or some number past `most`."""
    found, dependencies = 0, zone.dependencies
    for owner, types in _types_by_owner(changes).items():
        if owner != zone.index.origin:
            found += len(dependencies.under(owner))
        elif types != {rdtype.SOA}:
            found += len(dependencies.on(owner))
        if found > most:
            break
    return found


def _touched(zone: Zone, index: ZoneIndex, changes: Changes) -> Iterator[WireName]:
    for owner, types in _types_by_owner(changes).items():
        yield owner
        if owner == index.origin and types == {rdtype.SOA}:
            continue  # nothing finished holds another name's SOA
        scopes = set(_scopes(zone.index, index, owner))
        for scope in scopes:
            yield scope
            yield from zone.dependencies.under(scope)
        if not scopes:
            yield from zone.dependencies.on(owner)
        hides = owner in zone.index.barriers or owner in index.barriers
        if hides and not types.isdisjoint({rdtype.NS, rdtype.DNAME}):
            yield from _names_under(owner, zone.index, index)


def _scopes(before: ZoneIndex, after: ZoneIndex, owner: WireName) -> Iterator[WireName]:
    """Yield the names at and below which a question may now find another node, beside the plain content of `owner`."""
    if owner in before.barriers or owner in after.barriers:
        yield owner
    name = owner
    while True:
        moved = before.exists(name) != after.exists(name)
        if name.startswith(STAR) and name != after.origin and (moved or name == owner):
            yield parent(name)
        if not moved:
            return
        yield name
        name = parent(name)


def _names_under(owner: WireName, before: ZoneIndex, after: ZoneIndex) -> Iterator[WireName]:
    for index in (before, after):
        if index.children.get(owner):
            yield from (name for name in index.children if is_within(name, owner))


def _types_by_owner(changes: Changes) -> dict[WireName, set[int]]:
    types: defaultdict[WireName, set[int]] = defaultdict(set)
    for rrset in changes.put:
        types[rrset.owner].add(rrset.rdtype)
    for owner, type_ in changes.removed:
        types[owner].add(type_)
    return types
