"""Writes that the API refused: they are not tried again, for a time, unless something about them is different.

Owns that memory. Losing it costs refused requests, never a write: after a while each is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from kube.errors import Invalid

K = TypeVar("K", bound=Hashable)

AGAIN_S: Final = 300.0
SHORTEST_S: Final = 1.0


class Refusals(Generic[K]):
    """The newest refusal by key; `ground` is all that a write and its refusal depend on, as values that can be compared."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[K, tuple[object, Invalid, float]] = {}

    def of(self, key: K, ground: Callable[[], object]) -> Invalid | None:
        """Return why the write would be refused, None when that is not known; the ground is asked for where there is a refusal."""
        known = self._known.get(key)
        if known is None:
            return None
        before, error, until = known
        if self._clock() < until and before == ground():
            return error.with_traceback(None)  # it would keep the frames of every raise, and add those of the next
        del self._known[key]
        return None

    def left_s(self, key: K) -> float | None:
        """Return in how many seconds a refused write is tried again at the latest, None when none is remembered; never 0."""
        known = self._known.get(key)
        return max(known[2] - self._clock(), SHORTEST_S) if known is not None else None

    def note(self, key: K, ground: object, error: Invalid) -> None:
        """Remember a refusal, and forget those that are old."""
        now = self._clock()
        self._known = {each: known for each, known in self._known.items() if now < known[2]}
        self._known[key] = ground, error, now + AGAIN_S
