"""What a committed snapshot leaves behind: predecessors and the pages that only they need.

Owns the order, oldest first and pages before their manifest, so that a manifest stands until its pages are gone. Never touches pages
that no visible manifest names: somebody may be about to commit them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ownership.backends.protocol import Backend
from ownership.chain import unused_pages
from ownership.codec.envelope import Digest, digest_of
from ownership.codec.manifest import SealedManifest
from ownership.error import BackendError
from ownership.naming import OwnerID, page_name
from ownership.state import ZoneState
from ownership.write import remove


@dataclass(frozen=True, slots=True)
class CleanUp:
    """What was removed, and why something is `left` for the next time, empty when nothing is."""

    manifests: int = 0
    pages: int = 0
    left: str = ""


async def clean_up(backend: Backend, state: ZoneState, owner: OwnerID) -> CleanUp:
    """Remove an owner's predecessors; failures are told in the result, and what was committed holds all the same."""
    found = state.owners.get(owner)
    if found is None or not found.chain.predecessors:
        return CleanUp()
    if not state.may_delete:
        return CleanUp(left=f"nothing is deleted in {state.zone} while {state.faults[0]}")
    manifests = pages = 0
    for predecessor in found.chain.predecessors:
        try:
            for digest in unused_pages(predecessor, found.chain.selected):
                pages += await remove_page(backend, owner, digest)
            await remove_manifest(backend, state, predecessor)
        except BackendError as error:
            return CleanUp(manifests, pages, f"revision {predecessor.manifest.revision}: {error}")
        manifests += 1
    return CleanUp(manifests, pages)


async def remove_page(backend: Backend, owner: OwnerID, digest: Digest) -> int:
    """Delete a page, and nothing else that stands at its name; returns how many values that were. Raises BackendError."""
    name = page_name(backend.zone, owner, digest)
    values = [value for value in await backend.read_txt(name) if digest_of(value) == digest]
    for value in values:
        await remove(backend, name, value)
    return len(values)


async def remove_manifest(backend: Backend, state: ZoneState, sealed: SealedManifest) -> None:
    """Delete a manifest at every name where it was seen; raises BackendError."""
    for text in state.listing:
        if text.value == sealed.value:
            await remove(backend, text.name, text.value)
