"""The snapshots that a zone went through, as far as their order says what a server that reports one of them serves.

Owns the numbering. Kept in memory only: after a restart the first snapshot seen is number 0, and whatever is not known to be older
counts as part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controllers.providers.hosted.content import Lines
from controllers.providers.hosted.item import RecordKey

REMEMBERED: Final = 1024
SAME_CONTENT_REMEMBERED: Final = 8
NEVER: Final = -1


class _Published(NamedTuple):
    """A snapshot's number, and the manifest's generation when it was published."""

    generation: int
    number: int


@dataclass(slots=True)
class History:
    """`lines` is the content of the newest snapshot, None when it is not known; `digest` is empty before the first one.

    `generation` is the manifest's since we know it to hold that snapshot and nothing else, None until then. `seen_generation` is the one
    at which it was found with that snapshot, for a history that begins with a manifest that was there.
    """

    digest: str = ""
    serial: int | None = None
    generation: int | None = None
    lines: Lines | None = field(default_factory=dict)
    page_names: frozenset[str] = frozenset()
    number: int = 0
    seen_generation: int = 0
    _floor: int = 0
    _order: dict[str, list[_Published]] = field(default_factory=dict)
    _since: dict[RecordKey, int] = field(default_factory=dict)
    _last_named: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.digest:
            self._order[self.digest] = [_Published(self.seen_generation, self.number)]

    def advance(self, digest: str, serial: int, lines: Lines, page_names: Iterable[str]) -> None:
        """Note that a snapshot was published, which the manifest holds since `generation`."""
        self.number += 1
        if self.lines is None:
            self._floor = self.number
        else:
            self._since.update(dict.fromkeys(_changed(self.lines, lines), self.number))
        named = frozenset(page_names)
        self._last_named.update(dict.fromkeys(self.page_names - named, self.number - 1))
        published = [*self._order.pop(digest, ()), _Published(self.generation or 0, self.number)]
        self._order[digest] = published[-SAME_CONTENT_REMEMBERED:]
        if len(self._order) > REMEMBERED:
            del self._order[next(iter(self._order))]
        self.digest, self.serial, self.lines, self.page_names = digest, serial, lines, named

    def restate(self) -> None:
        """Note that the manifest had to be written again as of `generation`: what servers said before may no longer be so."""
        if published := self._order.get(self.digest):
            published[-1] = _Published(self.generation or 0, published[-1].number)

    def number_of(self, digest: str, generation: int) -> int:
        """Return the number of the snapshot with that digest that a server served which had seen this generation of the manifest;
        NEVER for one that is not known.

        A content that comes back has the digest that it had before, and a server that reported it then may serve what came between.
        """
        numbers = (each.number for each in self._order.get(digest, ()) if each.generation <= generation)
        return max(numbers, default=NEVER)

    def since(self, key: RecordKey) -> int:
        """Return the number of the snapshot that brought the record set to what it is, absent ones included."""
        return max(self._since.get(key, 0), self._floor)

    def last_named(self, page: str) -> int | None:
        """Return the number of the last snapshot that named a page, None when that is not known."""
        return self._last_named.get(page)

    def compact(self, reached: int, pages: Iterable[str]) -> None:
        """Drop what all live servers are past and what concerns pages that are gone, once that has become much.

        A server that comes back from before `reached` then counts as serving nothing of the zone, which is the safe side.
        """
        if len(self._since) > 2 * len(self.lines or ()) + REMEMBERED:
            self._floor = max(self._floor, reached)
            self._since = {key: number for key, number in self._since.items() if number > self._floor}
        if len(self._last_named) > REMEMBERED:
            self._last_named = {page: self._last_named[page] for page in pages if page in self._last_named}


def _changed(before: Lines, after: Lines) -> list[RecordKey]:
    """Return the keys whose line differs, came or went."""
    changed = [key for key, line in after.items() if before.get(key) != line]
    return changed + [key for key in before if key not in after]
