"""Results for a ledger: the status of each part, from what the provider found out about the zone and about each record set.

Pure. Owns the contract with the composer:

- An item's entry counts for the item's `observedGeneration`; conditions of the zone carry the Zone's generation.
- An item whose deletion was asked for is deleted when its part's `status.observedGeneration` is the part's generation and
  `status.recordSets` has no entry for it. As long as the records may still be there, that generation is not reported without an
  entry. An entry that is missing otherwise, or is of another generation, says nothing.
- Results that say no more than "not yet" are held back for a moment: see `Hold`. What they bring beyond that is not.
- Public data and private state stay as they stand until a result says otherwise, so that what is known of a record outlives an outage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, Protocol

from controllers.api.condition import Condition, ConditionStatus, ConditionType, find_condition, merge_conditions
from controllers.api.reason import Reason
from controllers.api.record_withdrawal_item import UnitWithdrawalStatus
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone_unit import (
    PrivateProviderData,
    StateOnly,
    UnitRecordSet,
    UnitRecordSetStatus,
    UnitZoneStatus,
    ZoneUnit,
    ZoneUnitStatus,
)
from controllers.ledger.aggregate import Aggregate
from kube.object import ObjectKey

Facts = Mapping[str, Any]
"""JSON object of a provider's own; None wherever it is asked for leaves what stands there, an empty one removes it."""

TRANSIENT: Final = frozenset({Reason.PROVIDER_CHANGE_PENDING, Reason.PROVIDER_UNAVAILABLE})


class Hold(Enum):
    """Why a result is held back."""

    PENDING = auto()  # the change is on its way
    OUTAGE = auto()  # what was programmed before may be so again in a moment


class Item(Protocol):
    """One item of the ledger as a provider holds it."""

    @property
    def source(self) -> UnitRecordSet: ...

    @property
    def key(self) -> ObjectKey: ...


@dataclass(frozen=True, slots=True)
class PlainItem:
    """An item with nothing beside it."""

    source: UnitRecordSet
    key: ObjectKey


