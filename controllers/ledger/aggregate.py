"""One verdict over all targets of a ledger.

Pure. Owns the rule that a ledger is as bad as its worst target.
"""

from __future__ import annotations

from dataclasses import dataclass

from controllers.api.condition import ConditionStatus
from controllers.api.verdict import Verdict
from kube.object import ObjectKey


@dataclass(slots=True)
class Aggregate:
    """Counts over all targets of the ledger, for its aggregate condition."""

    targets: int = 0
    false: int = 0
    unknown: int = 0
    first: tuple[ObjectKey | None, Verdict] | None = None

    def count(self, target: ObjectKey | None, verdict: Verdict) -> None:
        """Count one target: a RecordSet, or the zone itself for None."""
        self.targets += 1
        if verdict.status is ConditionStatus.TRUE:
            return
        is_false = verdict.status is ConditionStatus.FALSE
        if self.first is None or (is_false and not self.false):
            self.first = target, verdict
        self.false += is_false
        self.unknown += not is_false

    def verdict(self, zone: Verdict) -> Verdict:
        """Return False when a target is False, else Unknown when one is Unknown, else True."""
        if self.first is None or zone.status is ConditionStatus.FALSE:
            return zone
        target, verdict = self.first
        status = ConditionStatus.FALSE if self.false else ConditionStatus.UNKNOWN
        name = f"RecordSet {target}" if target is not None else "the zone"
        count = f"{self.false or self.unknown} of {self.targets} targets"
        return Verdict(status, verdict.reason, f"{count}, first {name}: {verdict.message or verdict.reason}")
