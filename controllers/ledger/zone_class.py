"""The ZoneClass controller of a provider: says of each class of ours whether it can be followed.

Owns `ZoneClass.status` of classes bound to our controller name; others are left alone, unread and unwritten.
"""

from __future__ import annotations

from typing import Generic

from controllers.api.condition import ConditionStatus, ConditionType, changed_conditions, merge_conditions
from controllers.api.group import ZONE_CLASSES
from controllers.api.zone_class import ZoneClass, ZoneClassStatus
from controllers.core.providercontract.conversion.zone_class import PENDING
from controllers.ledger.class_rule import ClassRule, P, is_ours, judge_class
from controllers.ledger.context import LedgerContext
from controllers.ledger.result import condition
from controllers.runtime.recorder import EventType
from kube.errors import NotFound
from kube.object import ObjectKey, ObjectReference


class ZoneClassReconciler(Generic[P]):
    """Reconciles one class by key."""

    def __init__(self, context: LedgerContext, rule: ClassRule[P]) -> None:
        self._context = context
        self._rule = rule

    async def reconcile(self, key: ObjectKey) -> None:
        """Write the class's status when it says something else than it should."""
        context = self._context
        zone_class = context.informers.zone_classes.get(key)
        if zone_class is None or zone_class.deleting or not is_ours(zone_class, context.binding):
            context.stored.forget(key)
            return
        provider = context.provider()
        stored = context.stored.get(zone_class, provider)
        if stored is PENDING:
            return
        verdict = judge_class(stored, provider, context.binding, self._rule).verdict
        wanted = condition(ConditionType.ACCEPTED, verdict, zone_class.meta.generation)
        status = ZoneClassStatus(
            observed_generation=zone_class.meta.generation,
            conditions=merge_conditions(zone_class.status.conditions, [wanted], context.now_text()),
        )
        if status != zone_class.status:
            await self._write(zone_class, status)

    async def _write(self, zone_class: ZoneClass, status: ZoneClassStatus) -> None:
        meta = zone_class.meta
        patch = {"metadata": {"resourceVersion": meta.resource_version}, "status": status.dump()}
        try:
            await self._context.surroundings.client.patch_merge(
                ZONE_CLASSES, patch, name=meta.name, namespace=meta.namespace, subresource="status"
            )
        except NotFound:
            return
        about = ObjectReference.of(ZONE_CLASSES, meta)
        for each in changed_conditions(zone_class.status.conditions, status.conditions):
            kind = EventType.NORMAL if each.status is ConditionStatus.TRUE else EventType.WARNING
            self._context.recorder.event(about, kind, each.reason, each.message)
