"""The thread that makes changes durable: everything that queued up while it was busy goes into one transaction.

Owns the database while it runs. Never assigns versions and never changes what readers see: it reports each batch
back to the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread

import structlog

from standalone.store.database import Database
from standalone.store.failure import CommitError
from standalone.store.record import Event

log = structlog.get_logger()

Outcome = Callable[[Sequence[Event], CommitError | None], None]

MAX_BATCH = 1_000


class Committer:
    """Group commit. `settled` is called on the event loop, once per batch, in the order of submission."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop, settled: Outcome) -> None:
        self._database = database
        self._loop = loop
        self._settled = settled
        self._queue: SimpleQueue[Event | int | None] = SimpleQueue()
        self._failing = False
        self._thread = Thread(target=self._run, name="store-committer", daemon=True)
        self._thread.start()

    def submit(self, event: Event) -> None:
        """Queue a change; changes become durable in this order."""
        self._queue.put(event)

    def compact(self, horizon: int) -> None:
        """Queue the removal of events up to `horizon`, after everything submitted so far."""
        self._queue.put(horizon)

    async def close(self) -> None:
        """Commit what is queued and end the thread; the outcomes have been reported when this returns."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        await asyncio.sleep(0)  # the last outcome was handed to the loop before the thread ended

    def _run(self) -> None:
        while True:
            batch, follow_up = self._next_batch()
            if batch:
                self._commit(batch)
            if isinstance(follow_up, int):
                self._compact(follow_up)
            elif not batch:
                return

    def _next_batch(self) -> tuple[list[Event], int | None]:
        """Wait for work; return the changes that queued up and, when one ended the batch, a horizon to compact to."""
        batch: list[Event] = []
        item = self._queue.get()
        while isinstance(item, Event):
            batch.append(item)
            if len(batch) == MAX_BATCH:
                return batch, None
            try:
                item = self._queue.get_nowait()
            except Empty:
                return batch, None
        if item is None and batch:
            self._queue.put(None)
        return batch, item

    def _commit(self, batch: list[Event]) -> None:
        failure = None
        try:
            self._database.commit(batch)
        except Exception as error:  # noqa: BLE001 - the thread's edge: these writers are told, and the next may work
            failure = CommitError.of(error)
            self._note_failure(failure, error)
        else:
            self._note_success()
        self._loop.call_soon_threadsafe(self._settled, batch, failure)

    def _note_failure(self, failure: CommitError, error: Exception) -> None:
        """Log the first of a row only: clients try again and again."""
        if not isinstance(error, sqlite3.Error):
            log.error("commit failed", exc_info=error)
        elif not self._failing:
            log.error("commits fail; nothing is changed until they work again", error=str(failure))
        self._failing = True

    def _note_success(self) -> None:
        if self._failing:
            log.warning("commits work again")
        self._failing = False

    def _compact(self, horizon: int) -> None:
        try:
            self._database.compact(horizon)
        except sqlite3.Error as error:
            log.warning("compaction failed; the history on disk stays longer", error=str(error))
