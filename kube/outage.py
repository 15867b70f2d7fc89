"""What the log says of requests that fail again and again: once when it begins, rarely while it lasts, once when it is over.

Owns when a failure is news. All who use one client share it: when the API server does not answer at all, one of them says so for all.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Final

from kube.errors import KubeError, Unavailable

if TYPE_CHECKING:  # a short command has no log, and starts much faster without it
    from structlog.typing import FilteringBoundLogger

AGAIN_S: Final = 600.0
"""After so long the same failure is told once more."""
BRIEF_S: Final = 10.0
"""A failure that comes back sooner, after it was over, is not told another time."""
_NOBODY: Final = "the API server"


class Outage:
    """Failures that have been told, by what they are about."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}
        self._lasting: set[str] = set()

    def failed(self, log: FilteringBoundLogger, message: str, about: str, error: KubeError, **fields: Any) -> str:
        """Log a failure, as a warning when it is news; returns what it is known by, for `over`."""
        silent = isinstance(error, Unavailable) and not error.code
        known_by = _NOBODY if silent else f"{about} {type(error).__name__}"
        tell = log.warning if self._is_news(known_by) else log.debug
        tell(message, error=type(error).__name__, message=error.message, **fields)
        return known_by

    def over(self, log: FilteringBoundLogger, known_by: str) -> None:
        """Log that what had failed works again, once."""
        if known_by in self._lasting:
            self._lasting.remove(known_by)
            log.info("the api answers again")

    def _is_news(self, known_by: str) -> bool:
        now = asyncio.get_running_loop().time()
        pause_s = AGAIN_S if known_by in self._lasting else BRIEF_S
        if now - self._told.get(known_by, -math.inf) < pause_s:
            return False
        self._told[known_by] = now
        self._lasting.add(known_by)
        return True
