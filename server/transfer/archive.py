"""Histories and copies of zones on disk, so that a restart goes on where the server ended.

Owns one folder: a journal for each zone, and a copy of each zone that comes from a primary. A file that is broken is read up to there
and no further. Blocking: the caller takes it off the event loop.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final

import structlog

from server.cache_folder import CacheFolder
from server.durable import sync_folder, write_whole
from server.transfer.fingerprint import FINGERPRINT_BYTES
from server.transfer.journal import Entry
from server.transfer.record import Record, decode_records, encode_record, encode_records, soa_record, zone_records
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

_JOURNAL_MAGIC: Final = b"dns-api journal 1\n"
_COPY_MAGIC: Final = b"dns-api zone copy 1\n"
_CHECK_BYTES: Final = 16
_ENTRY: Final = Struct(f"!III{FINGERPRINT_BYTES}s{_CHECK_BYTES}s")
"""Length of the difference, serials since and until, fingerprint, checksum."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Copy:
    """A zone as it was kept: its records, the SOA first, and when it was last known to be what its primary has (Unix time)."""

    records: list[Record]
    fingerprint: int
    refreshed_s: float


class Archive:
    """One folder, used by one server at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = CacheFolder(folder)

    def open(self) -> None:
        """Raises CacheError when the folder cannot be used."""
        self._folder.open()

    def close(self) -> None:
        self._folder.close()

    def journal(self, apex: WireName) -> list[Entry]:
        """Return the entries of a zone's journal, oldest first; none where there is no journal."""
        path = self._path(apex, "journal")
        try:
            octets = path.read_bytes()
        except FileNotFoundError:
            return []
        head = _JOURNAL_MAGIC + apex
        if not octets.startswith(head):
            log.warning("journal is left out", file=str(path), reason="it has another form")
            path.unlink()
            return []
        entries = list(_entries(octets, len(head)))
        whole_bytes = len(head) + sum(_ENTRY.size + len(entry.octets) for entry in entries)
        if whole_bytes < len(octets):
            log.warning("journal is cut at its first broken entry", file=str(path), entries=len(entries))
            os.truncate(path, whole_bytes)
        return entries

    def append(self, apex: WireName, entry: Entry) -> int:
        """Add an entry at a journal's end and return how long the file is now; it survives a crash once this returns."""
        path = self._path(apex, "journal")
        is_new = not path.exists()
        with path.open("ab") as file:
            if is_new:
                file.write(_JOURNAL_MAGIC + apex)
            file.write(_encode_entry(entry))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        if is_new:
            sync_folder(self._folder.path)
        return size

    def rewrite(self, apex: WireName, entries: Iterable[Entry]) -> None:
        """Put a journal of these entries in place."""
        write_whole(
            self._path(apex, "journal"), b"".join((_JOURNAL_MAGIC + apex, *(_encode_entry(entry) for entry in entries)))
        )
        sync_folder(self._folder.path)

    def copy(self, apex: WireName) -> Copy | None:
        """Return a zone's copy, None when there is none that is whole."""
        path = self._path(apex, "copy")
        try:
            octets = path.read_bytes()
            refreshed_s = path.stat().st_mtime
        except FileNotFoundError:
            return None
        head, check = _COPY_MAGIC + apex, octets[-_CHECK_BYTES:]
        if not octets.startswith(head) or _checksum(octets[:-_CHECK_BYTES]) != check:
            log.warning("copy of a zone is left out", file=str(path), reason="it is not whole, or has another form")
            return None
        records_at = len(head) + FINGERPRINT_BYTES
        records = list(decode_records(octets[records_at:-_CHECK_BYTES]))
        return Copy(records, int.from_bytes(octets[len(head) : records_at], "big"), refreshed_s)

    def copy_fingerprint(self, apex: WireName) -> int | None:
        """Return the fingerprint of a zone's copy, None when there is no copy."""
        head = _COPY_MAGIC + apex
        try:
            with self._path(apex, "copy").open("rb") as file:
                octets = file.read(len(head) + FINGERPRINT_BYTES)
        except FileNotFoundError:
            return None
        return int.from_bytes(octets[len(head) :], "big") if octets.startswith(head) else None

    def store_copy(self, index: ZoneIndex, fingerprint: int) -> None:
        """Keep this version, which is what its primary has now, in place of the zone's previous copy."""
        apex = index.origin
        head = _COPY_MAGIC + apex + fingerprint.to_bytes(FINGERPRINT_BYTES, "big")
        whole = b"".join((head, encode_record(soa_record(index)), encode_records(zone_records(index))))
        write_whole(self._path(apex, "copy"), whole + _checksum(whole))
        sync_folder(self._folder.path)

    def note_refresh(self, apex: WireName, refreshed_s: float) -> None:
        """Remember when a zone's copy was last known to be what its primary has: the file's time says it."""
        with suppress(FileNotFoundError):  # not stored yet; storing it sets the time
            os.utime(self._path(apex, "copy"), (refreshed_s, refreshed_s))

    def forget(self, apex: WireName) -> None:
        """Drop all that is kept of a zone."""
        for kind in ("journal", "copy"):
            self._path(apex, kind).unlink(missing_ok=True)

    def _path(self, apex: WireName, kind: str) -> Path:
        return self._folder.path / f"{hashlib.sha256(apex).hexdigest()[:32]}.{kind}"


def _entries(octets: bytes, position: int) -> Iterator[Entry]:
    """Yield entries up to the first that is not whole: a crash may have cut the last one short."""
    while position + _ENTRY.size <= len(octets):
        length, since, until, fingerprint, check = _ENTRY.unpack_from(octets, position)
        position += _ENTRY.size
        difference = octets[position : position + length]
        entry = Entry(since, until, difference, int.from_bytes(fingerprint, "big"))
        if len(difference) != length or _entry_checksum(entry) != check:
            return
        position += length
        yield entry


def _encode_entry(entry: Entry) -> bytes:
    fingerprint = entry.fingerprint.to_bytes(FINGERPRINT_BYTES, "big")
    return _ENTRY.pack(len(entry.octets), entry.since, entry.until, fingerprint, _entry_checksum(entry)) + entry.octets


def _entry_checksum(entry: Entry) -> bytes:
    head = entry.since.to_bytes(4, "big") + entry.until.to_bytes(4, "big")
    return _checksum(head + entry.fingerprint.to_bytes(FINGERPRINT_BYTES, "big") + entry.octets)


def _checksum(octets: bytes) -> bytes:
    return hashlib.blake2b(octets, digest_size=_CHECK_BYTES).digest()
