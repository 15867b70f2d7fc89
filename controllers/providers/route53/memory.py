"""What is remembered of a zone between two looks at it, so that Route 53 is asked no more often than needed.

Losing it costs requests, never correctness: everything here can be found out again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from controllers.api.zone_unit import ZoneUnitStatus
from controllers.providers.route53.class_rule import Terms
from controllers.providers.route53.client import HostedZone
from controllers.providers.route53.submission import Quarantine
from controllers.providers.route53.want import WantCache

SHORTEST_S: Final = 0.001

Token = tuple[Any, ...]
"""Everything outside of Route 53 that a look depends on; two equal ones have nothing new in them."""


@dataclass(frozen=True, slots=True)
class SeenZone:
    """A hosted zone that was as it should be; it need not be looked at again before `until`, as long as `token` is the same."""

    zone: HostedZone
    token: Token
    until: float


@dataclass(slots=True)
class Memory:
    """One zone's memory; `due` is the moment from which on a look is called for even though nothing is new.

    `terms` are those that the class had last, for deletions that outlive it. `request` is the last one that somebody made for a look.
    """

    quarantine: Quarantine
    wants: WantCache = field(default_factory=WantCache)
    token: Token | None = None
    request: str | None = None
    statuses: tuple[ZoneUnitStatus, ...] = ()
    due: float = 0.0
    failures: int = 0
    terms: Terms | None = None
    zone: SeenZone | None = None

    def heed(self, request: str | None) -> None:
        """Have nothing wait that was refused before a new request for a look."""
        if request != self.request:
            self.request = request
            self.quarantine.release()

    def is_current(self, token: Token, statuses: tuple[ZoneUnitStatus, ...], now: float) -> bool:
        """Say whether the last look still holds: nothing is new, nobody changed what was written, and it is not due."""
        return token == self.token and now < self.due and statuses == self.statuses

    def wait_s(self, now: float) -> float:
        """Return how long the last look holds still."""
        return max(self.due - now, SHORTEST_S)

    def looked(self, token: Token, statuses: tuple[ZoneUnitStatus, ...], due: float) -> None:
        """Note that everything was looked at."""
        self.token, self.statuses, self.due = token, statuses, due
