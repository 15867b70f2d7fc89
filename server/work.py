"""Keys that wait for work: each once, never two at a time, again later when the API or the disk was in the way.

Owns order, delays and retries. Never knows what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

import structlog

from kube.backoff import Backoff
from kube.errors import KubeError

_BACKOFF: Final = Backoff(first_s=0.1, base_s=0.5, cap_s=60.0)

log = structlog.get_logger(__name__)

Key = TypeVar("Key", bound=Hashable)


class Work(Generic[Key]):
    """A set of keys and the workers that empty it; `text` is what the log calls a key."""

    def __init__(self, name: str, handle: Callable[[Key], Awaitable[None]], text: Callable[[Key], str] = str) -> None:
        self._name = name
        self._handle = handle
        self._text = text
        self._waiting: dict[Key, None] = {}
        self._active: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._delayed: dict[Key, asyncio.TimerHandle] = {}
        self._changed = asyncio.Event()
        self.idle = asyncio.Event()
        """Set while nothing waits and nothing is being worked on; what waits for a retry does not count."""
        self.idle.set()

    def add(self, key: Key) -> None:
        """Have the key worked on, once more when it is being worked on now."""
        self._waiting[key] = None
        self.idle.clear()
        self._changed.set()

    async def run(self, workers: int) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._worker())
        finally:
            for delayed in self._delayed.values():
                delayed.cancel()

    async def _worker(self) -> None:
        while True:
            key = next((each for each in self._waiting if each not in self._active), None)
            if key is None:
                self._changed.clear()
                if not self._waiting and not self._active:
                    self.idle.set()
                await self._changed.wait()
                continue
            del self._waiting[key]
            self._active.add(key)
            try:
                await self._attempt(key)
            finally:
                self._active.discard(key)
                self._changed.set()
            await asyncio.sleep(0)  # answering queries comes first

    async def _attempt(self, key: Key) -> None:
        try:
            await self._handle(key)
        except KubeError as error:
            self._retry(key, type(error).__name__, error.message, error.retry_after_s)
        except OSError as error:
            self._retry(key, type(error).__name__, str(error), None)
        except Exception as error:  # the edge of a worker: one key's fault must not end the others
            log.exception("work on a key failed", work=self._name, key=self._text(key))
            self._retry(key, type(error).__name__, str(error), None)
        else:
            self._failures.pop(key, None)

    def _retry(self, key: Key, error: str, message: str, at_least_s: float | None) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay_s = max(_BACKOFF.delay_s(failures), at_least_s or 0.0)
        log.warning("work on a key is tried again", work=self._name, key=self._text(key), error=error, message=message)
        if (earlier := self._delayed.pop(key, None)) is not None:
            earlier.cancel()
        self._delayed[key] = asyncio.get_running_loop().call_later(delay_s, self._due, key)

    def _due(self, key: Key) -> None:
        self._delayed.pop(key, None)
        self.add(key)
