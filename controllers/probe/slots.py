"""Places of which there are only so many, shared fairly: whoever has the fewest gets the next one that is free, and some are kept for
those who have none.

Owns who waits and in which order. Never knows what a place is for. Plain event-loop state without locks: use it from one loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Slots:
    """Hands out at most `limit` places at a time; a party is whatever is the same object for those that share its places.

    The last `kept` of them go to parties that have none: with no more parties than that, nobody waits for others to have a first one.
    """

    def __init__(self, limit: int, kept: int = 0) -> None:
        self._free = limit
        self._kept = kept
        self._taken: Counter[object] = Counter()
        self._waiting: dict[object, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def one(self, party: object) -> AsyncIterator[None]:
        """Hold one place during the block."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(party, deque()).append(turn)
        self._pass_on()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._withdraw(party, turn)
            else:  # it was given a place in the very moment
                self._give_back(party)
            raise
        try:
            yield
        finally:
            self._give_back(party)

    def _withdraw(self, party: object, turn: asyncio.Future[None]) -> None:
        turns = self._waiting[party]
        turns.remove(turn)
        if not turns:
            del self._waiting[party]

    def _give_back(self, party: object) -> None:
        self._free += 1
        self._taken[party] -= 1
        if not self._taken[party]:
            del self._taken[party]
        self._pass_on()

    def _pass_on(self) -> None:
        while self._free and (open_turns := self._open_turns()):
            party, turn = min(open_turns, key=lambda each: self._taken[each[0]])
            if self._taken[party] and self._free <= self._kept:
                return
            self._waiting[party].remove(turn)
            if not self._waiting[party]:
                del self._waiting[party]
            self._free -= 1
            self._taken[party] += 1
            turn.set_result(None)

    def _open_turns(self) -> list[tuple[object, asyncio.Future[None]]]:
        """Return each party's next turn; one that was cancelled is taken out by whoever waited for it."""
        first = (
            (party, next((each for each in turns if not each.done()), None)) for party, turns in self._waiting.items()
        )
        return [(party, turn) for party, turn in first if turn is not None]
