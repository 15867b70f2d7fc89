"""One watcher's bounded queue of events.

Owns the bound: a watcher that does not keep up is cut off, so that it costs no memory; it resumes from the version it
saw last. Never filters beyond group, plural and namespace.
"""

from __future__ import annotations

import asyncio
from collections import deque

from standalone.store.record import Event

MAX_QUEUED_EVENTS = 10_000
LIMIT_QUEUED_BYTES = 48 * 1024 * 1024


class Subscription:
    """Events of one (group, plural), all namespaces or one, from the moment of subscribing."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.overflowed = False
        self._queue: deque[Event] = deque()
        self._bytes = 0
        self._closed = False
        self._waiter: asyncio.Future[None] | None = None

    def offer(self, event: Event) -> None:
        """Queue an event of interest, or cut the watcher off when its queue is full."""
        if self.namespace and event.record.key.namespace != self.namespace:
            return
        if self._closed:
            return
        self._bytes += event.size_bytes
        if len(self._queue) >= MAX_QUEUED_EVENTS or (self._bytes > LIMIT_QUEUED_BYTES and self._queue):
            self.overflowed = True
            self.close()
            return
        self._queue.append(event)
        self._wake()

    def close(self) -> None:
        """End the subscription; the watcher's next `take` returns nothing."""
        self._closed = True
        self._queue.clear()
        self._wake()

    @property
    def closed(self) -> bool:
        return self._closed

    async def take(self, timeout_s: float) -> list[Event]:
        """Wait for events and return all that queued up; empty after the timeout or when closed."""
        if not self._queue and not self._closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._waiter], timeout=timeout_s)
            self._waiter = None
        taken = list(self._queue)
        self._queue.clear()
        self._bytes = 0
        return taken

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
