"""The recent changes in order, so that a watch can resume and a list can be read as of an earlier version.

Owns the bound: a count and a number of bytes; the older of what exceeds it is forgotten. Never touches the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from standalone.store.failure import VersionTooOldError
from standalone.store.limits import Limits
from standalone.store.record import Event


class Window:
    """Events above `horizon`, oldest first. Everything at or below it is unknown."""

    def __init__(self, horizon: int, limits: Limits) -> None:
        self.horizon = horizon
        self._limits = limits
        self._events: deque[Event] = deque()
        self._bytes = 0

    def append(self, event: Event) -> None:
        """Add the newest event and forget what no longer fits."""
        self._events.append(event)
        self._bytes += event.size_bytes
        while len(self._events) > self._limits.history_events or self._bytes > self._limits.history_bytes:
            oldest = self._events.popleft()
            self._bytes -= oldest.size_bytes
            self.horizon = oldest.version

    def since(self, version: int) -> list[Event]:
        """The events after `version`, oldest first. Raises VersionTooOldError when some of them are gone."""
        newest_first = list(self.back_to(version))
        newest_first.reverse()
        return newest_first

    def back_to(self, version: int) -> Iterator[Event]:
        """The events after `version`, newest first. Raises VersionTooOldError at once when some of them are gone."""
        if version < self.horizon:
            raise VersionTooOldError(version, self.horizon)
        return self._newest_first(version)

    def _newest_first(self, version: int) -> Iterator[Event]:
        for event in reversed(self._events):
            if event.version <= version:
                return
            yield event
