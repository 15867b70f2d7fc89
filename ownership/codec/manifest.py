"""Manifests: one revision of one owner's claims, as the list of the pages that hold them.

Owns reading, writing and the bounds. Never reads a page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ownership.codec.envelope import DIGEST_DIGITS, Digest, digest_of, unwrap, wrap
from ownership.codec.strict_json import fields, integer, items, parse, text
from ownership.error import FormatError
from ownership.naming import OwnerID, check_owner, quoted

MANIFEST_PREFIX: Final = b"dnsweaver-state=v1:"
VERSION: Final = 1
PAGES_MAX: Final = 64
ENTRIES_MAX: Final = 16_384
REVISION_MAX: Final = 2**63 - 1

_FIELDS: Final = frozenset({"version", "owner", "revision", "previous", "pages", "entries"})


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one owner claims as of `revision`; `previous` is the digest of the manifest before, empty for revision 1."""

    owner: OwnerID
    revision: int
    previous: Digest
    pages: tuple[Digest, ...]
    entries: int


@dataclass(frozen=True, slots=True)
class SealedManifest:
    """A manifest with the very octets that it was read from, or is written as."""

    manifest: Manifest
    value: bytes
    digest: Digest


def encode_manifest(manifest: Manifest) -> SealedManifest:
    """Return a manifest with its octets; raises FormatError for one that could not be read back."""
    return decode_manifest(manifest_value(manifest))


def manifest_value(manifest: Manifest) -> bytes:
    """Return the TXT value of a manifest, however long it gets: fields sorted, no spaces."""
    content = {
        "entries": manifest.entries,
        "owner": manifest.owner,
        "pages": manifest.pages,
        "previous": manifest.previous,
        "revision": manifest.revision,
        "version": VERSION,
    }
    return wrap(MANIFEST_PREFIX, json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())


def decode_manifest(value: bytes) -> SealedManifest:
    """Return the manifest of a TXT value; raises FormatError."""
    found = fields(parse(unwrap(MANIFEST_PREFIX, value, "manifest"), "manifest"), _FIELDS, "manifest")
    integer(found["version"], VERSION, VERSION, "manifest.version")
    revision = integer(found["revision"], 1, REVISION_MAX, "manifest.revision")
    previous = text(found["previous"], "manifest.previous")
    if previous or revision > 1:
        _digest(previous, "manifest.previous")
    if previous and revision == 1:
        raise FormatError("manifest.previous: found a digest in revision 1, allowed is none")
    pages = [text(each, "manifest.pages") for each in items(found["pages"], "manifest.pages")]
    entries = integer(found["entries"], 0, ENTRIES_MAX, "manifest.entries")
    owner = check_owner(text(found["owner"], "manifest.owner"))
    manifest = Manifest(owner, revision, Digest(previous), _pages(pages, entries), entries)
    return SealedManifest(manifest, value, digest_of(value))


def _pages(pages: Sequence[str], entries: int) -> tuple[Digest, ...]:
    if len(pages) > PAGES_MAX:
        raise FormatError(f"manifest.pages: found {len(pages)} pages, allowed are {PAGES_MAX}")
    if len(set(pages)) < len(pages):
        raise FormatError("manifest.pages: found a page twice, allowed is once")
    if bool(pages) is not bool(entries):
        raise FormatError(f"manifest.entries: found {entries} entries in {len(pages)} pages")
    return tuple(_digest(each, "manifest.pages") for each in pages)


def _digest(digits: str, what: str) -> Digest:
    if len(digits) != DIGEST_DIGITS or digits.strip("0123456789abcdef"):
        raise FormatError(f"{what}: found {quoted(digits)}, allowed are {DIGEST_DIGITS} lowercase hexadecimal digits")
    return Digest(digits)
