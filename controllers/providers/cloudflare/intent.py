"""What was about to be created when a request was sent, kept in the ledger until it is known what became of it.

Pure. Owns the form of these notes in part 0's private state, and the judgement which records and zones are the ones that were noted:
they were created since, they are what was asked for, and they were not there before. Without a note nothing is ever recognised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from controllers.providers.cloudflare.desired import fingerprints
from controllers.providers.cloudflare.record import CloudflareRecord, parse_time
from controllers.providers.cloudflare.zone_fact import FULL, ZoneFact
from kube.object import ObjectKey
from kube.timestamp import micro_time_text

CLOCK_SLACK: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class RecordIntent:
    """Records that a RecordSet was about to have created since `since`, by their fingerprints; `last` is the last request's time."""

    since: datetime
    last: datetime
    records: tuple[str, ...]

    def claims(self, records: Iterable[CloudflareRecord]) -> tuple[CloudflareRecord, ...]:
        """Return those of the records that are the noted ones."""
        left = Counter(self.records)
        claimed = []
        for record in records:
            known = next((each for each in fingerprints(record) if left[each] > 0), None)
            if known is not None and (record.created is None or record.created >= self.since - CLOCK_SLACK):
                left[known] -= 1
                claimed.append(record)
        return tuple(claimed)


@dataclass(frozen=True, slots=True)
class Intents:
    """All notes of one ledger; `zone_since` is set while a zone may have been created."""

    zone_since: datetime | None = None
    records: Mapping[ObjectKey, RecordIntent] = field(default_factory=dict)

    def with_zone(self, since: datetime | None) -> Intents:
        """Return the notes with the zone's own replaced."""
        return replace(self, zone_since=since)

    def adding(self, key: ObjectKey, since: datetime, records: Iterable[str]) -> Intents:
        """Return the notes with one more; of one that is there already the beginning and the records stay noted."""
        before = self.records.get(key)
        intent = RecordIntent(since, since, tuple(records))
        if before is not None:
            further = Counter(intent.records) - Counter(before.records)
            intent = RecordIntent(before.since, since, (*before.records, *further.elements()))
        return replace(self, records={**self.records, key: intent})

    def without(self, keys: Iterable[ObjectKey]) -> Intents:
        """Return the notes without those of some RecordSets."""
        dropped = set(keys)
        return replace(self, records={key: each for key, each in self.records.items() if key not in dropped})

    def claims_zone(self, zone: ZoneFact) -> bool:
        """Say whether a zone is the one that was noted."""
        since = self.zone_since
        if since is None or zone.type != FULL:
            return False
        return zone.created is not None and zone.created >= since - CLOCK_SLACK

    def dump(self) -> dict[str, Any]:
        """Return the private state of the ledger."""
        state: dict[str, Any] = {}
        if self.zone_since is not None:
            state["creatingZone"] = {"since": micro_time_text(self.zone_since)}
        if self.records:
            state["creatingRecords"] = [
                {
                    "recordSetNamespace": key.namespace,
                    "recordSetName": key.name,
                    "since": micro_time_text(each.since),
                    "last": micro_time_text(each.last),
                    "records": list(each.records),
                }
                for key, each in sorted(self.records.items())
            ]
        return state


def parse_intents(state: Mapping[str, Any] | None) -> Intents:
    """Parse the private state of a ledger; a note that cannot be read is none."""
    state = state or {}
    zone = state.get("creatingZone")
    records: dict[ObjectKey, RecordIntent] = {}
    for each in state.get("creatingRecords") or ():
        since, last = parse_time(each.get("since")), parse_time(each.get("last"))
        if since is not None and last is not None:
            key = ObjectKey(str(each.get("recordSetNamespace")), str(each.get("recordSetName")))
            records[key] = RecordIntent(since, last, tuple(map(str, each.get("records") or ())))
    return Intents(parse_time(zone.get("since")) if isinstance(zone, Mapping) else None, records)
