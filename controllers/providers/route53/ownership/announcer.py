"""Events about Zones and RecordSets in Route 53: what was submitted, what has arrived, what was taken over or left.

Owns the reasons and the words. Claims are not read here, so events name them without their UID.
"""

from __future__ import annotations

from typing import Final

from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.zone_unit import UnitZone
from controllers.providers.route53.state import ZoneOperation
from controllers.runtime.recorder import EventRecorder, EventType
from kube.object import ObjectKey, ObjectReference
from kube.resource import ResourceRef

ZONE_SUBMITTED: Final = "Route53HostedZoneChangeSubmitted"
ZONE_IN_SYNC: Final = "Route53HostedZoneChangeInSync"
RECORD_SUBMITTED: Final = "Route53RecordSetChangeSubmitted"
RECORD_IN_SYNC: Final = "Route53RecordSetChangeInSync"
ADOPTED: Final = "ExternalResourceAdopted"
DELETED: Final = "ExternalResourceDeleted"
RETAINED: Final = "ExternalResourceRetained"


class Announcer:
    """Speaks about one Zone and its RecordSets."""

    def __init__(self, recorder: EventRecorder, zone: UnitZone) -> None:
        self._recorder = recorder
        self._domain = zone.domain_name
        self._zone = _reference(ZONES, zone.ref.key)

    def zone_submitted(self, operation: ZoneOperation, zone_id: str, change_id: str) -> None:
        message = f"{operation} of hosted zone {zone_id} for {self._domain} was submitted as change {change_id}."
        self._about_zone(ZONE_SUBMITTED, message)

    def zone_in_sync(self, operation: ZoneOperation, zone_id: str, change_id: str) -> None:
        message = f"{operation} of hosted zone {zone_id} for {self._domain} is in sync: change {change_id}."
        self._about_zone(ZONE_IN_SYNC, message)

    def zone_adopted(self, zone_id: str) -> None:
        self._about_zone(ADOPTED, f"Hosted zone {zone_id} is managed as {self._domain} from now on.")

    def zone_deleted(self, zone_id: str) -> None:
        self._about_zone(DELETED, f"Hosted zone {zone_id} for {self._domain} is deleted.")

    def zone_retained(self, zone_id: str, why: str) -> None:
        self._about_zone(RETAINED, f"Hosted zone {zone_id} for {self._domain} stays in Route 53: {why}.")

    def record_submitted(self, record_set: ObjectKey, action: str, change_id: str) -> None:
        self._about_record(record_set, RECORD_SUBMITTED, f"{action} was submitted as change {change_id}.")

    def record_in_sync(self, record_set: ObjectKey, change_id: str) -> None:
        self._about_record(record_set, RECORD_IN_SYNC, f"Change {change_id} is in sync.")

    def record_adopted(self, record_set: ObjectKey) -> None:
        self._about_record(record_set, ADOPTED, "The record set in Route 53 is managed from now on.")

    def record_retained(self, record_set: ObjectKey) -> None:
        message = "The record set in Route 53 stays: dns-api neither made it nor took it over."
        self._about_record(record_set, RETAINED, message)

    def _about_zone(self, reason: str, message: str) -> None:
        self._recorder.event(self._zone, EventType.NORMAL, reason, message)

    def _about_record(self, record_set: ObjectKey, reason: str, message: str) -> None:
        self._recorder.event(_reference(RECORD_SETS, record_set), EventType.NORMAL, reason, message, self._zone)


def _reference(ref: ResourceRef, key: ObjectKey) -> ObjectReference:
    return ObjectReference(ref.api_version, ref.kind, key.namespace, key.name)
