"""The recent history of one zone: the differences that lead to its present version, oldest first.

Owns the bound on it: differences are kept as octets, and the oldest go when they take too many. Never reads or writes files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from server.transfer.difference import Difference, decode_difference, encode_difference

LIMIT_BYTES: Final = 1024 * 1024
MOST_ENTRIES: Final = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored difference; `fingerprint` is that of the zone after it, 0 where nobody asked for it."""

    since: int
    until: int
    octets: bytes
    fingerprint: int = 0

    @classmethod
    def of(cls, difference: Difference, fingerprint: int = 0) -> Entry:
        return cls(difference.since, difference.until, encode_difference(difference), fingerprint)

    def difference(self) -> Difference:
        return decode_difference(self.octets)


class Journal:
    """Entries that follow one another without a gap; together they take at most `limit_bytes`."""

    def __init__(self, entries: Iterable[Entry] = (), limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        for entry in entries:
            self.append(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @property
    def until(self) -> int | None:
        """The serial that the journal leads to, None while it is empty."""
        return self._entries[-1].until if self._entries else None

    def append(self, entry: Entry) -> None:
        """Add the step to the next version. One that does not follow the last, or is too large to keep, ends what was before."""
        if self.until not in (None, entry.since):
            self.clear()
        self._entries.append(entry)
        self._bytes += len(entry.octets)
        while self._entries and (self._bytes > self._limit_bytes or len(self._entries) > MOST_ENTRIES):
            self._bytes -= len(self._entries.popleft().octets)

    def clear(self) -> None:
        self._entries.clear()
        self._bytes = 0

    def since(self, serial: int) -> list[Entry] | None:
        """Return the entries from the version with this serial to the last one, None when the journal does not reach back."""
        found: list[Entry] = []
        for entry in reversed(self._entries):
            found.append(entry)
            if entry.since == serial:
                return found[::-1]
        return None
