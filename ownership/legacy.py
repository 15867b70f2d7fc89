"""Markers that stand in the zone as TXT records of their own: into snapshots and back.

Owns what is moved and the order that keeps every claim told by one form or the other at all times. Never moves another owner's
markers, and never deletes a marker that does not tell its record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ownership.backends.protocol import Backend, LegacyDiscovery, StoredText
from ownership.cleanup import CleanUp, remove_manifest
from ownership.entry import Entry, read_entry, sorted_entries
from ownership.error import AmbiguousError, BackendError, ConflictError, FormatError
from ownership.marker import Marker, UnclearMarker, parse_marker
from ownership.naming import OwnerID, marker_name, quoted
from ownership.publish import Commit, Publisher
from ownership.state import ZoneState, read_state
from ownership.write import put, remove
from zonemodel.name import Fqdn, relative_to, to_wire

ATTEMPTS: Final = 4
"""How often a marker is written while others change the markers of the same name."""

Progress = Callable[[str, int, int], None]
"""Told of what is done, how much of it, and how much there is."""


@dataclass(frozen=True, slots=True)
class LegacyMarker:
    """A marker in the zone; `claim` is what it says, or why that cannot be told."""

    text: StoredText
    claim: Entry | UnclearMarker

    @property
    def owner(self) -> OwnerID:
        return self.claim.owner


@dataclass(frozen=True, slots=True)
class Migration:
    """What moving an owner's markers does: `moved` become entries, `unclear` stay where they are."""

    moved: tuple[LegacyMarker, ...]
    unclear: tuple[LegacyMarker, ...]


@dataclass(frozen=True, slots=True)
class Migrated:
    """A migration that was made; `left` says why markers still stand that should not, empty when none do."""

    migration: Migration
    commit: Commit
    deleted: int
    left: str = ""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restoration that was made; `left` says why compact state still stands, empty when none does."""

    entries: tuple[Entry, ...]
    left: str = ""


def untold(_what: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def read_markers(texts: Iterable[StoredText]) -> tuple[LegacyMarker, ...]:
    """Return the markers among TXT values, sorted; other values are none of our business."""
    return tuple(found for text in sorted(set(texts)) if (found := _marker(text)) is not None)


async def markers_of(backend: Backend, names: Iterable[Fqdn]) -> tuple[LegacyMarker, ...]:
    """Return the markers about these names, which need not be all of the zone; raises BackendError."""
    texts: list[StoredText] = []
    for fqdn in dict.fromkeys(names):
        name = Fqdn(marker_name(fqdn))
        if fits_zone(name, backend.zone):
            texts += [StoredText(name, value) for value in await backend.read_txt(name)]
    return read_markers(texts)


def plan_migration(markers: Iterable[LegacyMarker], owner: OwnerID) -> Migration:
    """Return what moving the owner's markers would do."""
    own = [marker for marker in markers if marker.owner == owner]
    moved = tuple(marker for marker in own if isinstance(marker.claim, Entry))
    return Migration(moved, tuple(marker for marker in own if not isinstance(marker.claim, Entry)))


async def migrate(
    backend: Backend, owner: OwnerID, markers: Sequence[LegacyMarker], progress: Progress = untold
) -> Migrated:
    """Copy the owner's markers into its snapshot, read that back, and only then delete exactly these markers.

    Raises what `Publisher.claim` raises, and then no marker is deleted.
    """
    migration = plan_migration(markers, owner)
    entries = [marker.claim for marker in migration.moved if isinstance(marker.claim, Entry)]
    commit = await Publisher(backend, owner).claim(entries) if entries else Commit(None)
    state = await read_state(backend, (owner,))
    if not state.may_delete:
        return Migrated(migration, commit, 0, f"nothing is deleted in {state.zone} while {state.faults[0]}")
    snapshot = state.snapshot_of(owner)
    told = frozenset(snapshot.entries) if snapshot is not None else frozenset()
    if not told.issuperset(entries):
        return Migrated(migration, commit, 0, "the snapshot lost claims again before their markers were deleted")
    return Migrated(migration, commit, *await delete_markers(backend, migration.moved, progress))


