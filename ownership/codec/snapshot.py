"""Snapshots: a manifest together with its pages.

Owns what must hold between them, and how one snapshot follows another. Never reads or writes a zone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ownership.codec.envelope import VALUE_MAX_BYTES, Digest, digest_of
from ownership.codec.manifest import (
    ENTRIES_MAX,
    PAGES_MAX,
    REVISION_MAX,
    Manifest,
    SealedManifest,
    encode_manifest,
    manifest_value,
)
from ownership.codec.page import Page, decode_page
from ownership.codec.pagination import paginate, revise
from ownership.entry import Entry, sorted_entries
from ownership.error import FormatError, SnapshotTooLargeError
from ownership.naming import OwnerID, quoted


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All claims of one owner as of one revision; `entries` is sorted, `pages` in the manifest's order."""

    sealed: SealedManifest
    pages: tuple[Page, ...]
    entries: tuple[Entry, ...]

    @property
    def owner(self) -> OwnerID:
        return self.sealed.manifest.owner


def assemble(sealed: SealedManifest, values: Mapping[Digest, bytes]) -> Snapshot:
    """Return the snapshot of a manifest from the TXT values of its pages; raises FormatError, also when one is missing."""
    manifest = sealed.manifest
    pages: list[Page] = []
    left = manifest.entries
    for digest in manifest.pages:
        value = values.get(digest)
        if value is None:
            raise FormatError(f"the page {digest} is missing")
        if (found := digest_of(value)) != digest:
            raise FormatError(f"found a page with the digest {found}, allowed is {digest}")
        pages.append(decode_page(value))
        left -= len(pages[-1].entries)
        if left < 0:
            break
    if left:
        raise FormatError(f"found {manifest.entries - left} entries in its pages, allowed are {manifest.entries}")
    return Snapshot(sealed, tuple(pages), _joined(pages, manifest.owner))


def succeed(previous: Snapshot | None, owner: OwnerID, claims: Iterable[Entry], limit_bytes: int) -> Snapshot:
    """Return the snapshot that follows `previous`, or the first one, with exactly these claims.

    New pages and the manifest take at most `limit_bytes`. Raises SnapshotTooLargeError, and FormatError for claims that are
    not the owner's.
    """
    limit_bytes = min(limit_bytes, VALUE_MAX_BYTES)
    entries = sorted_entries(claims)
    if len(entries) > ENTRIES_MAX:
        raise SnapshotTooLargeError(f"{quoted(owner)} has {len(entries)} claims, allowed are {ENTRIES_MAX}")
    _check_owner(entries, owner)
    pages = revise(entries, previous.pages if previous is not None else (), limit_bytes)
    manifest = _manifest(previous, owner, pages, len(entries))
    if not _fits(manifest, limit_bytes):
        pages = paginate(entries, limit_bytes, 1.0)
        manifest = _manifest(previous, owner, pages, len(entries))
    if not _fits(manifest, limit_bytes):
        needs = f"the {len(entries)} claims of {quoted(owner)} take {len(pages)} pages of {limit_bytes} octets"
        raise SnapshotTooLargeError(f"{needs}, more than a manifest of {limit_bytes} octets names")
    return Snapshot(encode_manifest(manifest), tuple(pages), entries)


def _manifest(previous: Snapshot | None, owner: OwnerID, pages: Sequence[Page], entries: int) -> Manifest:
    digests = tuple(page.digest for page in pages)
    if previous is None:
        return Manifest(owner, 1, Digest(""), digests, entries)
    revision = previous.sealed.manifest.revision
    if revision == REVISION_MAX:
        raise SnapshotTooLargeError(f"{quoted(owner)} has reached the last revision, {REVISION_MAX}")
    return Manifest(owner, revision + 1, previous.sealed.digest, digests, entries)


def _fits(manifest: Manifest, limit_bytes: int) -> bool:
    return len(manifest.pages) <= PAGES_MAX and len(manifest_value(manifest)) <= limit_bytes


def _joined(pages: Sequence[Page], owner: OwnerID) -> tuple[Entry, ...]:
    everything = sorted(entry for page in pages for entry in page.entries)
    _check_owner(everything, owner)
    entries = sorted_entries(everything)
    if len(entries) < len(everything):
        twice = next(entry for entry, other in itertools.pairwise(everything) if entry == other)
        raise FormatError(f"found {quoted(twice.name)} with the same value in two pages, allowed is once")
    return entries


def _check_owner(entries: Iterable[Entry], owner: OwnerID) -> None:
    for entry in entries:
        if entry.owner != owner:
            found = f"{quoted(entry.name)}: found a marker of {quoted(entry.owner)}"
            raise FormatError(f"{found} in a snapshot of {quoted(owner)}")
