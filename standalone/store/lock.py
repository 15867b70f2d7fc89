"""One asynchronous lock per key, kept only while somebody holds it or waits.

Owns nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from standalone.store.record import Key


class KeyLocks:
    """Locks that come into being on first use and vanish with their last user."""

    def __init__(self) -> None:
        self._locks: dict[Key, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, key: Key) -> AsyncIterator[None]:
        """Hold the key's lock for the duration of the block."""
        lock, users = self._locks.get(key, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            _, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)
