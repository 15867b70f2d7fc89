"""`Pace`: spaces repeated work by what it costs. Never sleeps and knows no clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """Work that comes after a pause is done at once; in a burst it takes no more than one `share`-th of the time.

    Thus loading n records one by one costs far less than n times the work on the whole zone, and a single edit waits for nobody.
    No pause is longer than `longest_s`.
    """

    share: float
    longest_s: float
    free_at: float = 0.0

    def wait_s(self, now: float) -> float:
        """Return how long the work has to wait, 0 when it may be done now."""
        return max(0.0, self.free_at - now)

    def did(self, started: float, ended: float) -> None:
        """Note that the work was done between two moments."""
        self.free_at = ended + min((ended - started) * (self.share - 1), self.longest_s)
