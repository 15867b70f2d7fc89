"""The writer: makes an owner's claims the ones that a zone tells, and survives being cut off anywhere.

Owns the order of steps: read, stage pages, read them back, see that nobody else wrote as this owner, publish the manifest, read it
back, clean up. Each step does nothing when it has been done already, so that starting again is how one resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from ownership.backends.protocol import Backend, StoredText
from ownership.cleanup import CleanUp, clean_up
from ownership.codec.page import Page
from ownership.codec.snapshot import Snapshot, succeed
from ownership.entry import Entry
from ownership.error import ConflictError, HistoryChangedError, OutcomeUnknownError
from ownership.naming import OwnerID, check_owner, owner_state_name, page_name, quoted, shared_state_name
from ownership.state import ZoneState, list_states, read_state, sort_listing
from ownership.write import put

ATTEMPTS: Final = 8
"""How often a manifest is offered while other owners change the name that they share."""

Change = Callable[[tuple[Entry, ...]], Iterable[Entry]]
"""Returns the claims wanted, given those that hold."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What holds now; `snapshot` is None only where an owner without claims had none to withdraw."""

    snapshot: Snapshot | None
    changed: bool = False
    pages_written: int = 0
    pages_kept: int = 0
    clean_up: CleanUp = field(default_factory=CleanUp)


class Publisher:
    """Writes as one owner to one zone.

    At most one publisher of an owner may be at work in a zone; when there are two, one of them raises HistoryChangedError or, at
    worst, the zone becomes ambiguous. Publishers of different owners may be at work at once.

    All methods raise BackendError, AmbiguousError when the owner's claims cannot be told, HistoryChangedError, and for claims that
    do not fit SnapshotTooLargeError or FormatError; in each case the claims that held before hold still, or, after
    OutcomeUnknownError, the new ones do. Calling again is always safe.
    """

    def __init__(self, backend: Backend, owner: OwnerID) -> None:
        """Raises FormatError for an owner ID that the format cannot carry."""
        self._backend = backend
        self._owner = check_owner(owner)

    async def publish(self, claims: Iterable[Entry]) -> Commit:
        """Make these the owner's claims, all of them; none leave an empty snapshot."""
        wanted = tuple(claims)
        return await self._commit(lambda _: wanted)

    async def change(self, added: Iterable[Entry], gone: Iterable[Entry]) -> Commit:
        """Add claims and take others back in one revision; what is in both is added.

        To be called between the writes: claims have to come before what they are about, and go after it.
        """
        wanted, unwanted = tuple(added), frozenset(gone)
        return await self._commit(lambda held: (*(entry for entry in held if entry not in unwanted), *wanted))

    async def claim(self, claims: Iterable[Entry]) -> Commit:
        """Add claims; to be called before the first write to what is claimed."""
        return await self.change(claims, ())

    async def withdraw(self, claims: Iterable[Entry]) -> Commit:
        """Take claims back; to be called after the last delete of what was claimed."""
        gone = frozenset(claims)
        return await self._commit(lambda held: [entry for entry in held if entry not in gone], only_if_any=True)

    async def _commit(self, change: Change, *, only_if_any: bool = False) -> Commit:
        """Try until no other owner is in the way; every attempt begins with reading."""
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._attempt(change, only_if_any)
            except ConflictError:
                continue
        return await self._attempt(change, only_if_any)

    async def _attempt(self, change: Change, only_if_any: bool) -> Commit:
        state = await read_state(self._backend, (self._owner,))
        previous = state.snapshot_of(self._owner)
        if previous is None and only_if_any:
            return Commit(None)
        wanted = set(change(previous.entries if previous is not None else ()))
        if previous is not None and wanted == set(previous.entries):
            return Commit(previous, clean_up=await clean_up(self._backend, state, self._owner))
        snapshot = succeed(previous, self._owner, wanted, self._backend.txt_value_bytes)
        written = await self._stage(snapshot, previous)
        await self._offer(snapshot, state)
        left = await self._confirm(snapshot)
        return Commit(snapshot, True, written, len(snapshot.pages) - written, left)

    async def _stage(self, snapshot: Snapshot, previous: Snapshot | None) -> int:
        """Write the pages that are not there yet; returns how many belong to this snapshot and not to the one before."""
        known = {page.digest for page in previous.pages} if previous is not None else set()
        fresh = [page for page in snapshot.pages if page.digest not in known]
        for page in fresh:
            await self._stage_page(page)
        return len(fresh)

    async def _stage_page(self, page: Page) -> None:
        name = page_name(self._backend.zone, self._owner, page.digest)
        there = await self._backend.read_txt(name)
        if page.value not in there:
            await put(self._backend, name, page.value, there)

    async def _offer(self, snapshot: Snapshot, state: ZoneState) -> None:
        """Publish the manifest if nobody has written as this owner since `state` was read."""
        listing = await list_states(self._backend, (self._owner,))
        if self._own(listing) != self._own(state.listing):
            raise HistoryChangedError(f"{state.zone}: somebody else published as {quoted(self._owner)}")
        name = shared_state_name(state.zone)
        if self._backend.enumerates:
            name = owner_state_name(state.zone, self._owner)
        seen = [text.value for text in listing if text.name == name]
        await put(self._backend, name, snapshot.sealed.value, seen)

    async def _confirm(self, snapshot: Snapshot) -> CleanUp:
        """See that the snapshot is the one that readers select, then clean up."""
        state = await read_state(self._backend, (self._owner,))
        found = state.snapshot_of(self._owner)
        if found is None or found.sealed.digest != snapshot.sealed.digest:
            raise OutcomeUnknownError(
                f"{state.zone}: another revision of {quoted(self._owner)} is there than was published"
            )
        return await clean_up(self._backend, state, self._owner)

    def _own(self, listing: Iterable[StoredText]) -> set[bytes]:
        """The owner's manifests, and what might be one."""
        texts = list(listing)
        found = sort_listing(self._backend.zone, texts)
        own = {sealed.value for sealed in found.manifests.get(self._owner, ())}
        others = {sealed.value for owner, each in found.manifests.items() if owner != self._owner for sealed in each}
        return own | {text.value for text in texts if text.value not in others}
