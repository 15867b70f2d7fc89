"""Today's ledger of one zone, read over all of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from controllers.api.zone_unit import UnitRecordSet, UnitRecordSetStatus, ZoneUnit
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Ledger:
    """Items, where they stand, and what the provider says of them; `caught_up` holds the parts whose provider saw their newest spec."""

    items: Mapping[ObjectKey, UnitRecordSet]
    part_of: Mapping[ObjectKey, int]
    results: Mapping[ObjectKey, UnitRecordSetStatus]
    caught_up: frozenset[int]

    @classmethod
    def of(cls, units: Iterable[ZoneUnit]) -> Ledger:
        """Return the ledger that these parts make up."""
        items: dict[ObjectKey, UnitRecordSet] = {}
        part_of: dict[ObjectKey, int] = {}
        results: dict[ObjectKey, UnitRecordSetStatus] = {}
        caught_up = set()
        for unit in units:
            part = unit.spec.part
            for item in unit.spec.record_sets:
                key = item.key
                items[key] = item
                part_of[key] = part
            results.update((result.key, result) for result in unit.status.record_sets)
            if unit.status.observed_generation == unit.meta.generation:
                caught_up.add(part)
        return cls(items, part_of, results, frozenset(caught_up))

    def with_items(self, changed: Mapping[ObjectKey, UnitRecordSet]) -> Ledger:
        """Return the ledger with some items in another form."""
        return replace(self, items={**self.items, **changed})

    def is_gone(self, key: ObjectKey) -> bool:
        """True when deletion was asked for and the provider, having seen that, no longer reports the item."""
        return self.items[key].deletion_requested and key not in self.results and self.part_of[key] in self.caught_up
