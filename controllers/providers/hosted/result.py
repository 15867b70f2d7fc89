"""Results for a ledger: the status of each part, from what was published and what the servers report.

Pure. Owns the contract with the composer:

- An item's entry counts for the item's `observedGeneration`; conditions of the zone carry the Zone's generation.
- An item whose deletion was asked for is deleted when its part's `status.observedGeneration` is the part's generation and
  `status.recordSets` has no entry for it. As long as a live server serves the records, that generation is not reported without an
  entry. An entry that is missing otherwise, or is of another generation, says nothing.
- Results that say no more than "not yet" are held back for a moment: see `Hold`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from controllers.api.condition import Condition, ConditionStatus, ConditionType, find_condition, merge_conditions
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone_unit import PrivateProviderData, UnitRecordSetStatus, UnitZoneStatus, ZoneUnit, ZoneUnitStatus
from controllers.providers.hosted.aggregate import Aggregate
from controllers.providers.hosted.item import Item, Items
from kube.object import ObjectKey

TRANSIENT: Final = frozenset({Reason.PROVIDER_CHANGE_PENDING, Reason.PROVIDER_UNAVAILABLE})


class Hold(Enum):
    """Why a result is held back."""

    PENDING = auto()  # the change is on its way to the servers
    OUTAGE = auto()  # what was served before may be so again in a moment


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What is so with an item; `gone` when its deletion is complete."""

    programmed: Verdict
    accepted: Verdict = ACCEPTED
    gone: bool = False


@dataclass(frozen=True, slots=True)
class ZoneResult:
    """What is so with the zone."""

    accepted: Verdict
    programmed: Verdict
    name_servers: tuple[str, ...]
    hosted_zone: str | None


@dataclass(slots=True)
class Settlement:
    """The statuses to have now, by part, and what is held back."""

    statuses: dict[int, ZoneUnitStatus] = field(default_factory=dict)
    held: set[Hold] = field(default_factory=set)


def settle(
    parts: Sequence[ZoneUnit],
    current: Sequence[ZoneUnitStatus],
    zone: ZoneResult,
    items: Sequence[Items],
    results: Sequence[Sequence[ItemResult]],
    release: frozenset[Hold],
    now: str,
) -> Settlement:
    """Return the next status of each part; `release` names the holds that have lasted long enough."""
    settlement = Settlement()
    total = Aggregate()
    total.count(None, zone.programmed)
    for part_items, part_results in zip(items, results, strict=True):
        for item, result in zip(part_items, part_results, strict=True):
            if not result.gone:
                total.count(item.key, result.programmed)
    # Part 0 comes last: its aggregate has to know of everything that is held back.
    for unit, status, part_items, part_results in reversed(list(zip(parts, current, items, results, strict=True))):
        part = _PartSettlement(unit, status, release, now)
        part.take_items(part_items, part_results)
        if unit.spec.part == 0:
            part.take_zone(zone)
            part.take_aggregate(total.verdict(zone.programmed), waits=bool(settlement.held | part.held))
        settlement.statuses[unit.spec.part] = part.finished()
        settlement.held |= part.held
    return settlement


