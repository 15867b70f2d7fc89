"""Many small writes at a time, but not all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Final

PARALLEL_WRITES: Final = 16


async def in_parallel(writes: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run every write, a bounded number at a time; raises the first failure once all have ended."""
    free = asyncio.Semaphore(PARALLEL_WRITES)
    all_of_them = tuple(writes)

    async def run(write: Coroutine[Any, Any, None]) -> None:
        async with free:
            await write

    try:
        results = await asyncio.gather(*map(run, all_of_them), return_exceptions=True)
    finally:
        for write in all_of_them:
            write.close()  # those whose turn had not come when it was cancelled
    for result in results:
        if isinstance(result, BaseException):
            raise result
