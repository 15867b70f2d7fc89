"""Encoded watch events, kept for the moment in which all watchers of one kind send them.

Owns the bound of this memory. Never encodes anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

LIMIT_BYTES = 4 * 1024 * 1024


class FrameCache:
    """The most recently encoded frames; the key says of which event and in which form."""

    def __init__(self) -> None:
        self._frames: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> bytes | None:
        return self._frames.get(key)

    def put(self, key: Hashable, frame: bytes) -> None:
        """Keep a new frame and drop the oldest that no longer fit."""
        self._frames[key] = frame
        self._bytes += len(frame)
        while self._bytes > LIMIT_BYTES:
            _, dropped = self._frames.popitem(last=False)
            self._bytes -= len(dropped)
