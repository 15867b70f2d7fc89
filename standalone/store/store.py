"""The store: reads from memory, writes in one order, events to whoever listens.

Owns the order of changes, the locks that make read-modify-write correct, and the invariant that nothing is visible
before it is durable. Used from one event loop only. Never judges an object.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from standalone.store.committer import Committer
from standalone.store.database import Database, Loaded
from standalone.store.directory import DataDir
from standalone.store.failure import CommitError, ObjectTooLargeError
from standalone.store.limits import DEFAULT_LIMITS, Limits
from standalone.store.lock import KeyLocks
from standalone.store.record import Event, EventType, Key, Record, encode_at
from standalone.store.subscription import Subscription
from standalone.store.table import Table
from standalone.store.window import Window

log = structlog.get_logger()

Listener = Callable[[Event], None]


class Store:
    """All objects of the API. Make one with `open`, end it with `close`."""

    def __init__(self, directory: DataDir, database: Database, loaded: Loaded, limits: Limits) -> None:
        self.version = loaded.version
        """The version of the last change that readers can see."""
        self.writes: Counter[tuple[str, str]] = Counter()
        """Committed changes by (group, plural) since the start."""
        self._directory = directory
        self._database = database
        self._window = Window(loaded.horizon, limits)
        self._limits = limits
        self._tables: defaultdict[tuple[str, str], Table] = defaultdict(Table)
        self._owned: defaultdict[str, set[Key]] = defaultdict(set)
        self._locks = KeyLocks()
        self._listeners: list[Listener] = []
        self._subscriptions: defaultdict[tuple[str, str], list[Subscription]] = defaultdict(list)
        self._waiting: dict[int, asyncio.Future[Record]] = {}
        self._next_version = self.version + 1
        self._events_since_compaction = 0
        self._bytes_since_compaction = 0
        for record in loaded.objects:
            self._index(record)
        for event in loaded.events:
            self._window.append(event)
        self._committer = Committer(database, asyncio.get_running_loop(), self._settled)

    @classmethod
    async def open(
        cls,
        path: Path,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Store:
        """Take the data directory and load every object. Raises a DataDirError with what to do about it."""
        with ExitStack() as on_failure:
            directory = DataDir.open(path)
            on_failure.callback(directory.close)
            database = Database.open(path)
            on_failure.callback(database.close)
            store = cls(directory, database, database.load(), limits)
            on_failure.pop_all()
        return store

    async def close(self) -> None:
        """Commit what was accepted, end every subscription and give the directory back."""
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.close()
        await self._committer.close()
        self._database.close()
        self._directory.close()

    # Reads

    def get(self, key: Key) -> Record | None:
        """May be asked from any thread; so it makes no table where there is none."""
        table = self._tables.get((key.group, key.plural))
        return table.get(key) if table is not None else None

    def records(self, group: str, plural: str, namespace: str = "", after: tuple[str, str] = ("", "")) -> list[Record]:
        """The records of one namespace or all (""), sorted by namespace and name, beyond those of `after`."""
        return self._tables[group, plural].list(namespace, after)

    def records_at(
        self, group: str, plural: str, namespace: str, version: int, after: tuple[str, str] = ("", "")
    ) -> list[Record]:
        """The records as they were at `version`. Raises VersionTooOldError when the history does not reach back."""
        then: dict[Key, Record | None] = {}
        for event in self._window.back_to(version):
            key = event.record.key
            if (key.group, key.plural) == (group, plural) and key[2:] > after and namespace in ("", key.namespace):
                then[key] = event.previous
        records = [record for record in self.records(group, plural, namespace, after) if record.key not in then]
        records += [record for _, record in sorted(then.items(), key=lambda entry: entry[0]) if record is not None]
        records.sort(key=lambda record: record.key)  # two sorted runs, which are merged
        return records

    def in_namespace(self, namespace: str) -> Iterator[Record]:
        """Every record of one namespace, whatever its kind."""
        for table in self._tables.values():
            yield from table.list(namespace)

    def is_empty(self, namespace: str) -> bool:
        """Whether nothing of any kind is in the namespace."""
        return not any(table.has(namespace) for table in self._tables.values())

    def owned_by(self, uid: str) -> list[Record]:
        """The records whose ownerReferences name `uid`."""
        found = (self.get(key) for key in sorted(self._owned.get(uid, ())))
        return [record for record in found if record is not None]

    def all(self) -> Iterator[Record]:
        """Every record of every kind."""
        for table in self._tables.values():
            yield from table.list("")

    def size(self, group: str, plural: str) -> int:
        return len(self._tables[group, plural])

    # Writes

    @asynccontextmanager
    async def locked(self, key: Key) -> AsyncIterator[Record | None]:
        """Hold the key from read to commit; yields what is stored now."""
        async with self._locks.hold(key):
            yield self.get(key)

    async def put(self, key: Key, obj: dict[str, Any]) -> Record:
        """Create or replace the object under `key`, which the caller holds; return it when durable and visible.

        Stamps `metadata.resourceVersion` into `obj`. Raises ObjectTooLargeError or CommitError.
        """
        previous = self.get(key)
        record = encode_at(key, self._next_version, obj)
        if len(record.body) > self._limits.object_bytes:
            raise ObjectTooLargeError(len(record.body), self._limits.object_bytes)
        event_type = EventType.ADDED if previous is None else EventType.MODIFIED
        return await self._submit(Event(event_type, record, previous))

    async def remove(self, key: Key, last_state: dict[str, Any]) -> Record:
        """Delete the object under `key`, which the caller holds; watchers see `last_state` at the version of the deletion."""
        record = encode_at(key, self._next_version, last_state)
        return await self._submit(Event(EventType.DELETED, record, self.get(key)))

    async def settled(self) -> None:
        """Wait until every change submitted before this call is visible or has failed."""
        waiting = list(self._waiting.values())
        if waiting:
            await asyncio.wait(waiting)

    async def _submit(self, event: Event) -> Record:
        version = self._next_version
        self._next_version += 1
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiting[version] = future
        self._committer.submit(event)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])  # the caller's lock must not open before the change is visible
            raise

    # Events

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every event of every kind, in order, at the moment it becomes visible. It must not block."""
        self._listeners.append(listener)

    def subscribe(
        self, group: str, plural: str, namespace: str, after_version: int
    ) -> tuple[list[Event], Subscription]:
        """The events after `after_version` so far, and a subscription to those that follow without a gap.

        Raises VersionTooOldError.
        """
        missed = [
            event
            for event in self._window.since(after_version)
            if (event.record.key.group, event.record.key.plural) == (group, plural)
            and (not namespace or event.record.key.namespace == namespace)
        ]
        subscription = Subscription(namespace)
        self._subscriptions[group, plural].append(subscription)
        return missed, subscription

    def unsubscribe(self, group: str, plural: str, subscription: Subscription) -> None:
        subscription.close()
        self._subscriptions[group, plural].remove(subscription)

    def _settled(self, batch: Sequence[Event], failure: CommitError | None) -> None:
        """Make a durable batch visible in order, or fail all of it; then let its writers go on."""
        for event in batch:
            if failure is None:
                self._apply(event)
            waiter = self._waiting.pop(event.record.version)
            if waiter.cancelled():
                continue
            if failure is None:
                waiter.set_result(event.record)
            else:
                waiter.set_exception(failure)
        self._compact_when_due()

    def _compact_when_due(self) -> None:
        limits = self._limits
        if (
            self._events_since_compaction < limits.compact_every_events
            and self._bytes_since_compaction < limits.compact_every_bytes
        ):
            return
        self._events_since_compaction = self._bytes_since_compaction = 0
        self._committer.compact(self._window.horizon)

    def _apply(self, event: Event) -> None:
        key = event.record.key
        if event.previous is not None:
            self._unindex(event.previous)
        if event.type is not EventType.DELETED:
            self._index(event.record)
        self.version = event.record.version
        self.writes[key.group, key.plural] += 1
        self._events_since_compaction += 1
        self._bytes_since_compaction += event.size_bytes
        self._window.append(event)
        self._announce(event)
        for subscription in self._subscriptions.get((key.group, key.plural), ()):
            subscription.offer(event)

    def _announce(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:  # a listener is foreign here: the writers behind it must still be answered
                log.exception("listener failed", key=tuple(event.record.key), version=event.version)

    def _index(self, record: Record) -> None:
        self._tables[record.key.group, record.key.plural].put(record)
        for uid in record.owner_uids:
            self._owned[uid].add(record.key)

    def _unindex(self, record: Record) -> None:
        self._tables[record.key.group, record.key.plural].remove(record.key)
        for uid in record.owner_uids:
            owned = self._owned[uid]
            owned.discard(record.key)
            if not owned:
                del self._owned[uid]