class _PartSettlement:
    """The next status of one part in the making."""

    def __init__(self, unit: ZoneUnit, status: ZoneUnitStatus, release: frozenset[Hold], now: str) -> None:
        self._unit = unit
        self._old = status
        self._release = release
        self._now = now
        self._entries = status.record_sets
        self._zone = status.zone
        self._conditions = status.conditions
        self._undeleted: list[UnitRecordSetStatus] = []
        self.held: set[Hold] = set()

    def take_items(self, items: Items, results: Iterable[ItemResult]) -> None:
        """Enter the items' results; entries keep their places, so that a patch stays small."""
        known = {entry.key: entry for entry in self._old.record_sets}
        next_entries: dict[ObjectKey, UnitRecordSetStatus] = {}
        for item, result in zip(items, results, strict=True):
            entry = known.get(item.key)
            if result.gone:
                continue
            if entry is None or not _says(entry, item, result):
                entry = self._renewed(entry, item, result)
            if entry is not None:
                next_entries[item.key] = entry
        kept = [next_entries[key] for key in known if key in next_entries]
        kept += [entry for key, entry in next_entries.items() if key not in known]
        changed = len(kept) != len(self._entries) or any(
            old is not new for old, new in zip(self._entries, kept, strict=True)
        )
        if changed:
            self._entries = tuple(kept)

    def take_zone(self, zone: ZoneResult) -> None:
        """Enter the zone's result."""
        old = self._old.zone or UnitZoneStatus()
        generation = self._unit.spec.zone.observed_generation
        wanted = [condition(ConditionType.ACCEPTED, zone.accepted, generation)]
        before = find_condition(old.conditions, ConditionType.PROGRAMMED)
        known = before is not None and _holds(before, zone.programmed, generation)
        if known or self._hold_of(zone.programmed, ()) is None:
            wanted.append(condition(ConditionType.PROGRAMMED, zone.programmed, generation))
        elif not old.conditions:
            return
        data = {"hostedZone": zone.hosted_zone} if zone.hosted_zone is not None else None
        self._zone = UnitZoneStatus(
            conditions=merge_conditions(old.conditions, wanted, self._now),
            name_servers=zone.name_servers,
            provider=PrivateProviderData(data=data) if data is not None else None,
        )

    def take_aggregate(self, verdict: Verdict, *, waits: bool) -> None:
        """Enter the aggregate over the whole ledger, unless it would only say what is held back."""
        if waits and verdict.reason in TRANSIENT:
            return
        wanted = condition(ConditionType.PROGRAMMED, verdict, self._unit.meta.generation)
        self._conditions = merge_conditions(self._conditions, [wanted], self._now)

    def finished(self) -> ZoneUnitStatus:
        """Return the status. The generation moves when something else does, or when nothing is held back."""
        old = self._old
        changed = self._entries is not old.record_sets or self._zone != old.zone
        if changed or not self.held:
            generation: int | None = self._unit.meta.generation
            conditions = self._conditions
        else:
            generation, conditions = old.observed_generation, old.conditions
        entries = self._entries
        if generation != old.observed_generation:
            entries = (*entries, *self._undeleted)
        return ZoneUnitStatus(
            observed_generation=generation,
            conditions=conditions,
            provider=old.provider,
            zone=self._zone,
            record_sets=entries,
        )

    def _renewed(self, entry: UnitRecordSetStatus | None, item: Item, result: ItemResult) -> UnitRecordSetStatus | None:
        """Return the entry to have now: the new one, or the old one (none, perhaps) while the new one is held back."""
        current = entry is not None and entry.observed_generation == item.source.observed_generation
        hold = self._hold_of(result.programmed, entry.conditions if entry is not None and current else ())
        if hold is None:
            return _entry(item, result, entry.conditions if entry is not None else (), self._now)
        if entry is None and item.source.deletion_requested:
            self._undeleted.append(_entry(item, result, (), self._now))
        return entry

    def _hold_of(self, verdict: Verdict, current: Iterable[Condition]) -> Hold | None:
        if verdict.reason not in TRANSIENT:
            return None
        before = find_condition(current, ConditionType.PROGRAMMED)
        was_served = before is not None and before.status is ConditionStatus.TRUE
        hold = Hold.OUTAGE if was_served else Hold.PENDING
        if hold in self._release:
            return None
        self.held.add(hold)
        return hold


def condition(kind: ConditionType, verdict: Verdict, generation: int) -> Condition:
    """Return a verdict as a condition; its transition time is set when it is merged."""
    return Condition(
        type=kind,
        status=verdict.status,
        observed_generation=generation,
        reason=verdict.reason,
        message=verdict.message,
    )


def faulty(fault: str) -> ItemResult:
    """Return the result of an item that cannot be served as it is written."""
    return ItemResult(
        refused(Reason.PROVIDER_INVALID_REQUEST, f"spec.{fault}."),
        refused(Reason.INVALID_PROVIDER_PAYLOAD, f"spec.{fault}."),
    )


def _entry(item: Item, result: ItemResult, before: Iterable[Condition], now: str) -> UnitRecordSetStatus:
    generation = item.source.observed_generation
    wanted = (
        condition(ConditionType.ACCEPTED, result.accepted, generation),
        condition(ConditionType.PROGRAMMED, result.programmed, generation),
    )
    return UnitRecordSetStatus(
        record_set_namespace=item.key.namespace,
        record_set_name=item.key.name,
        observed_generation=generation,
        conditions=merge_conditions(before, wanted, now),
    )


def _says(entry: UnitRecordSetStatus, item: Item, result: ItemResult) -> bool:
    """Say whether an entry holds a result already. Without making conditions: it is asked for every item each time."""
    generation = item.source.observed_generation
    if entry.observed_generation != generation or len(entry.conditions) != 2:
        return False
    accepted, programmed = entry.conditions
    return (
        accepted.type == ConditionType.ACCEPTED
        and programmed.type == ConditionType.PROGRAMMED
        and _holds(accepted, result.accepted, generation)
        and _holds(programmed, result.programmed, generation)
    )


def _holds(found: Condition, verdict: Verdict, generation: int) -> bool:
    return (
        found.status is verdict.status
        and found.reason == verdict.reason
        and found.message == verdict.message
        and found.observed_generation == generation
    )
