"""Whether what is about to go out may still go: what a leader does is held back when its time is up.

Owns the question, which goes along with the context of whatever the leader runs. Who leads until when is `kube.lease`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

_HOLDS: ContextVar[Callable[[], bool] | None] = ContextVar("holds", default=None)


def leading_while(holds: Callable[[], bool]) -> None:
    """Hold back what is done in this context, and in those made from it, when `holds` says no; it may be asked by any thread."""
    _HOLDS.set(holds)


def may_go_out() -> bool:
    """Say whether what is done here may have an effect: not when it is done for a leader whose time is up."""
    holds = _HOLDS.get()
    return holds is None or holds()


def assert_leading() -> None:
    """Raise asyncio.CancelledError when this may not go out: whoever does it is about to be cancelled, only a moment later.

    What is done for nobody who leads is not held back. A worker thread has to be given the context.
    """
    if not may_go_out():
        raise asyncio.CancelledError("the lease is no longer held")
