"""Writes side by side: bounded, all of them, and none left over."""

from __future__ import annotations

import asyncio
import inspect

from controllers.runtime.parallel import PARALLEL_WRITES, in_parallel


async def test_writes_whose_turn_does_not_come_are_closed() -> None:
    begun = 0
    busy = asyncio.Event()

    async def write() -> None:
        nonlocal begun
        begun += 1
        if begun == PARALLEL_WRITES:
            busy.set()
        await asyncio.Event().wait()

    writes = [write() for _ in range(2 * PARALLEL_WRITES)]
    task = asyncio.create_task(in_parallel(writes))
    await busy.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert begun == PARALLEL_WRITES
    assert {inspect.getcoroutinestate(each) for each in writes} == {inspect.CORO_CLOSED}
