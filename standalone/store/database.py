"""The SQLite file: the events with the bodies they brought, which event is current for each object, the format version.

Owns every SQL statement. One transaction per batch, durable when `commit` returns (WAL, synchronous=FULL).
Never decides what to write and never keeps objects in memory.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from standalone.store.failure import DataDirUnusableError, DataDirVersionError, remedy_of
from standalone.store.record import Event, EventType, Key, Record, decode

FORMAT_VERSION = 1
FILE_NAME = "objects.sqlite"
LOCK_TIMEOUT_S = 1.0  # this process alone uses the file; only a person with sqlite3 can be in the way
JOURNAL_LIMIT_BYTES = 16 * 1024 * 1024  # what a large transaction leaves of its journal
APPLICATION_ID = 0x646E7361  # "dnsa": tells our files from any other SQLite file

_SCHEMA = """
CREATE TABLE objects (
    resource_group TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES events (version),
    PRIMARY KEY (resource_group, plural, namespace, name)
) WITHOUT ROWID;
CREATE TABLE events (
    version INTEGER PRIMARY KEY, type TEXT NOT NULL,
    resource_group TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    previous_version INTEGER, body BLOB NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

# Statements are built for a few fixed row counts: one call into SQLite for many rows. Each call gives up the
# interpreter lock and, beside a busy event loop, waits milliseconds to get it back.
_ROW_COUNTS = (256, 64, 16, 4, 1)


def _rows(statement: str, row: str, count: int, tail: str = "") -> str:
    return f"{statement} VALUES {','.join([row] * count)}{tail}"


_UPSERT = {
    count: _rows(
        "INSERT INTO objects (resource_group, plural, namespace, name, version)",
        "(?,?,?,?,?)",
        count,
        " ON CONFLICT DO UPDATE SET version = excluded.version",
    )
    for count in _ROW_COUNTS
}
_REMOVE = {
    count: "DELETE FROM objects WHERE (resource_group, plural, namespace, name) IN "
    f"(VALUES {','.join(['(?,?,?,?)'] * count)})"
    for count in _ROW_COUNTS
}
_APPEND = {
    count: _rows(
        "INSERT INTO events (resource_group, plural, namespace, name, version, body, type, previous_version)",
        "(?,?,?,?,?,?,?,?)",
        count,
    )
    for count in _ROW_COUNTS
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a store file holds: the last version ever committed, the present objects in no order, and the history.

    The history is complete above `horizon`.
    """

    version: int
    horizon: int
    objects: list[Record]
    events: list[Event]


class Database:
    """An open store file. Not thread-safe: used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._identity = _identity(path)

    @classmethod
    def open(cls, directory: Path) -> Database:
        """Open or create the file. Raises DataDirUnusableError or DataDirVersionError."""
        path = directory / FILE_NAME
        _refuse_remains(path)
        try:
            if not path.exists():
                _create(path)
            connection = sqlite3.connect(path, LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False)
            try:
                _prepare(connection, path)
            except BaseException:
                connection.close()
                raise
        except (sqlite3.Error, OSError, ValueError) as error:
            raise _unusable(path, error) from error
        return cls(connection, path)

    def close(self) -> None:
        self._connection.close()

    def load(self) -> Loaded:
        """Everything that is stored. The history and the present share their records. Raises DataDirUnusableError."""
        try:
            return self._load()
        except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError) as error:
            raise _unusable(self._path, error) from error

    def _load(self) -> Loaded:
        current = {version for (version,) in self._connection.execute("SELECT version FROM objects")}
        horizon = self._number("horizon")
        records: dict[int, Record] = {}
        events: list[Event] = []
        rows = self._connection.execute(
            "SELECT resource_group, plural, namespace, name, version, body, type, previous_version "
            "FROM events ORDER BY version"
        )
        for group, plural, namespace, name, version, body, event_type, previous_version in rows:
            record = records[version] = decode(Key(group, plural, namespace, name), version, body)
            if version > horizon:
                events.append(Event(EventType(event_type), record, records.get(previous_version)))
        if missing := current - records.keys():
            raise ValueError(f"{len(missing)} objects have lost what is in them")
        return Loaded(self._number("version"), horizon, [records[version] for version in current], events)

    def commit(self, events: Sequence[Event]) -> None:
        """Make all changes durable in one transaction, or none: then sqlite3.Error is raised.

        A file that was removed or replaced keeps nothing of what is written to it. No two changes of one batch concern the same key.
        """
        if _identity(self._path) != self._identity:
            raise sqlite3.OperationalError(f"{self._path} has been removed or replaced; bring it back or start anew")
        written = [event.record for event in events if event.type is not EventType.DELETED]
        removed = [event.record.key for event in events if event.type is EventType.DELETED]
        with self._transaction() as connection:
            self._execute_rows(_UPSERT, [(*record.key, record.version) for record in written])
            self._execute_rows(_REMOVE, removed)
            self._execute_rows(_APPEND, [_event_row(event) for event in events])
            connection.execute(
                "UPDATE meta SET value = ? WHERE name = 'version'", (max(event.record.version for event in events),)
            )

    def compact(self, horizon: int) -> None:
        """Forget events up to `horizon`, but keep current objects and states that a later event names as previous.

        Raises sqlite3.Error when nothing could be forgotten.
        """
        with self._transaction() as connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'horizon'", (horizon,))
            connection.execute(
                "DELETE FROM events WHERE version <= ? AND version NOT IN (SELECT version FROM objects) AND version NOT IN "
                "(SELECT previous_version FROM events WHERE version > ? AND previous_version IS NOT NULL)",
                (horizon, horizon),
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is done inside, durable at the end, or none of it: the next transaction finds no half of this one."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _execute_rows(self, statements: dict[int, str], rows: Sequence[Sequence[object]]) -> None:
        start = 0
        for count in _ROW_COUNTS:
            while len(rows) - start >= count:
                values = [value for row in rows[start : start + count] for value in row]
                self._connection.execute(statements[count], values)
                start += count

    def _number(self, name: str) -> int:
        return _number(self._connection, name)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at the path; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _event_row(event: Event) -> tuple[object, ...]:
    record = event.record
    return (
        *record.key,
        record.version,
        record.body,
        event.type.value,
        event.previous.version if event.previous else None,
    )


def _refuse_remains(path: Path) -> None:
    """Refuse what is left of a store: a file without content, or a journal without its file, is not an empty store."""
    journal = path.with_name(f"{path.name}-wal")
    if path.is_symlink() and not path.exists():
        raise DataDirUnusableError(
            f"{path} leads to {path.readlink()}, where nothing is; bring that back or remove the link"
        )
    if path.exists() and not path.stat().st_size:
        raise DataDirUnusableError(f"{path} has lost its content: a store is never 0 bytes long; {_move_away(path)}")
    if not path.exists() and journal.exists() and journal.stat().st_size:
        raise DataDirUnusableError(f"{path} is missing, but its journal {journal.name} is there; {_move_away(path)}")


def _create(path: Path) -> None:
    """Make an empty store; the file gets its name when it is complete, so that a crash leaves none or all of it.

    It begins at the microseconds since 1970, and nobody writes as fast as those pass: a client which knew an earlier store in
    its place asks for a version from before its history, and is told so, instead of missing what is new.
    """
    first = max(1, time.time_ns() // 1_000)
    new = path.with_name(f"{path.name}.new")
    for remains in (new, new.with_name(f"{new.name}-journal")):
        remains.unlink(missing_ok=True)
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA}"
            f"INSERT INTO meta VALUES ('format', {FORMAT_VERSION}), ('version', {first}), ('horizon', {first});"
            f"PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
        )
    finally:
        connection.close()
    new.rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Set the connection up, and check that the file is ours and of our format."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT_BYTES}")
    connection.execute("PRAGMA secure_delete = FAST")  # else compaction writes every forgotten page once more
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not application_id and not tables:
        raise DataDirUnusableError(f"{path} has lost its content: a store has tables; {_move_away(path)}")
    if application_id != APPLICATION_ID:
        raise DataDirUnusableError(f"{path} is an SQLite file of another program; choose another --data-dir")
    found = _number(connection, "format")
    if found != FORMAT_VERSION:
        raise DataDirVersionError(
            f"data directory {path.parent} has format {found}, this program reads format {FORMAT_VERSION}; "
            "run the version of dns-api that wrote it, or start with an empty --data-dir and apply the manifests again"
        )


def _number(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise ValueError(f"its {name} is not noted")
    return int(row[0])


def _unusable(path: Path, error: Exception) -> DataDirUnusableError:
    """Tell a file that cannot be used now from one that is damaged, which no permission mends."""
    remedy = remedy_of(error) or (
        "make it readable and writable or choose another --data-dir"
        if isinstance(error, sqlite3.OperationalError | OSError)
        else _move_away(path)
    )
    return DataDirUnusableError(f"{path} cannot be opened as a store: {error}; {remedy}")


def _move_away(path: Path) -> str:
    """What to do about a file that is no store any more. Its journal would be read into whatever takes its place."""
    names = f"{path.name}, {path.name}-wal and {path.name}-shm"
    return f"move {names} away, then put an undamaged copy in its place or apply the manifests again"
