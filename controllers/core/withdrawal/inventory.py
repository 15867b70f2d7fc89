"""The withdrawals of one zone: what each claim is told, and what stands in tomorrow's ledger.

Pure. A claim is an obligation: it stays in the ledger for as long as it exists, whatever is decided about it, and nothing is left out
for want of room. A claim that has gone was taken away by a person, and goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from controllers.api.record_withdrawal import RecordWithdrawal, address_type
from controllers.api.record_withdrawal_item import WITHDRAWAL_LIMIT, AddressType, UnitWithdrawal
from controllers.api.zone import Zone
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec
from controllers.core.inputs import ZoneInputs
from controllers.core.withdrawal.rule import Acceptance, invalid, judge_shape, judge_withdrawal, too_many
from controllers.core.withdrawal.waiver import first_waiver
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Inventory:
    """What each claim is told, and the items that stand for them in part 0, None when that is left as it is."""

    acceptances: Mapping[ObjectKey, Acceptance] = field(default_factory=dict)
    items: tuple[UnitWithdrawal, ...] | None = None


NOTHING: Final = Inventory()


def take_inventory(inputs: ZoneInputs, tomorrow: ZoneUnitSpec | None) -> Inventory:
    """Decide about every withdrawal of a zone; `tomorrow` is what part 0 of its ledger is about to be, None when there is none."""
    claims = sorted(inputs.withdrawals, key=lambda claim: claim.key)
    main = _main(inputs)
    if tomorrow is None and not claims:
        return NOTHING
    if inputs.zone is None:
        return Inventory({claim.key: invalid(f"Zone {inputs.key} does not exist.") for claim in claims})
    if tomorrow is None or (main is not None and main.deleting):
        return Inventory({claim.key: _without_ledger(claim, inputs.zone, inputs) for claim in claims})
    before = {item.key: item for item in main.spec.withdrawals} if main is not None else {}
    if len(claims) > WITHDRAWAL_LIMIT:
        return _refuse_all(claims, before)
    return _decide(claims, before, inputs, tomorrow)


def _main(inputs: ZoneInputs) -> ZoneUnit | None:
    return next((unit for unit in inputs.units if unit.spec.part == 0), None)


def _without_ledger(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    shape = judge_shape(claim)
    judged = judge_withdrawal(claim, zone, inputs) if shape.accepted else shape
    return invalid(f"Zone {inputs.key} has no ledger that the claim could stand in.") if judged.accepted else judged


def _refuse_all(claims: list[RecordWithdrawal], before: Mapping[ObjectKey, UnitWithdrawal]) -> Inventory:
    """Refuse the inventory as a whole; what stood in the ledger goes on standing there, with nothing that would release it."""
    refusal = too_many(len(claims))
    there = {claim.key for claim in claims}
    kept = tuple(_disallowed(item) for key, item in sorted(before.items()) if key in there)
    return Inventory({claim.key: refusal for claim in claims}, kept)


def _decide(
    claims: Iterable[RecordWithdrawal],
    before: Mapping[ObjectKey, UnitWithdrawal],
    inputs: ZoneInputs,
    tomorrow: ZoneUnitSpec,
) -> Inventory:
    acceptances: dict[ObjectKey, Acceptance] = {}
    items: list[UnitWithdrawal] = []
    for claim in claims:
        shape = judge_shape(claim)
        if not shape.accepted:
            acceptances[claim.key] = shape
            if (item := before.get(claim.key)) is not None:
                items.append(_disallowed(item))
            continue
        acceptance = _judge(claim, inputs, tomorrow)
        acceptances[claim.key] = acceptance
        items.append(_item(claim, inputs, allowed=acceptance.accepted))
    kept = tuple(known if (known := before.get(item.key)) == item and known is not None else item for item in items)
    return Inventory(acceptances, kept)


def _judge(claim: RecordWithdrawal, inputs: ZoneInputs, tomorrow: ZoneUnitSpec) -> Acceptance:
    zone = inputs.zone
    assert zone is not None, "take_inventory has looked"
    acceptance = judge_withdrawal(claim, zone, inputs)
    if not acceptance.accepted:
        return acceptance
    # Deletion gives a Zone a new generation, which its ledger is not composed for any more.
    if tomorrow.zone.observed_generation != zone.meta.generation and not zone.deleting:
        return invalid(f"The ledger of Zone {zone.key} is not composed for its generation {zone.meta.generation}.")
    return acceptance


def _item(claim: RecordWithdrawal, inputs: ZoneInputs, *, allowed: bool) -> UnitWithdrawal:
    waivers = inputs.waivers.get(claim.meta.namespace, ())
    return UnitWithdrawal(
        claim_namespace=claim.meta.namespace,
        claim_name=claim.meta.name,
        claim_uid=claim.meta.uid,
        claim_generation=claim.meta.generation,
        name=claim.spec.name,
        type=AddressType(address_type(claim.spec.address)),
        address=claim.spec.address,
        allowed=allowed,
        waiver=first_waiver(claim, waivers) if allowed else None,
    )


def _disallowed(item: UnitWithdrawal) -> UnitWithdrawal:
    return item.model_copy(update={"allowed": False, "waiver": None})


def with_withdrawals(spec: ZoneUnitSpec, items: tuple[UnitWithdrawal, ...]) -> ZoneUnitSpec:
    """Return part 0 with these withdrawals; the very same value when it has them already."""
    return spec if spec.withdrawals == items else spec.model_copy(update={"withdrawals": items})
