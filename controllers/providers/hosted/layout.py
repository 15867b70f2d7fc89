"""How a zone's content lies in HostedZone objects: inline or in pages, and under which digests.

Pure. Pages that an edit does not touch keep their digest without being read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from controllers.providers.hosted.content import Lines
from controllers.providers.hosted.item import Line, RecordKey
from controllers.providers.hosted.parameters import Head
from zonemodel.hosted_zone import HostedRecordSet
from zonemodel.snapshot import page_count_for, page_name, record_sets_digest, snapshot_digest, spread


@dataclass(frozen=True, slots=True)
class PagePlan:
    """One page: the name and digest of its object, and its lines."""

    name: str
    digest: str
    records: tuple[HostedRecordSet, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole snapshot; either `inline` or `pages` holds the lines. `page_count` is 0 for inline."""

    head: Head
    lines: Lines
    digest: str
    page_count: int
    pages: tuple[PagePlan, ...]
    inline: tuple[Line, ...]


def lay_out(zone: str, head: Head, lines: Lines, page_count: int, before: Layout | None) -> Layout:
    """Return the layout of a content; `page_count` is the count in use, `before` a former layout to take pages from."""
    if before is not None and before.lines is lines and before.head == head:
        return before
    size_bytes = sum(len(line.json) for line in lines.values())
    count = page_count_for(size_bytes, page_count)
    shares = spread((line.record for line in lines.values()), max(count, 1))
    pages = _pages(zone, shares, lines, before)
    digest = snapshot_digest(
        head.domain_name, head.soa, head.name_servers, head.transfer, [page.digest for page in pages]
    )
    if count:
        return Layout(head, lines, digest, count, pages, ())
    return Layout(head, lines, digest, 0, (), pages[0].lines if pages else ())


def page_count_of(named_pages: int) -> int:
    """Return the page count that a manifest was laid out with; counts are powers of two and empty pages are left out."""
    return 1 << (named_pages - 1).bit_length() if named_pages else 0


def _pages(
    zone: str, shares: Iterable[Sequence[HostedRecordSet]], lines: Lines, before: Layout | None
) -> tuple[PagePlan, ...]:
    known = {page.records[0].name: page for page in before.pages} if before is not None else {}
    found = []
    for share in shares:
        records = tuple(share)
        old = known.get(records[0].name)
        if old is not None and old.records == records:
            found.append(old)
            continue
        digest = record_sets_digest(records)
        page_lines = tuple(lines[RecordKey(record.name, record.type)] for record in records)
        found.append(PagePlan(page_name(zone, digest), digest, records, page_lines))
    return tuple(found)
