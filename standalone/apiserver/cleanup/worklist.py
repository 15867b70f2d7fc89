"""A set of things to look at, worked off one at a time by one task.

Owns deduplication and the retry of what failed. Never knows what the things are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

import structlog

from standalone.apiserver.status import ApiError
from standalone.store.failure import StoreError
from standalone.store.record import Record

log = structlog.get_logger()

RETRY_DELAY_S = 1.0
TOGETHER = 32
"""Objects that are being deleted at a time."""

Item = TypeVar("Item", bound=Hashable)


async def together(records: Sequence[Record], work: Callable[[Record], Awaitable[None]]) -> None:
    """Work on several records at a time, whose commits are shared; when all have ended, raises the first that `work` raised."""
    remaining = iter(records)

    async def each() -> None:
        for record in remaining:  # one iterator for all: each takes what the others have not
            await work(record)

    ended = await asyncio.gather(*(each() for _ in range(min(TOGETHER, len(records)))), return_exceptions=True)
    for failure in ended:
        if failure is not None:
            raise failure


class Worklist(Generic[Item]):
    """Items in the order of their first addition; an item added while it is worked on is worked on again."""

    def __init__(self, name: str, work: Callable[[Item], Awaitable[None]]) -> None:
        self._name = name
        self._work = work
        self._items: dict[Item, None] = {}
        self._added = asyncio.Event()
        self._retries: dict[Item, asyncio.TimerHandle] = {}

    def add(self, item: Item) -> None:
        self._items[item] = None
        self._added.set()

    async def run(self) -> None:
        """Work until cancelled. A refusal or a failed write of one item is tried again later."""
        try:
            while True:
                await self._added.wait()
                if not self._items:
                    self._added.clear()
                    continue
                item = next(iter(self._items))
                del self._items[item]
                await self._attempt(item)
        finally:
            for retry in self._retries.values():
                retry.cancel()

    async def _attempt(self, item: Item) -> None:
        try:
            await self._work(item)
        except (ApiError, StoreError) as error:
            log.info("clean-up will be tried again", work=self._name, item=str(item), why=str(error))
            self.add_later(item)

    def add_later(self, item: Item) -> None:
        """Add the item again after a delay, once however often this is called until then."""
        if item not in self._retries:
            self._retries[item] = asyncio.get_running_loop().call_later(RETRY_DELAY_S, self._retry, item)

    def _retry(self, item: Item) -> None:
        del self._retries[item]
        self.add(item)
