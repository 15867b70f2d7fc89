"""Fences around results: which of them speak of an item that stands in the ledger no more.

A result names the generation of its item. A claim that was made again under its name may have the generation that the former one had;
then only the generation of the part tells whether the provider has seen the new item. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.record_set import RecordSet
from controllers.api.zone_unit import ZoneUnit
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Fence:
    """A result counts once the provider has seen a generation of the part past this one, which the former item stood in."""

    part: int
    generation: int


def fence_at(part: int, units: Sequence[ZoneUnit]) -> Fence:
    """Return the fence for an item that is about to be changed in a part, as it is now."""
    return Fence(part, next(unit.meta.generation for unit in units if unit.spec.part == part))


def standing(fences: Mapping[ObjectKey, Fence], units: Sequence[ZoneUnit]) -> dict[ObjectKey, Fence]:
    """Return the fences that still hold: the new item is written, and the provider has not seen it."""
    by_part = {unit.spec.part: unit for unit in units} if fences else {}
    return {
        key: fence
        for key, fence in fences.items()
        if (unit := by_part.get(fence.part)) is not None
        and unit.meta.generation > fence.generation >= (unit.status.observed_generation or 0)
    }


def unsure(claims: Iterable[RecordSet], units: Sequence[ZoneUnit]) -> dict[ObjectKey, Fence]:
    """Return fences for what may have been changed by somebody who is not there to tell: who has been told nothing of a result yet waits
    until the provider has seen its part as it is now.
    """
    behind = {
        item.key: Fence(unit.spec.part, unit.meta.generation - 1)
        for unit in units
        if (unit.status.observed_generation or 0) < unit.meta.generation
        for item in unit.spec.record_sets
    }
    if not behind:
        return {}
    return {claim.key: behind[claim.key] for claim in claims if claim.key in behind and not _is_decided(claim)}


def _is_decided(claim: RecordSet) -> bool:
    told = find_condition(claim.status.conditions, ConditionType.PROGRAMMED)
    return (
        told is not None
        and told.observed_generation == claim.meta.generation
        and told.status is not ConditionStatus.UNKNOWN
    )
