"""The history of one zone: its journal, and the version that the journal leads to, in memory and on disk.

Owns the step to the next version and what of it is written. Blocking where it works through whole zones or touches files: `Histories`
takes that off the event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Final

import structlog

from server.text import name_text
from server.transfer.archive import Archive
from server.transfer.difference import Difference, difference_between
from server.transfer.fingerprint import moved, zone_fingerprint
from server.transfer.journal import LIMIT_BYTES, Entry, Journal
from server.transfer.serial import is_newer, serial_of
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

_FILE_LIMIT_BYTES: Final = 2 * LIMIT_BYTES

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """The way to the next version; `entry` is None where it cannot be told to secondaries."""

    index: ZoneIndex
    fingerprint: int
    difference: Difference
    entry: Entry | None = None


class History:
    """`index` is the version that `journal` leads to. Where `keeps_copy`, the archive has the zone itself, too."""

    def __init__(self, index: ZoneIndex, archive: Archive | None = None, *, keeps_copy: bool = False) -> None:
        self.index = index
        self.journal = Journal()
        self._archive = archive
        self._keeps_copy = keeps_copy
        self._fingerprint = 0
        self._since_copy: int | None = None
        self._unsaved: list[Entry] = []
        self._must_rewrite = False
        self._saving = Lock()

    @classmethod
    def begin(cls, index: ZoneIndex, archive: Archive | None, *, keeps_copy: bool) -> History:
        """Return the history of a version that has just appeared, with the part of an earlier journal that leads to it."""
        history = cls(index, archive, keeps_copy=keeps_copy)
        if archive is None:
            return history
        fingerprint = history._fingerprint = zone_fingerprint(index)
        stored = archive.journal(index.origin)
        kept = up_to(stored, serial_of(index), fingerprint)
        history.journal = Journal(kept)
        history._must_rewrite = len(kept) != len(stored)
        if keeps_copy:
            history._since_copy = entries_after(kept, archive.copy_fingerprint(index.origin), fingerprint)
        return history

    @property
    def is_saved(self) -> bool:
        return self._archive is None or not (self._unsaved or self._must_rewrite or self._needs_copy)

    def step_to(self, index: ZoneIndex, owners: frozenset[WireName] | None) -> Step:
        """Work out the way to the next version, `index`; `owners` are all that can differ, None when any can.

        Changes nothing, so that a thread can do it while the history is read.
        """
        difference = difference_between(self.index, index, owners)
        if difference.is_empty:
            return Step(index, self._fingerprint, difference)
        fingerprint = moved(self._fingerprint, difference) if self._archive is not None else 0
        is_newer_serial = is_newer(difference.until, difference.since)
        return Step(index, fingerprint, difference, Entry.of(difference, fingerprint) if is_newer_serial else None)

    def advance(self, step: Step) -> bool:
        """Go on to the next version and return whether its serial is another one."""
        self.index, self._fingerprint = step.index, step.fingerprint
        difference = step.difference
        if step.entry is not None:
            self.journal.append(step.entry)
            if self.journal.until is None:  # too large to keep
                self._unsaved.clear()
                self._must_rewrite = True
            else:
                self._unsaved.append(step.entry)
            if self._since_copy is not None:
                self._since_copy += 1
        elif not difference.is_empty:
            self._break_off(difference)
        return difference.until != difference.since

    def save(self) -> None:
        """Write what has not been written; raises OSError, after which `save` can be tried again."""
        if self._archive is not None:
            with self._saving:  # a server that stops does not wait for the thread that it left saving
                self._save(self._archive)

    def _save(self, archive: Archive) -> None:
        unsaved, self._unsaved = self._unsaved, []
        must_rewrite, self._must_rewrite = self._must_rewrite, True  # until all of it is written
        if self._needs_copy:
            archive.store_copy(self.index, self._fingerprint)
            self._since_copy = 0
        if not must_rewrite:
            sizes = [archive.append(self.index.origin, entry) for entry in unsaved]
            must_rewrite = max(sizes, default=0) > _FILE_LIMIT_BYTES
        if must_rewrite:
            archive.rewrite(self.index.origin, self.journal)
        self._must_rewrite = False

    @property
    def _needs_copy(self) -> bool:
        """Whether the journal no longer leads from the copy to the present version."""
        return self._keeps_copy and (self._since_copy is None or self._since_copy > len(self.journal))

    def _break_off(self, difference: Difference) -> None:
        """Secondaries cannot follow to a serial that is not newer (RFC 1982): nothing leads there."""
        log.warning(
            "zone changed without a newer serial, secondaries will not take it",
            zone=name_text(self.index.origin),
            serial=difference.until,
            before=difference.since,
        )
        self.journal.clear()
        self._unsaved.clear()
        self._must_rewrite = True
        self._since_copy = None


def up_to(entries: list[Entry], serial: int, fingerprint: int) -> list[Entry]:
    """Return the entries that lead to this very version; none when it is not among those they lead to."""
    for number in range(len(entries), 0, -1):
        last = entries[number - 1]
        if (last.until, last.fingerprint) == (serial, fingerprint):
            return entries[:number]
    return []


def entries_after(entries: list[Entry], start: int | None, present: int) -> int | None:
    """Return how many entries lead from the version with the fingerprint `start` to the present one, None when they do not."""
    if start == present:
        return 0
    for number, entry in enumerate(reversed(entries)):
        if entry.fingerprint == start:
            return number
    return None
