"""How many transfers go on at once, over all and for each peer; the others wait their turn.

Owns the turns. Never knows what is transferred.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class BusyError(Exception):
    """More wait than may."""


class Slots:
    """`most` at once, `most_per_peer` of them for one peer; no more than `most_waiting` wait, any number for None.

    Peers get what is free in turn, and of one peer those who wait longest.
    """

    def __init__(self, most: int, most_per_peer: int, most_waiting: int | None = 1000) -> None:
        self._most = most
        self._most_per_peer = most_per_peer
        self._most_waiting = most_waiting
        self._taken = 0
        self._by_peer: dict[str, int] = {}
        self._waiting: OrderedDict[str, OrderedDict[asyncio.Future[None], None]] = OrderedDict()
        self._waiting_count = 0

    @property
    def taken(self) -> int:
        return self._taken

    @asynccontextmanager
    async def one(self, peer: str) -> AsyncIterator[None]:
        """Hold a slot; raises BusyError when too many wait already."""
        if self._has_room(peer):
            self._take(peer)
        else:
            await self._wait(peer)
        try:
            yield
        finally:
            self._release(peer)

    async def _wait(self, peer: str) -> None:
        if self._most_waiting is not None and self._waiting_count >= self._most_waiting:
            raise BusyError
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(peer, OrderedDict())[turn] = None
        self._waiting_count += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(peer)  # the turn came, and nobody is left to use it
            else:
                self._forget(peer, turn)
            raise

    def _has_room(self, peer: str) -> bool:
        return self._taken < self._most and self._by_peer.get(peer, 0) < self._most_per_peer

    def _take(self, peer: str) -> None:
        self._taken += 1
        self._by_peer[peer] = self._by_peer.get(peer, 0) + 1

    def _release(self, peer: str) -> None:
        self._taken -= 1
        self._by_peer[peer] -= 1
        if not self._by_peer[peer]:
            del self._by_peer[peer]
        self._hand_on()

    def _hand_on(self) -> None:
        """Give what is free to peers that wait and are within their own bound."""
        while self._taken < self._most and (peer := next(filter(self._has_room, self._waiting), None)) is not None:
            turn = next(iter(self._waiting[peer]))
            self._waiting.move_to_end(peer)
            self._forget(peer, turn)
            if not turn.cancelled():
                self._take(peer)
                turn.set_result(None)

    def _forget(self, peer: str, turn: asyncio.Future[None]) -> None:
        """Take somebody out of the queue who may have been taken out already."""
        if turn in self._waiting.get(peer, ()):
            del self._waiting[peer][turn]
            self._waiting_count -= 1
            if not self._waiting[peer]:
                del self._waiting[peer]
