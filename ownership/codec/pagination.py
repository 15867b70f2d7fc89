"""Which claims go into which page: as few new pages as a change allows, and few pages in all.

Pure. Pages that a change does not touch stay as they are, octet for octet, whoever wrote them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from ownership.codec.envelope import wrapped_bytes
from ownership.codec.gzip_member import OVERHEAD_BYTES, deflate
from ownership.codec.page import EXPANDED_MAX_BYTES, PAGE_PREFIX, Page, encode_page, entry_json, join_entries
from ownership.entry import Entry
from ownership.error import SnapshotTooLargeError
from ownership.naming import quoted

ROOMY: Final = 7 / 8
"""How far pages are filled at first, so that an entry more seldom needs a page more."""


def revise(entries: Sequence[Entry], pages: Sequence[Page], limit_bytes: int) -> list[Page]:
    """Return pages of sorted `entries`, those of `pages` that can stay among them.

    Raises SnapshotTooLargeError for an entry that no page holds.
    """
    if not pages:
        return paginate(entries, limit_bytes, ROOMY)
    revised: list[Page] = []
    for page, group in zip(pages, _distribute(entries, pages), strict=True):
        if tuple(group) == page.entries:
            revised.append(page)
        else:
            revised += _rewrite(group, limit_bytes)
    return revised


def paginate(entries: Sequence[Entry], limit_bytes: int, fill: float) -> list[Page]:
    """Return new pages of sorted `entries`, each as long as `fill` of the limit allows.

    Raises SnapshotTooLargeError for an entry that no page holds.
    """
    texts = [entry_json(entry) for entry in entries]
    pages: list[Page] = []
    start, guess = 0, len(texts)
    while start < len(texts):
        guess = _longest_run(texts[start:], guess, int(limit_bytes * fill)) or _longest_run(
            texts[start:], 1, limit_bytes
        )
        if not guess:
            name = quoted(entries[start].name)
            raise SnapshotTooLargeError(f"the claim {name} takes more than the {limit_bytes} octets of a page")
        pages.append(encode_page(entries[start : start + guess]))
        start += guess
    return pages


def _distribute(entries: Sequence[Entry], pages: Sequence[Page]) -> list[list[Entry]]:
    """Return the entries by page: known ones where they are, new ones where the order has their place."""
    home = {entry: at for at, page in enumerate(pages) for entry in page.entries}
    order = sorted((page.entries[0], at) for at, page in enumerate(pages) if page.entries)
    firsts = [first for first, _ in order]
    groups: list[list[Entry]] = [[] for _ in pages]
    for entry in entries:
        at = home.get(entry)
        if at is None:
            at = order[max(0, bisect_right(firsts, entry) - 1)][1] if order else 0
        groups[at].append(entry)
    return groups


def _rewrite(group: Sequence[Entry], limit_bytes: int) -> Iterator[Page]:
    """Yield one page when they fit, else two halves when these do, so that both have room."""
    if not group:
        return
    texts = [entry_json(entry) for entry in group]
    if _page_bytes(texts) <= limit_bytes:
        yield encode_page(group)
        return
    middle = len(group) // 2
    if max(_page_bytes(texts[:middle]), _page_bytes(texts[middle:])) <= limit_bytes:
        yield encode_page(group[:middle])
        yield encode_page(group[middle:])
        return
    yield from paginate(group, limit_bytes, ROOMY)


def _longest_run(texts: Sequence[bytes], guess: int, limit_bytes: int) -> int:
    """Return how many of the first texts make the longest page within the limit, 0 when not even one does."""
    fitting, excessive = 0, len(texts) + 1
    trial = min(guess, len(texts))
    while excessive - fitting > 1:
        size = _page_bytes(texts[:trial])
        if size <= limit_bytes:
            fitting, trial = trial, max(trial + 1, int(trial * limit_bytes / size))
        else:
            excessive, trial = trial, (fitting + trial) // 2
        if not fitting < trial < excessive:
            trial = (fitting + excessive) // 2
    return fitting


def _page_bytes(texts: Sequence[bytes]) -> int:
    """Return how long the page is; more than any limit when its JSON passes the bound."""
    content = join_entries(texts)
    if len(content) > EXPANDED_MAX_BYTES:
        return len(content)
    return wrapped_bytes(PAGE_PREFIX, OVERHEAD_BYTES + len(deflate(content)))
