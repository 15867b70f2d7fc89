"""Many small writes at a time, but not all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Final

PARALLEL_WRITES: Final = 16


async def in_parallel(writes: Iterable[Awaitable[None]]) -> None:
    """Run every write, a bounded number at a time; raises the first failure once all have ended."""
    free = asyncio.Semaphore(PARALLEL_WRITES)

    async def run(write: Awaitable[None]) -> None:
        async with free:
            await write

    results = await asyncio.gather(*(run(write) for write in writes), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
