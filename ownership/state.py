"""What a zone says about its owners: gathered by reads, judged without any.

Owns the two equal listings that a snapshot needs. Never writes. What cannot be read or understood becomes a fault, never an
absence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ownership.backends.protocol import Backend, StoredText
from ownership.chain import BrokenChain, Chain, ChainFault, select
from ownership.codec.envelope import Digest, digest_of
from ownership.codec.manifest import SealedManifest, decode_manifest
from ownership.codec.snapshot import Snapshot, assemble
from ownership.error import AmbiguousError, ConflictError, FormatError
from ownership.naming import OwnerID, owner_hash, page_name, quoted, state_hash
from zonemodel.name import Fqdn

LISTINGS_MAX: Final = 6
"""How often a zone is listed when it changes meanwhile."""


class StateFault(StrEnum):
    """Why the ownership of a zone, or of one owner, cannot be told."""

    COMPETING_CHILDREN = ChainFault.COMPETING_CHILDREN.value
    UNRELATED_HISTORIES = ChainFault.UNRELATED_HISTORIES.value
    REVISION_GAP = ChainFault.REVISION_GAP.value
    INVALID_MANIFEST = "InvalidManifest"
    """A value at a name of manifests that is none, or not this owner's."""
    INVALID_PAGES = "InvalidPages"
    """The selected snapshot's pages are missing, tampered with or no pages."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason; `owner` is None where it cannot be told, `digits` those of the name of manifests where it was found."""

    reason: StateFault
    owner: OwnerID | None
    detail: str
    digits: str = ""

    def concerns(self, owner: OwnerID) -> bool:
        """Whether this owner's claims may be other ones than can be read."""
        if self.digits and self.digits == owner_hash(owner):
            return True
        return self.owner == owner if self.owner is not None else not self.digits

    def __str__(self) -> str:
        whose = "unknown owner" if self.owner is None else f"owner {quoted(self.owner)}"
        return f"{self.reason}: {whose}: {self.detail}"


@dataclass(frozen=True, slots=True)
class OwnerState:
    """One owner whose chain holds, with what it claims."""

    chain: Chain
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class ZoneState:
    """Every owner of a zone that holds, and what keeps others from being told.

    `listing` is everything that stood at the names of manifests, sorted.
    """

    zone: Fqdn
    owners: Mapping[OwnerID, OwnerState]
    faults: tuple[Fault, ...]
    listing: tuple[StoredText, ...]

    @property
    def may_delete(self) -> bool:
        """Whether anything may be deleted in the zone: one owner that cannot be told is enough to keep everything."""
        return not self.faults

    def snapshot_of(self, owner: OwnerID) -> Snapshot | None:
        """Return what an owner claims, None when it never claimed anything; raises AmbiguousError when that cannot be told."""
        if reasons := [str(fault) for fault in self.faults if fault.concerns(owner)]:
            raise AmbiguousError(f"{self.zone}: the claims of {quoted(owner)} cannot be told: {'; '.join(reasons)}")
        state = self.owners.get(owner)
        return None if state is None else state.snapshot


@dataclass(frozen=True, slots=True)
class Listing:
    """The manifests of a zone by owner, before their pages are read."""

    manifests: Mapping[OwnerID, tuple[SealedManifest, ...]]
    faults: tuple[Fault, ...]


async def read_state(backend: Backend, owners: Collection[OwnerID] = ()) -> ZoneState:
    """Return the state of a zone; raises BackendError when it cannot be read, ConflictError when it never holds still.

    `owners` are those whose own manifest names are looked at where the zone cannot be enumerated.
    """
    listing = await list_states(backend, owners)
    for _ in range(LISTINGS_MAX - 1):
        found = sort_listing(backend.zone, listing)
        states, faults = await _read_owners(backend, found)
        again = await list_states(backend, owners)
        if again == listing:
            return ZoneState(backend.zone, states, (*found.faults, *faults), listing)
        listing = again
    raise ConflictError(f"{backend.zone}: manifests came or went between each two of {LISTINGS_MAX} listings")


async def list_states(backend: Backend, owners: Collection[OwnerID]) -> tuple[StoredText, ...]:
    """Return everything at the names of manifests, sorted."""
    return tuple(sorted(set(await backend.list_states(owners))))


def sort_listing(zone: Fqdn, listing: Sequence[StoredText]) -> Listing:
    """Return the manifests by owner; what is no manifest, or stands at another owner's name, is a fault."""
    manifests: dict[OwnerID, list[SealedManifest]] = defaultdict(list)
    faults: list[Fault] = []
    for text in listing:
        digits = state_hash(text.name, zone) or ""
        try:
            sealed = decode_manifest(text.value)
        except FormatError as error:
            faults.append(Fault(StateFault.INVALID_MANIFEST, None, f"{text.name}: {error}", digits))
            continue
        owner = sealed.manifest.owner
        if digits not in {"", owner_hash(owner)}:
            detail = f"its manifest stands at {text.name}, the name of another owner"
            faults.append(Fault(StateFault.INVALID_MANIFEST, owner, detail, digits))
        else:
            manifests[owner].append(sealed)
    return Listing({owner: tuple(each) for owner, each in manifests.items()}, tuple(faults))


async def _read_owners(backend: Backend, found: Listing) -> tuple[dict[OwnerID, OwnerState], list[Fault]]:
    states: dict[OwnerID, OwnerState] = {}
    faults: list[Fault] = []
    for owner, manifests in sorted(found.manifests.items()):
        chain = select(manifests)
        if isinstance(chain, BrokenChain):
            faults.append(Fault(StateFault(chain.fault.value), owner, chain.detail))
        elif chain is not None:
            try:
                states[owner] = OwnerState(chain, await read_snapshot(backend, chain.selected))
            except FormatError as error:
                faults.append(Fault(StateFault.INVALID_PAGES, owner, str(error)))
    return states, faults


async def read_snapshot(backend: Backend, sealed: SealedManifest) -> Snapshot:
    """Return the snapshot of a manifest; raises FormatError when its pages do not make one, and BackendError."""
    owner = sealed.manifest.owner
    values: dict[Digest, bytes] = {}
    for digest in sealed.manifest.pages:
        name = page_name(backend.zone, owner, digest)
        found = await backend.read_txt(name)
        values.update((digest, value) for value in found if digest_of(value) == digest)
        if digest not in values and found:
            raise FormatError(f"{name}: found no page with the digest {digest}")
    return assemble(sealed, values)
