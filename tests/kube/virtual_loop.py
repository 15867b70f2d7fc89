"""An event loop whose clock jumps: a test that waits five minutes takes milliseconds, and sockets still work.

The clock moves only when nothing is ready and no socket of the process has anything to say for a moment. Work that other
threads do for the loop is not waited for, so tests that need threads use an ordinary loop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable

_QUIET_S = 0.001


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.jump: Callable[[float], None] = lambda _: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        events = super().select(min(timeout, _QUIET_S))
        if not events:
            self.jump(timeout)
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Starts at an arbitrary moment, as a machine's monotonic clock does."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        selector.jump = self._jump
        self._now = 5000.0
        super().__init__(selector)

    def time(self) -> float:
        return self._now

    def _jump(self, seconds: float) -> None:
        self._now += seconds


async def eventually(condition: Callable[[], object], timeout_s: float = 120.0) -> None:
    """Let the loop go on until the condition holds; fails the test when it does not within `timeout_s` of loop time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    pause_s = 0.001
    while not condition():
        if loop.time() > deadline:
            raise AssertionError("the condition did not come true in time")
        await asyncio.sleep(pause_s)
        pause_s = min(1.5 * pause_s, 1.0)
