"""Ledger writes that the caches have not shown yet.

Placement is safe only when it sees every earlier placement, so a zone is not composed again before its caches hold what was last
written to each of its parts. Forgetting an expectation costs a conflict answer, never a wrong write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

from controllers.api.zone_unit import ZoneUnit
from kube.object import ObjectKey

PATIENCE_S: Final = 10.0


class Expectations:
    """The newest version written of each ZoneUnit, until the cache shows it or patience ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._written: dict[ObjectKey, dict[ObjectKey, tuple[str, float]]] = {}

    def wrote(self, zone: ObjectKey, unit: ObjectKey, before: str) -> None:
        """Note that a unit is no longer at version `before`, which is empty for one that was created."""
        self._written.setdefault(zone, {})[unit] = (before, self._clock() + PATIENCE_S)

    def are_met(self, zone: ObjectKey, units: Iterable[ZoneUnit]) -> bool:
        """Say whether the cached units are at least as new as what was written; what is met is forgotten."""
        pending = self._written.get(zone)
        if not pending:
            return True
        cached = {unit.key: unit.meta.resource_version for unit in units}
        now = self._clock()
        for unit, (before, deadline) in list(pending.items()):
            # Each write names the version that it replaces, so a cache that shows another one has seen the write.
            if cached.get(unit, "") != before or now >= deadline:
                del pending[unit]
        if not pending:
            del self._written[zone]
        return zone not in self._written
