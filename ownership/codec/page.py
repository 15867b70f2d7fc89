"""Pages: some of an owner's claims, compressed.

Owns reading, writing and the bounds. Never knows which manifest wants it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ownership.codec.envelope import Digest, digest_of, unwrap, wrap
from ownership.codec.gzip_member import compress, expand
from ownership.codec.manifest import ENTRIES_MAX
from ownership.codec.strict_json import fields, items, parse, text
from ownership.entry import Entry, read_entry
from ownership.error import FormatError
from ownership.naming import quoted

PAGE_PREFIX: Final = b"dnsweaver-page=v1:"
EXPANDED_MAX_BYTES: Final = 256 * 1024

_FIELDS: Final = frozenset({"name", "value"})


@dataclass(frozen=True, slots=True)
class Page:
    """Claims, sorted and each once, with the very octets that they were read from, or are written as."""

    entries: tuple[Entry, ...]
    value: bytes
    digest: Digest


def encode_page(entries: Sequence[Entry]) -> Page:
    """Return the page of sorted entries, however long it gets."""
    value = wrap(PAGE_PREFIX, compress(join_entries(map(entry_json, entries))))
    return Page(tuple(entries), value, digest_of(value))


def entry_json(entry: Entry) -> bytes:
    """Return an entry as JSON."""
    return json.dumps({"name": entry.name, "value": entry.value}, ensure_ascii=False, separators=(",", ":")).encode()


def join_entries(texts: Iterable[bytes]) -> bytes:
    """Return the JSON of a page from the JSON of its entries."""
    return b"[%b]" % b",".join(texts)


def decode_page(value: bytes) -> Page:
    """Return the page of a TXT value; raises FormatError."""
    content = expand(unwrap(PAGE_PREFIX, value, "page"), EXPANDED_MAX_BYTES, "page")
    found = items(parse(content, "page"), "page")
    if len(found) > ENTRIES_MAX:
        raise FormatError(f"page: found {len(found)} entries, allowed are {ENTRIES_MAX}")
    entries = tuple(_entry(each, number) for number, each in enumerate(found))
    for before, entry in pairwise(entries):
        if before == entry:
            raise FormatError(f"page: found {quoted(entry.name)} twice with the same value, allowed is once")
        if before > entry:
            raise FormatError(f"page: found {quoted(entry.name)} after {quoted(before.name)}, allowed is sorted")
    return Page(entries, value, digest_of(value))


def _entry(item: object, number: int) -> Entry:
    what = f"page[{number}]"
    found = fields(item, _FIELDS, what)
    name, value = text(found["name"], f"{what}.name"), text(found["value"], f"{what}.value")
    try:
        return read_entry(name, value)
    except FormatError as error:
        raise FormatError(f"{what}: {error}") from error
