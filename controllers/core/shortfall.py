"""What is written of a part of the ledger when the API takes not all of it: too large, or with something in it that is refused.

Pure. Owns what goes first: deletions and policies always, then everything but the items that the API names or the one that grows most,
so that a claim holds up nobody but itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from controllers.api.zone_unit import UnitRecordSet, ZoneUnitSpec
from controllers.core.placement import size_bytes
from kube.errors import KubeError, TooLarge
from kube.object import ObjectKey

_POSITION: Final = re.compile(r"spec\.recordSets\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A part that could not be written as composed: why, and what it holds instead; None for one that could not be made.

    `faults` is what is said of single claims: each is told its own, since claims of a zone are of many namespaces.
    """

    part: int
    error: KubeError
    stands: ZoneUnitSpec | None
    faults: Mapping[ObjectKey, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """What whoever may read the ledger is told."""
        verb = "has no room for it" if isinstance(self.error, TooLarge) else "does not take it"
        return f"The ledger {verb} in part {self.part}: {self.error.message}"

    def told_to(self, claim: ObjectKey) -> str:
        """What a claim is told that does not stand there."""
        if not self.error.causes:
            return self.message
        fault = self.faults.get(claim, "something that is written with it is refused.")
        return f"The ledger does not take it in part {self.part}: {fault}"

    def lacking(self, items: Iterable[UnitRecordSet]) -> Iterator[ObjectKey]:
        """Yield the claims of those items that do not stand there as they were composed."""
        standing = {item.key: item for item in self.stands.record_sets} if self.stands is not None else {}
        yield from (item.key for item in items if standing.get(item.key) != item)


def faults_by_claim(error: KubeError, spec: ZoneUnitSpec) -> dict[ObjectKey, str]:
    """Return what a refusal of this part says of single claims, whose items it names by their positions."""
    faults: dict[ObjectKey, str] = {}
    for cause in error.causes:
        found = _POSITION.match(cause.field)
        if found and (position := int(found[1])) < len(spec.record_sets):
            key = spec.record_sets[position].key
            field_of_item = cause.field[found.end() :].lstrip(".")
            fault = f"{field_of_item}: {cause.message}" if field_of_item else cause.message
            faults[key] = f"{faults[key]}; {fault}" if key in faults else fault
    return faults


def lesser_specs(
    old: ZoneUnitSpec, new: ZoneUnitSpec, named: Collection[ObjectKey] = frozenset()
) -> Iterator[ZoneUnitSpec]:
    """Yield what may be written in place of `new` where `old` stands, the more of it the earlier; at worst `old` is left as it is.

    `named` are the claims that the API objects to, as far as it says so.
    """
    before = {item.key: item for item in old.record_sets}
    altered = [item for item in new.record_sets if _with_decisions(before.get(item.key), item) != item]
    if len(altered) > 1:
        refused = {item.key for item in altered if item.key in named}
        if 0 < len(refused) < len(altered):
            yield new.model_copy(update={"record_sets": _without(new, refused, before)})
        largest = max(altered, key=lambda item: _growth_bytes(before.get(item.key), item)).key
        if refused != {largest}:
            yield new.model_copy(update={"record_sets": _without(new, {largest}, before)})
    yield old.model_copy(update={"record_sets": _without(new, {item.key for item in altered}, before)})


def _without(
    new: ZoneUnitSpec, left: set[ObjectKey], before: dict[ObjectKey, UnitRecordSet]
) -> tuple[UnitRecordSet, ...]:
    """Return the items of `new`, those that are left out as they stood before, if they did."""
    items = (_with_decisions(before.get(item.key), item) if item.key in left else item for item in new.record_sets)
    return tuple(item for item in items if item is not None)


def _with_decisions(old: UnitRecordSet | None, new: UnitRecordSet) -> UnitRecordSet | None:
    """Return an item's former records with what is decided of them now."""
    if old is None:
        return None
    return old.model_copy(update={"allowed": new.allowed, "deletion_requested": new.deletion_requested})


def _growth_bytes(old: UnitRecordSet | None, new: UnitRecordSet) -> int:
    return size_bytes(new) - (size_bytes(old) if old is not None else 0)
