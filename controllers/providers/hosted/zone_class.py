"""The ZoneClass controller: says of each class of ours whether it can be followed.

Owns `ZoneClass.status` of classes bound to our controller name; others are left alone, unread and unwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from controllers.api.condition import ConditionStatus, ConditionType, changed_conditions, merge_conditions
from controllers.api.group import ZONE_CLASSES
from controllers.api.zone_class import ZoneClass, ZoneClassStatus
from controllers.core.providercontract.conversion.zone_class import PENDING, StoredClasses
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.class_rule import is_ours, judge_class
from controllers.providers.hosted.result import condition
from controllers.providers.hosted.view import HostedInformers
from controllers.runtime.recorder import EventRecorder, EventType
from kube.client import Client
from kube.errors import NotFound
from kube.object import ObjectKey, ObjectReference
from kube.timestamp import time_text


class ZoneClassReconciler:
    """Reconciles one class by key."""

    def __init__(
        self,
        client: Client,
        informers: HostedInformers,
        recorder: EventRecorder,
        config: HostedConfig,
        stored: StoredClasses,
        wall_clock: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._informers = informers
        self._recorder = recorder
        self._config = config
        self._stored = stored
        self._wall_clock = wall_clock

    async def reconcile(self, key: ObjectKey) -> None:
        """Write the class's status when it says something else than it should."""
        zone_class = self._informers.zone_classes.get(key)
        if zone_class is None or zone_class.deleting or not is_ours(zone_class, self._config):
            self._stored.forget(key)
            return
        provider = self._informers.providers.get(ObjectKey("", self._config.provider_name))
        stored = self._stored.get(zone_class, provider)
        if stored is PENDING:
            return
        verdict = judge_class(stored, provider, self._config).verdict
        wanted = condition(ConditionType.ACCEPTED, verdict, zone_class.meta.generation)
        now = time_text(self._wall_clock())
        status = ZoneClassStatus(
            observed_generation=zone_class.meta.generation,
            conditions=merge_conditions(zone_class.status.conditions, [wanted], now),
        )
        if status != zone_class.status:
            await self._write(zone_class, status)

    async def _write(self, zone_class: ZoneClass, status: ZoneClassStatus) -> None:
        meta = zone_class.meta
        patch = {"metadata": {"resourceVersion": meta.resource_version}, "status": status.dump()}
        try:
            await self._client.patch_merge(
                ZONE_CLASSES, patch, name=meta.name, namespace=meta.namespace, subresource="status"
            )
        except NotFound:
            return
        about = ObjectReference.of(ZONE_CLASSES, meta)
        for each in changed_conditions(zone_class.status.conditions, status.conditions):
            kind = EventType.NORMAL if each.status is ConditionStatus.TRUE else EventType.WARNING
            self._recorder.event(about, kind, each.reason, each.message)