def plain_items(parts: Iterable[ZoneUnit]) -> tuple[tuple[PlainItem, ...], ...]:
    """Return each part's items in its order."""
    return tuple(tuple(PlainItem(each, each.key) for each in part.spec.record_sets) for part in parts)


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What is so with an item; `gone` when its deletion is complete.

    `data` is public and goes to the RecordSet's status.provider.data, `state` stays in the ledger.
    """

    programmed: Verdict
    accepted: Verdict = ACCEPTED
    gone: bool = False
    data: Facts | None = None
    state: Facts | None = None


@dataclass(frozen=True, slots=True)
class ZoneResult:
    """What is so with the zone.

    `data` is public and goes to the Zone's status.provider.data. `state` (about the zone) and `ledger_state` (about the ledger as a
    whole, such as a change under way) stay in part 0. `name_servers` are left as they stand when None. Facts are written at once, even
    beside a result that is held back, unless they `can_wait` since they are found out again at any time. `withdrawals` are the results
    for all withdrawals, left as they stand when None, and never held back.
    """

    accepted: Verdict
    programmed: Verdict
    name_servers: tuple[str, ...] | None = None
    data: Facts | None = None
    state: Facts | None = None
    ledger_state: Facts | None = None
    can_wait: bool = False
    withdrawals: tuple[UnitWithdrawalStatus, ...] | None = None


@dataclass(slots=True)
class Settlement:
    """The statuses to have now, by part, and what is held back."""

    statuses: dict[int, ZoneUnitStatus] = field(default_factory=dict)
    held: set[Hold] = field(default_factory=set)


def settle(
    parts: Sequence[ZoneUnit],
    current: Sequence[ZoneUnitStatus],
    zone: ZoneResult,
    items: Sequence[Sequence[Item]],
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
        self._state = status.provider
        self._withdrawals = status.withdrawals
        self._undeleted: list[UnitRecordSetStatus] = []
        self.held: set[Hold] = set()

    def take_items(self, items: Sequence[Item], results: Iterable[ItemResult]) -> None:
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
        if zone.withdrawals is not None and zone.withdrawals != self._withdrawals:
            self._withdrawals = zone.withdrawals
        self._state = _noted(self._old.provider, zone.ledger_state)
        generation = self._unit.spec.zone.observed_generation
        wanted = [condition(ConditionType.ACCEPTED, zone.accepted, generation)]
        before = find_condition(old.conditions, ConditionType.PROGRAMMED)
        known = before is not None and _holds(before, zone.programmed, generation)
        facts = _known(old.provider, zone.data, zone.state)
        urgent = facts is not old.provider and not zone.can_wait
        current = (before,) if before is not None and before.observed_generation == generation else ()
        if known or urgent or self._hold_of(zone.programmed, current) is None:
            wanted.append(condition(ConditionType.PROGRAMMED, zone.programmed, generation))
        elif not old.conditions:
            return
        self._zone = UnitZoneStatus(
            conditions=merge_conditions(old.conditions, wanted, self._now),
            name_servers=old.name_servers if zone.name_servers is None else zone.name_servers,
            provider=facts,
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
        changed = (
            self._entries is not old.record_sets
            or self._withdrawals is not old.withdrawals
            or (self._zone, self._state) != (old.zone, old.provider)
        )
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
            provider=self._state,
            zone=self._zone,
            record_sets=entries,
            withdrawals=self._withdrawals,
        )

    def _renewed(self, entry: UnitRecordSetStatus | None, item: Item, result: ItemResult) -> UnitRecordSetStatus | None:
        """Return the entry to have now: the new one, or the old one (none, perhaps) while the new one is held back."""
        current = entry is not None and entry.observed_generation == item.source.observed_generation
        known = entry.provider if entry is not None else None
        if _known(known, result.data, result.state) is not known:
            return _entry(item, result, entry, self._now)
        if self._hold_of(result.programmed, entry.conditions if entry is not None and current else ()) is None:
            return _entry(item, result, entry, self._now)
        if entry is None and item.source.deletion_requested:
            self._undeleted.append(_entry(item, result, None, self._now))
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


def _entry(item: Item, result: ItemResult, before: UnitRecordSetStatus | None, now: str) -> UnitRecordSetStatus:
    generation = item.source.observed_generation
    wanted = (
        condition(ConditionType.ACCEPTED, result.accepted, generation),
        condition(ConditionType.PROGRAMMED, result.programmed, generation),
    )
    return UnitRecordSetStatus(
        record_set_namespace=item.key.namespace,
        record_set_name=item.key.name,
        observed_generation=generation,
        conditions=merge_conditions(before.conditions if before is not None else (), wanted, now),
        provider=_known(before.provider if before is not None else None, result.data, result.state),
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
        and _known(entry.provider, result.data, result.state) is entry.provider
    )


def _holds(found: Condition, verdict: Verdict, generation: int) -> bool:
    return (
        found.status is verdict.status
        and found.reason == verdict.reason
        and found.message == verdict.message
        and found.observed_generation == generation
    )


def _known(old: PrivateProviderData | None, data: Facts | None, state: Facts | None) -> PrivateProviderData | None:
    """Return a provider's facts with the new ones in place; the very same object when nothing is new."""
    if data is None and state is None:
        return old
    before = old or PrivateProviderData()
    next_data = before.data if data is None else dict(data) or None
    next_state = before.state if state is None else dict(state) or None
    if (next_data, next_state) == (before.data, before.state):
        return old
    return PrivateProviderData(data=next_data, state=next_state) if next_data or next_state else None


def _noted(old: StateOnly | None, state: Facts | None) -> StateOnly | None:
    if state is None:
        return old
    return StateOnly(state=dict(state)) if state else None
