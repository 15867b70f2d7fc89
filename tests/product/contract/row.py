"""Rows of the table of condition reasons: the steps that lead to a condition, and the condition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from tests.product.claim import ZONE, ZONE_CLASS, claim
from tests.product.stage import Stage

WWW = claim("www", "A", "192.0.2.1")
OBJECTS = {"ZoneClass": (ZONE_CLASSES, ZONE_CLASS), "Zone": (ZONES, ZONE), "RecordSet": (RECORD_SETS, WWW.name)}

Combination = tuple[str, str, str, str]
"""Kind, condition type, status and reason."""
Steps = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Row:
    """Steps in a fresh namespace, and the conditions that they lead to, by kind of the object that has them."""

    steps: Steps
    expected: tuple[Combination, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of objects that are not called as usual, by kind."""
    namespace: str = ""
    """Where the objects stand, when not in the fresh namespace."""
    undo: Steps | None = None
    """What puts right again what the steps have changed for all."""

    async def run(self, stage: Stage) -> None:
        """Take the steps and wait for all conditions."""
        place = replace(stage, namespace=self.namespace or stage.namespace)
        try:
            await self.steps(stage)
            for kind, condition, status, reason in self.expected:
                ref, usual = OBJECTS[kind]
                await place.until_condition(ref, self.names.get(kind, usual), condition, status, reason)
        finally:
            if self.undo is not None:
                await self.undo(stage)


def row(steps: Steps, *expected: str, namespace: str = "", undo: Steps | None = None, **names: str) -> Row:
    """A row; each of `expected` is `Kind Type=Status Reason`, `names` name objects that are not called as usual."""
    return Row(steps, tuple(map(_parse, expected)), names, namespace, undo)


def _parse(text: str) -> Combination:
    kind, condition, reason = text.split()
    name, status = condition.split("=")
    return kind, name, status, reason
