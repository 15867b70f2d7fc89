"""Changes, the batches that they are sent in, and how a refused batch is taken apart.

Pure. Owns the limits of one ChangeResourceRecordSets call and the rule which changes have to stand or fall together. Never sends one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from controllers.providers.route53.record import Record
from kube.object import ObjectKey

VALUES_LIMIT: Final = 1000
CHARACTERS_LIMIT: Final = 32_000


class Action(StrEnum):
    """What a change does; CREATE fails where a record set exists, which is why new ones are never UPSERTed."""

    CREATE = "CREATE"
    UPSERT = "UPSERT"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class Size:
    """What a change takes of a batch's limits: values, and characters of values. An UPSERT takes both twice."""

    values: int = 0
    characters: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.values + other.values, self.characters + other.characters)

    @property
    def fits(self) -> bool:
        return self.values <= VALUES_LIMIT and self.characters <= CHARACTERS_LIMIT


@dataclass(frozen=True, slots=True)
class Change:
    """One change, made for one item of the ledger."""

    action: Action
    record: Record
    item: ObjectKey

    @property
    def size(self) -> Size:
        weight = 2 if self.action is Action.UPSERT else 1
        values = [str(each["Value"]) for each in self.record.wire.get("ResourceRecords", ())]
        # An alias has no values; what it counts as is not documented, so it counts as one.
        return Size(weight * max(1, len(values)), weight * sum(map(len, values)))

    def dump(self) -> dict[str, Any]:
        """Return the change as the API takes it."""
        return {"Action": self.action.value, "ResourceRecordSet": dict(self.record.wire)}


Unit = tuple[Change, ...]
"""Changes that are only sent together: those of one owner name, when one of them makes room for another."""


def bind(changes: Iterable[Change]) -> list[Unit]:
    """Return the units of changes, deletions first within each.

    A deletion and whatever is written at its name go together, so that a name whose type changes is never left without records.
    """
    by_name: dict[str, list[Change]] = {}
    for change in changes:
        by_name.setdefault(change.record.key.name, []).append(change)
    units: list[Unit] = []
    for group in by_name.values():
        group.sort(key=lambda change: change.action is not Action.DELETE)
        if group[0].action is Action.DELETE and size_of([tuple(group)]).fits:
            units.append(tuple(group))
        else:
            units += [(change,) for change in group]
    return units


def take_batch(units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Return the units of the next batch, and those that are left for later ones. A unit that never fits has to be left out."""
    batch: list[Unit] = []
    rest: list[Unit] = []
    size = Size()
    for unit in units:
        grown = size + size_of([unit])
        if grown.fits:
            batch.append(unit)
            size = grown
        else:
            rest.append(unit)
    return batch, rest


def size_of(units: Iterable[Unit]) -> Size:
    """Return what units take of a batch."""
    total = Size()
    for unit in units:
        for change in unit:
            total += change.size
    return total


def halves(units: Sequence[Unit]) -> list[list[Unit]]:
    """Return what a refused batch is tried as next, nothing when it cannot be taken apart any further.

    Once a unit is alone it is tried item by item: what was asked to be deleted does not wait for what cannot be written. The changes of
    one item stay together.
    """
    if len(units) > 1:
        middle = len(units) // 2
        return [list(units[:middle]), list(units[middle:])]
    by_item: dict[ObjectKey, list[Change]] = {}
    for change in units[0] if units else ():
        by_item.setdefault(change.item, []).append(change)
    return [[tuple(changes)] for changes in by_item.values()] if len(by_item) > 1 else []