async def delete_markers(
    backend: Backend, markers: Sequence[LegacyMarker], progress: Progress = untold
) -> tuple[int, str]:
    """Delete exactly these markers; returns how many were, and why others are left, or nothing."""
    for done, marker in enumerate(markers):
        try:
            await remove(backend, *marker.text)
        except BackendError as error:
            return done, str(error)
        progress("markers deleted", done + 1, len(markers))
    return len(markers), ""


def plan_restoration(state: ZoneState, owner: OwnerID) -> tuple[StoredText, ...]:
    """Return the markers that restoring writes, present ones too.

    Raises AmbiguousError when the zone does not allow deletions, and FormatError for a claim that no record of the zone can mark.
    """
    if not state.may_delete:
        raise AmbiguousError(f"nothing is deleted in {state.zone} while {state.faults[0]}")
    snapshot = state.snapshot_of(owner)
    entries = snapshot.entries if snapshot is not None else ()
    for entry in entries:
        if not fits_zone(Fqdn(entry.name), state.zone):
            raise FormatError(f"found the claim {quoted(entry.name)}, for which {state.zone} has no room for a marker")
    return tuple(StoredText(Fqdn(entry.name), entry.value.encode()) for entry in entries)


async def restore(backend: Backend, owner: OwnerID, progress: Progress = untold) -> Restored:
    """Write a marker for each of the owner's claims, read all of them back, and only then remove the compact state.

    Raises BackendError, AmbiguousError and FormatError while the compact state still stands.
    """
    state = await read_state(backend, (owner,))
    texts = plan_restoration(state, owner)
    snapshot = state.snapshot_of(owner)
    if snapshot is None:
        return Restored(())
    for done, text in enumerate(texts):
        await _put_marker(backend, text)
        progress("markers written", done + 1, len(texts))
    if isinstance(backend, LegacyDiscovery):
        await backend.restore_legacy_discovery(snapshot.entries)
    if missing := await _missing(backend, texts):
        raise ConflictError(f"{missing[0].name}: a marker that was written is gone again")
    # An empty snapshot makes what was there a predecessor, which clean-up removes however often it is interrupted.
    commit = await Publisher(backend, owner).withdraw(snapshot.entries)
    return Restored(sorted_entries(snapshot.entries), await _remove_empty(backend, owner, commit.clean_up))


async def _remove_empty(backend: Backend, owner: OwnerID, cleaned: CleanUp) -> str:
    """Delete the last manifest, of a snapshot without claims; returns why it still stands, or nothing."""
    if cleaned.left:
        return cleaned.left
    state = await read_state(backend, (owner,))
    snapshot = state.snapshot_of(owner)
    if snapshot is None:
        return ""
    if snapshot.entries or not state.may_delete:
        return f"{quoted(owner)} has claims again, or nothing may be deleted in {state.zone}"
    try:
        await remove_manifest(backend, state, snapshot.sealed)
    except BackendError as error:
        return str(error)
    return ""


async def _put_marker(backend: Backend, text: StoredText) -> None:
    for attempt in range(ATTEMPTS):
        there = await backend.read_txt(text.name)
        if text.value in there:
            return
        try:
            await put(backend, text.name, text.value, there)
        except ConflictError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


async def _missing(backend: Backend, texts: Sequence[StoredText]) -> list[StoredText]:
    values = {name: await backend.read_txt(name) for name in dict.fromkeys(text.name for text in texts)}
    return [text for text in texts if text.value not in values[text.name]]


def fits_zone(name: Fqdn, zone: Fqdn) -> bool:
    """Say whether a record of the zone can have this name."""
    try:
        to_wire(name)
    except ValueError:
        return False
    return relative_to(name, zone) is not None


def _marker(text: StoredText) -> LegacyMarker | None:
    value = text.value.decode("utf-8", "replace")
    found = parse_marker(value)
    if not isinstance(found, Marker):
        return None if found is None else LegacyMarker(text, found)
    try:
        if value.encode() != text.value:
            raise FormatError("found octets that are not UTF-8")
        return LegacyMarker(text, read_entry(text.name, value))
    except FormatError as error:
        return LegacyMarker(text, UnclearMarker(found.owner, str(error)))
