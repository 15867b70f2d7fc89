"""How many Zones and RecordSets are not programmed, why, and for how long already.

Owns these two series while the process leads. Never names an object: conditions do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.record_set import RecordSet
from controllers.api.zone import Zone
from controllers.core.inputs import CoreInformers
from controllers.runtime import metrics
from kube.object import ObjectKey
from kube.store import Change

NOT_JUDGED: Final = "NotJudged"
"""Stands for the reason of an object that has no condition yet."""


class Unprogrammed:
    """Notes what caches tell of, by kind and reason; a scrape costs as much as there are objects that wait."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._since: dict[tuple[str, str], dict[ObjectKey, float]] = {}
        self._endings: list[Callable[[], None]] = []

    def follow(self, informers: CoreInformers) -> None:
        """Begin with what is there."""
        self._endings = [
            informers.zones.subscribe(partial(self.note, ZONES.kind)),
            informers.record_sets.subscribe(partial(self.note, RECORD_SETS.kind)),
        ]

    def note(self, kind: str, change: Change[Zone] | Change[RecordSet]) -> None:
        """Take a change of one object; what has waited for one reason goes on to wait for another."""
        before, after = _wait_of(change.old), _wait_of(change.new)
        since = self._waiting(kind, before[0]).pop(change.key, None) if before is not None else None
        if after is not None:
            reason, began = after
            self._waiting(kind, reason)[change.key] = began if since is None else since

    def close(self) -> None:
        """Show nothing any more: somebody else leads now."""
        while self._endings:
            self._endings.pop()()
        self._since.clear()
        metrics.UNPROGRAMMED.clear()
        metrics.UNPROGRAMMED_SECONDS.clear()

    def _waiting(self, kind: str, reason: str) -> dict[ObjectKey, float]:
        """Return who waits for a reason and since when; the series tell of it from now on."""
        found = self._since.get((kind, reason))
        if found is None:
            found = self._since[kind, reason] = {}
            metrics.UNPROGRAMMED.labels(kind, reason).set_function(found.__len__)
            metrics.UNPROGRAMMED_SECONDS.labels(kind, reason).set_function(partial(self._longest_s, found))
        return found

    def _longest_s(self, waiting: dict[ObjectKey, float]) -> float:
        now = self._clock()
        return max(now - min(waiting.values(), default=now), 0.0)


def _wait_of(claim: Zone | RecordSet | None) -> tuple[str, float] | None:
    """Return why an object is not programmed, and since when as a Unix time; None when it is, or is gone."""
    if claim is None:
        return None
    for kind in ConditionType:
        found = find_condition(claim.status.conditions, kind)
        if found is None:
            return NOT_JUDGED, datetime.fromisoformat(claim.meta.creation_timestamp).timestamp()
        if found.status is not ConditionStatus.TRUE:
            since = found.last_transition_time or claim.meta.creation_timestamp
            return found.reason, datetime.fromisoformat(since).timestamp()
    return None
