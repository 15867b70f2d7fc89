"""What was decided before and still holds, because everything it was decided on is the very same object.

Caches replace objects and never change them, so identity is proof. A zone of thousands of claims then costs what changed in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict
from controllers.api.zone import Zone
from controllers.core.inputs import ZoneInputs
from controllers.core.record_rule import judge_record_set
from kube.object import ObjectKey

Ground = tuple[object, ...]


@dataclass(slots=True)
class ZoneMemory:
    """The memory of one zone: verdicts, and claims whose status was found to be right, each with its grounds."""

    _verdicts: dict[ObjectKey, tuple[Ground, Verdict]] = field(default_factory=dict)
    _settled: dict[ObjectKey, Ground] = field(default_factory=dict)

    def judge(self, claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
        """Return `judge_record_set`'s verdict."""
        ground = (claim, zone, inputs.provider, inputs.labels_of(claim.meta.namespace))
        known = self._verdicts.get(claim.key)
        if known is not None and _same(known[0], ground):
            return known[1]
        verdict = judge_record_set(claim, zone, inputs)
        self._verdicts[claim.key] = (ground, verdict)
        return verdict

    def is_settled(self, key: ObjectKey, ground: Ground) -> bool:
        """Say whether the claim's status was found right on these grounds."""
        known = self._settled.get(key)
        return known is not None and _same(known, ground)

    def settle(self, key: ObjectKey, ground: Ground) -> None:
        """Note that the claim's status is right."""
        self._settled[key] = ground

    def keep_only(self, claims: set[ObjectKey]) -> None:
        """Forget claims that are no longer there."""
        for known in (self._verdicts, self._settled):
            for key in known.keys() - claims:
                del known[key]


def _same(one: Ground, other: Ground) -> bool:
    return len(one) == len(other) and all(left is right for left, right in zip(one, other, strict=True))
