"""The next version of a zone from the last one and what changed.

Owns which names a change reaches: those it makes exist or vanish, those it hides or uncovers, and those whose answers hang on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from server import rdtype
from server.zone.compile import Draft, Step, Zone, answered_types, compile_zone
from server.zone.index import STAR, Changes, ZoneIndex, parent
from server.zone.table import Patch
from zonemodel.name import WireName, is_within

_LOOKED_THROUGH: Final = 150
"""How many names are looked through in the time that one takes that hangs on others and is compiled, at least."""


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


def reach(zone: Zone, index: ZoneIndex, changes: Changes, most: int) -> int:
    """Return how much work the changes make beside their own names, in names to compile, or some number past `most`.

    Those are names that hang on others and, where the names below one come to be hidden or found, all that are looked through for them.
    """
    found, dependencies = 0, zone.dependencies
    for owner, types in _types_by_owner(changes).items():
        if owner != zone.index.origin:
            found += len(dependencies.under(owner))
        elif types != {rdtype.SOA}:
            found += len(dependencies.on(owner))
        if _hides_or_uncovers(owner, zone.index, index):
            found += len(index.children) // _LOOKED_THROUGH
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
        if _hides_or_uncovers(owner, zone.index, index):
            yield from (name for name in index.children if is_within(name, owner))


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


def _hides_or_uncovers(owner: WireName, before: ZoneIndex, after: ZoneIndex) -> bool:
    """Say whether names below `owner` that both versions have are hidden in one of them only; the others are among what changed."""
    moved = (owner in before.barriers) != (owner in after.barriers)
    return moved and bool(before.children.get(owner)) and bool(after.children.get(owner))


def _types_by_owner(changes: Changes) -> dict[WireName, set[int]]:
    types: defaultdict[WireName, set[int]] = defaultdict(set)
    for rrset in changes.put:
        types[rrset.owner].add(rrset.rdtype)
    for owner, type_ in changes.removed:
        types[owner].add(type_)
    return types
