"""The end of an owner: its claims are taken back, or become another owner's, and the records that they are about stay.

Owns the order in which claims change hands, so that at any time somebody has them. Never deletes a record, nor a marker that does not tell
its record, and ends nothing in a zone that does not tell everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ownership.backends.protocol import Backend
from ownership.entry import Entry, claim, sorted_entries
from ownership.error import AmbiguousError, FormatError, UnknownOwnerError
from ownership.legacy import LegacyMarker, Progress, delete_markers, plan_migration, untold
from ownership.member import Member
from ownership.naming import OwnerID, quoted
from ownership.publish import Publisher
from ownership.state import ZoneState, read_state
from zonemodel.name import Fqdn


@dataclass(frozen=True, slots=True)
class Release:
    """What the end of an owner is: the claims of its snapshot and its `markers` go, `unclear` ones stay."""

    entries: tuple[Entry, ...]
    markers: tuple[LegacyMarker, ...]
    unclear: tuple[LegacyMarker, ...]

    @property
    def claims(self) -> tuple[Entry, ...]:
        """Everything that the owner claims as far as it is told, sorted."""
        marked = (marker.claim for marker in self.markers if isinstance(marker.claim, Entry))
        return sorted_entries((*self.entries, *marked))


@dataclass(frozen=True, slots=True)
class Released:
    """An owner's end; `left` says why it is not complete, empty when it is."""

    release: Release
    deleted: int = 0
    left: str = ""


def plan_release(state: ZoneState, markers: Iterable[LegacyMarker], owner: OwnerID) -> Release:
    """Return what ending an owner does. Raises AmbiguousError when the zone allows no deletions, UnknownOwnerError."""
    if not state.may_delete:
        raise AmbiguousError(f"nothing is ended in {state.zone} while {state.faults[0]}")
    found = tuple(markers)
    snapshot, marked = state.snapshot_of(owner), plan_migration(found, owner)
    if snapshot is None and not marked.moved and not marked.unclear:
        others = ", ".join(map(quoted, sorted({*state.owners, *(marker.owner for marker in found)})))
        raise UnknownOwnerError(f"{state.zone} tells nothing of the owner {quoted(owner)}, but of {others or 'none'}")
    return Release(snapshot.entries if snapshot is not None else (), marked.moved, marked.unclear)


async def rehearse_release(
    backend: Backend, owner: OwnerID, markers: Iterable[LegacyMarker], to: OwnerID | None = None
) -> Release:
    """Return what `release` would do; raises what it raises before it writes anything."""
    return plan_release(await read_state(backend, _owners(owner, to)), markers, owner)


async def release(
    backend: Backend,
    owner: OwnerID,
    markers: Sequence[LegacyMarker],
    to: OwnerID | None = None,
    progress: Progress = untold,
) -> Released:
    """End an owner: have `to` claim what it claims, if anybody shall, then withdraw its claims, then delete its markers.

    Raises what `plan_release` and the methods of `Publisher` raise; calling again is always safe.
    """
    if to == owner:
        raise FormatError(f"found {quoted(owner)} twice, allowed is to hand claims to another owner")
    owners = _owners(owner, to)
    state = await read_state(backend, owners)
    plan = plan_release(state, markers, owner)
    if to is not None:
        await Publisher(backend, to).claim(_new_claims(plan, state, to))
        state = await read_state(backend, owners)
        if _new_claims(plan, state, to):
            return Released(plan, left=f"{quoted(to)} lost claims again before those of {quoted(owner)} were withdrawn")
    commit = await Publisher(backend, owner).withdraw(plan.entries)
    if commit.clean_up.left:
        return Released(plan, left=commit.clean_up.left)
    state = await read_state(backend, owners)
    if not state.may_delete:
        return Released(plan, left=f"nothing is deleted in {state.zone} while {state.faults[0]}")
    return Released(plan, *await delete_markers(backend, plan.markers, progress))


def _owners(owner: OwnerID, to: OwnerID | None) -> tuple[OwnerID, ...]:
    return (owner,) if to is None else (owner, to)


def _new_claims(plan: Release, state: ZoneState, to: OwnerID) -> list[Entry]:
    """Return the claims that another owner has to make so that it claims all of these records."""
    snapshot = state.snapshot_of(to)
    known = {_identity(entry) for entry in snapshot.entries} if snapshot is not None else set[tuple[Fqdn, Member]]()
    return [
        claim(to, entry.fqdn, entry.marker.member, dict(entry.marker.metadata))
        for entry in plan.claims
        if _identity(entry) not in known
    ]


def _identity(entry: Entry) -> tuple[Fqdn, Member]:
    return entry.fqdn, entry.marker.member.identity
