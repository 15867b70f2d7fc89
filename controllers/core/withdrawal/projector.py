"""The statuses of one zone's withdrawals: which of them have changed, and how they are written.

A status is written to exactly the object that it was decided for: a claim of the same name that came later gets nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from controllers.api.condition import ConditionStatus, find_condition
from controllers.api.patch import replacement
from controllers.api.record_withdrawal import RecordWithdrawal, RecordWithdrawalStatus
from controllers.api.record_withdrawal_reason import WithdrawalCondition
from controllers.core.inputs import ZoneInputs
from controllers.core.projection import Projected
from controllers.core.withdrawal.inventory import Inventory
from controllers.core.withdrawal.projection import Ground, project_withdrawal
from kube.client import Client
from kube.errors import NotFound
from kube.object import ObjectMeta
from kube.resource import ResourceRef
from zonemodel.model import Model


def changed_withdrawals(
    inputs: ZoneInputs, inventory: Inventory, now: str
) -> Iterator[tuple[RecordWithdrawal, Projected]]:
    """Yield the withdrawals whose status has to change, and the status that each has to have."""
    unit = next((unit for unit in inputs.units if unit.spec.part == 0), None)
    items = {item.key: item for item in inventory.items or ()}
    for claim in inputs.withdrawals:
        acceptance = inventory.acceptances.get(claim.key)
        if acceptance is None:
            continue
        ground = Ground(claim, items.get(claim.key), unit, inputs.zone_class)
        status = project_withdrawal(ground, acceptance, now)
        if status != claim.status:
            yield claim, Projected(status, provisional=_may_wait(claim, status))


def _may_wait(claim: RecordWithdrawal, status: RecordWithdrawalStatus) -> bool:
    """What is not known yet may wait for a moment, but nobody may go on reading that an address is free when it is not known."""
    ready = find_condition(claim.status.conditions, WithdrawalCondition.READY)
    if ready is not None and ready.status is ConditionStatus.TRUE:
        return False
    withdrawn = find_condition(status.conditions, WithdrawalCondition.WITHDRAWN)
    return withdrawn is not None and withdrawn.status is ConditionStatus.UNKNOWN


async def write_status_of(client: Client, ref: ResourceRef, meta: ObjectMeta, status: Model) -> None:
    """Replace the status of this very version of an object. Raises Conflict when there is a newer one; one that has gone needs none."""
    metadata = {"resourceVersion": meta.resource_version, "uid": meta.uid}
    patch = {"metadata": metadata, "status": replacement(status)}
    try:
        await client.patch_merge(ref, patch, name=meta.name, namespace=meta.namespace, subresource="status")
    except NotFound:
        return
