"""Snapshots on their way to the cache: the newest of each manifest, written off the event loop.

Owns the pending writes. A cache that cannot be written is logged and tried again; it never holds up serving.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from kube.backoff import Backoff
from kube.object import ObjectKey
from server.hosted.cache import SnapshotCache
from server.hosted.content import Content

_BACKOFF: Final = Backoff(first_s=1.0, base_s=1.0, cap_s=60.0)

log = structlog.get_logger(__name__)


class CacheWriter:
    """Writes what it is told, later versions in place of earlier ones that wait."""

    def __init__(self, cache: SnapshotCache) -> None:
        self._cache = cache
        self._pending: dict[ObjectKey, Content | None] = {}
        self._contact: float | None = None
        self._changed = asyncio.Event()

    def store(self, key: ObjectKey, content: Content) -> None:
        """Keep this snapshot."""
        self._pending[key] = content
        self._changed.set()

    def forget(self, key: ObjectKey) -> None:
        """Drop a manifest's snapshot."""
        self._pending[key] = None
        self._changed.set()

    def note_contact(self, unix_time_s: float) -> None:
        """Remember when the API was last heard of."""
        self._contact = unix_time_s
        self._changed.set()

    async def run(self, used_pages: Callable[[], set[str]]) -> None:
        """Write until cancelled; `used_pages` are the digests of pages that must stay. What waits then is written first."""
        failures = 0
        writing: asyncio.Task[bool] | None = None
        try:
            while True:
                await self._changed.wait()
                writing = asyncio.create_task(self._flush(used_pages()))
                failures = 0 if await asyncio.shield(writing) else failures + 1
                if failures:
                    await asyncio.sleep(_BACKOFF.delay_s(failures - 1))
        finally:
            if writing is not None:
                await asyncio.wait([writing])  # its thread goes on whoever is cancelled
            await asyncio.shield(self._flush(used_pages()))

    async def _flush(self, used_pages: set[str]) -> bool:
        self._changed.clear()
        pending, self._pending = self._pending, {}
        contact, self._contact = self._contact, None
        used = used_pages.union(*(content.pages for content in pending.values() if content is not None))
        failed = await asyncio.to_thread(self._write, pending, contact, used)
        if failed is None:
            return True
        self._pending = failed | self._pending
        self._changed.set()
        return False

    def _write(
        self, pending: dict[ObjectKey, Content | None], contact: float | None, used_pages: set[str]
    ) -> dict[ObjectKey, Content | None] | None:
        """Write as much as the disk takes and return the rest, None when nothing failed."""
        failed: dict[ObjectKey, Content | None] = {}
        errors: list[OSError] = []
        for key, content in sorted(pending.items(), key=lambda item: item[1] is not None):  # what goes makes room
            try:
                if content is None:
                    self._cache.forget(key)
                else:
                    self._cache.store(key, content)
            except OSError as error:
                failed[key] = content
                errors.append(error)
        try:
            if contact is not None:
                self._cache.note_contact(contact)
            if pending:
                self._cache.drop_unused(used_pages | self._cache.kept_pages() if failed else used_pages)
        except OSError as error:
            errors.append(error)
        if errors:
            log.error("cache cannot be written", error=str(errors[0]), snapshots=len(failed))
        return failed if errors else None
