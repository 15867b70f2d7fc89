"""What a provider observed, put back onto the claims.

Pure. An observation counts only when all of it was made for exactly what is wanted now: the claim by UID and generation, the class by
UID and generation, the ledger's newest spec, the item with its authorization and waiver. Each of these is a fence of its own; whatever
stands on the wrong side of one is as good as nothing observed. Public evidence goes over, private state never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import Condition, ConditionStatus, find_condition, merge_conditions
from controllers.api.record_withdrawal import RecordWithdrawal, RecordWithdrawalStatus
from controllers.api.record_withdrawal_item import ClassBinding, UnitWithdrawal, UnitWithdrawalStatus
from controllers.api.record_withdrawal_reason import WithdrawalCondition, WithdrawalReason
from controllers.api.zone import ProviderData
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.withdrawal.rule import Acceptance

NOTHING_CURRENT: Final = "No current identity-bound withdrawal observation is available."


@dataclass(frozen=True, slots=True)
class Ground:
    """What a projection is made on: the claim, its item as composed now, the ledger's part 0 and the class."""

    claim: RecordWithdrawal
    item: UnitWithdrawal | None
    unit: ZoneUnit | None
    zone_class: ZoneClass | None

    @property
    def result(self) -> UnitWithdrawalStatus | None:
        """The provider's result under the claim's name, whoever's it is."""
        results = self.unit.status.withdrawals if self.unit is not None else ()
        return next((each for each in results if each.key == self.claim.key), None)


Fence = Callable[[Ground, UnitWithdrawalStatus], bool]


def project_withdrawal(ground: Ground, acceptance: Acceptance, now: str) -> RecordWithdrawalStatus:
    """Return the next status of a withdrawal."""
    generation = ground.claim.meta.generation
    result = _current(ground)
    accepted = Condition(
        type=WithdrawalCondition.ACCEPTED,
        status=acceptance.status,
        observed_generation=generation,
        reason=acceptance.reason,
        message=acceptance.message,
    )
    observed = _carried(result) if result is not None else _nothing_observed(generation)
    public = result.provider.data if result is not None and result.provider is not None else None
    before = [each for each in ground.claim.status.conditions if each.type in {one.type for one in observed}]
    return RecordWithdrawalStatus(
        observed_generation=generation,
        provider=ProviderData(data=public) if public is not None else None,
        conditions=merge_conditions(
            [*before, *(each for each in ground.claim.status.conditions if each.type == accepted.type)],
            [accepted, *observed],
            now,
        ),
    )


def _current(ground: Ground) -> UnitWithdrawalStatus | None:
    """Return the result when no fence keeps it out."""
    result = ground.result
    return result if result is not None and all(fence(ground, result) for fence in FENCES) else None


def _unit_is_seen(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    unit = ground.unit
    return unit is not None and not unit.deleting and unit.status.observed_generation == unit.meta.generation


def _item_is_the_wanted_one(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    items = ground.unit.spec.withdrawals if ground.unit is not None else ()
    return ground.item is not None and any(each == ground.item for each in items)


def _claim_is_the_same(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    meta = ground.claim.meta
    return (result.claim_uid, result.claim_generation) == (meta.uid, meta.generation)


def _waiver_is_the_same(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    return ground.item is not None and result.waiver == ground.item.waiver


def _class_is_the_same(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    return ground.zone_class is not None and result.zone_class == class_binding(ground.zone_class)


def _conditions_are_current(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    found = [
        find_condition(result.conditions, kind) for kind in (WithdrawalCondition.WITHDRAWN, WithdrawalCondition.READY)
    ]
    return all(each is not None and each.observed_generation == ground.claim.meta.generation for each in found)


def _override_is_the_composed_one(ground: Ground, result: UnitWithdrawalStatus) -> bool:
    """An override needs a waiver, which the fence before has compared, and the provider's word that it took it."""
    ready = find_condition(result.conditions, WithdrawalCondition.READY)
    if ready is None or ready.reason != WithdrawalReason.OPERATOR_AUTHORIZED_RELEASE:
        return True
    waiver = ground.item.waiver if ground.item is not None else None
    override = find_condition(result.conditions, WithdrawalCondition.OVERRIDE_ACCEPTED)
    return (
        waiver is not None
        and override is not None
        and override.status is ConditionStatus.TRUE
        and override.reason == WithdrawalReason.OPERATOR_AUTHORIZED_RELEASE
        and override.observed_generation == ground.claim.meta.generation
    )


FENCES: Final[tuple[Fence, ...]] = (
    _unit_is_seen,
    _item_is_the_wanted_one,
    _claim_is_the_same,
    _waiver_is_the_same,
    _class_is_the_same,
    _conditions_are_current,
    _override_is_the_composed_one,
)


def class_binding(zone_class: ZoneClass) -> ClassBinding:
    """Return the class as results name it."""
    return ClassBinding(uid=zone_class.meta.uid, generation=zone_class.meta.generation)


def _carried(result: UnitWithdrawalStatus) -> list[Condition]:
    """The provider's conditions as they are; one that says of a waiver what no current condition says is left out."""
    kinds = (WithdrawalCondition.WITHDRAWN, WithdrawalCondition.READY, WithdrawalCondition.OVERRIDE_ACCEPTED)
    found = (find_condition(result.conditions, kind) for kind in kinds)
    return [each for each in found if each is not None and each.observed_generation == result.claim_generation]


def _nothing_observed(generation: int) -> list[Condition]:
    return [
        Condition(
            type=kind,
            status=status,
            observed_generation=generation,
            reason=WithdrawalReason.DNS_PROBE_FAILED,
            message=NOTHING_CURRENT,
        )
        for kind, status in (
            (WithdrawalCondition.WITHDRAWN, ConditionStatus.UNKNOWN),
            (WithdrawalCondition.READY, ConditionStatus.FALSE),
        )
    ]
