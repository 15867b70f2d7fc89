"""Long work on the event loop in short turns, and in a thread what cannot be cut up.

Owns how long one request may keep all others waiting. Never knows what the work is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

TURN_S: Final = 0.005
PART_ITEMS: Final = 50
PART_BYTES: Final = 128 * 1024
SMALL_BYTES: Final = 8 * 1024
"""What is decided about an object of this size takes a few milliseconds at most."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Turn:
    """The time that a piece of work has before it lets others go on; it begins when it is made."""

    def __init__(self) -> None:
        self._ends_s = time.monotonic() + TURN_S

    async def pause(self) -> None:
        """Let others go on when the time is over; then a new turn begins."""
        if time.monotonic() >= self._ends_s:
            await asyncio.sleep(0)
            self._ends_s = time.monotonic() + TURN_S


class Aside:
    """Work in a thread, one piece at a time: more threads would keep the event loop from the interpreter for longer."""

    def __init__(self) -> None:
        self._free = asyncio.Lock()

    async def run(self, size_bytes: int, work: Callable[[], Result]) -> Result:
        """Do the work on an object of `size_bytes`: at once when it is small, else beside the event loop.

        `work` must not read what others change meanwhile.
        """
        return work() if size_bytes <= SMALL_BYTES else await self.run_apart(work)

    async def run_apart(self, work: Callable[[], Result]) -> Result:
        """Do work that may take long, whatever the size of its object, beside the event loop; the same holds for it."""
        async with self._free:
            return await asyncio.to_thread(work)


def parts(items: Iterable[Item], size_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in their order, in parts that take a few milliseconds each; `size_of` gives bytes."""
    part: list[Item] = []
    size_bytes = 0
    for item in items:
        if part and (len(part) == PART_ITEMS or size_bytes + size_of(item) > PART_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append(item)
        size_bytes += size_of(item)
    if part:
        yield part
