"""Events of the provider: what it did to records and zones.

Owns their words. They hold names and identifiers of zones and records, nothing of the account or the API's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from controllers.api.zone_unit import ZoneUnit
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.plan import ItemPlan
from controllers.runtime.recorder import EventRecorder, EventType
from kube.object import ObjectKey, ObjectReference

CREATED: Final = "CloudflareRecordCreated"
UPDATED: Final = "CloudflareRecordUpdated"
DELETED: Final = "CloudflareRecordDeleted"
ADOPTED: Final = "ExternalResourceAdopted"
ZONE_DELETED: Final = "ExternalResourceDeleted"
RETAINED: Final = "ExternalResourceRetained"


class Announcer:
    """Tells of changes at Cloudflare: records on their RecordSet, zones on their ledger."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def record_changes(self, zone: ObjectKey, plan: ItemPlan) -> None:
        """Tell what a successful request did for one RecordSet."""
        for reason, count in _counts(plan.change).items():
            verb = {CREATED: "created", UPDATED: "updated", DELETED: "deleted"}[reason]
            source = plan.item.source
            records = f"{count} {source.type} record{'s' if count > 1 else ''}"
            self._about_record_set(zone, source.key, reason, f"{records} of {plan.item.name} {verb} at Cloudflare.")

    def records_adopted(self, zone: ObjectKey, plan: ItemPlan) -> None:
        """Tell that a RecordSet took over existing records."""
        source = plan.item.source
        message = f"{len(plan.own)} {source.type} records of {plan.item.name} are managed from now on."
        self._about_record_set(zone, source.key, ADOPTED, message)

    def zone_adopted(self, main: ZoneUnit, zone_id: str) -> None:
        """Tell that a Zone took over an existing zone."""
        self._about_zone(main, ADOPTED, f"Zone {zone_id} at Cloudflare is managed from now on.")

    def zone_deleted(self, main: ZoneUnit, zone_id: str) -> None:
        """Tell that the zone at Cloudflare has gone with its Zone."""
        self._about_zone(main, ZONE_DELETED, f"Zone {zone_id} at Cloudflare is deleted.")

    def zone_retained(self, main: ZoneUnit, zone_id: str) -> None:
        """Tell that the zone at Cloudflare stays without its Zone."""
        self._about_zone(main, RETAINED, f"Zone {zone_id} stays at Cloudflare and is no longer managed.")

    def _about_record_set(self, zone: ObjectKey, claim: ObjectKey, reason: str, message: str) -> None:
        about = ObjectReference(RECORD_SETS.api_version, RECORD_SETS.kind, claim.namespace, claim.name)
        self._recorder.event(about, EventType.NORMAL, reason, message, _zone(zone))

    def _about_zone(self, main: ZoneUnit, reason: str, message: str) -> None:
        about = ObjectReference.of(ZONE_UNITS, main.meta)
        self._recorder.event(about, EventType.NORMAL, reason, message, _zone(main.spec.zone.ref.key))


def _zone(key: ObjectKey) -> ObjectReference:
    return ObjectReference(ZONES.api_version, ZONES.kind, key.namespace, key.name)


def _counts(change: Change) -> Mapping[str, int]:
    counts = {CREATED: len(change.posts), UPDATED: len(change.patches), DELETED: len(change.deletes)}
    return {reason: count for reason, count in counts.items() if count}
