"""The change guard of a zone: whether too many of its programmed records would be deleted or altered in one step.

Pure. Owns what counts, the decision, and the hash that a confirmation names. Never touches what is created, a Zone or a namespace that is
being deleted, and never decides what a change is made of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import CONFIRM_CHANGE
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict, waiting
from controllers.api.zone_class import ChangeGuard
from controllers.api.zone_unit import UnitRecordSet, UnitRecordSetStatus
from controllers.core.ledger import Ledger
from kube.object import ObjectKey

HASH_CHARS: Final = 16

# The rest of an item tells whose it is, which generation it was made of, and the policy that it is under.
_CONTENT: Final = tuple(
    name
    for name in UnitRecordSet.model_fields
    if name not in {"record_set_namespace", "record_set_name", "observed_generation", "allowed", "deletion_requested"}
)

HELD: Final = waiting(
    Reason.RECONCILING, "Held by the change guard of the ZoneClass; the Zone says how to confirm the change."
)
COLLECTED: Final = waiting(
    Reason.RECONCILING, "The change guard of the ZoneClass collects the changes that belong to one step."
)


class Alteration(StrEnum):
    """What would happen to records that are programmed."""

    DELETE = "delete"
    CHANGE = "change"


@dataclass(frozen=True, slots=True, order=True)
class GuardedChange:
    """One record set that would be deleted or altered; uid and generation of its claim say to what, once and for all."""

    key: ObjectKey
    alteration: Alteration
    uid: str
    generation: int


@dataclass(frozen=True, slots=True)
class Step:
    """Guarded changes that come together and that nobody has confirmed; `hold` is the Zone's word when they are too many."""

    changes: frozenset[GuardedChange]
    hold: Verdict | None = None

    def confirmation_is(self, found: str | None) -> bool:
        """Say whether an annotation confirms exactly these changes."""
        return found is not None and found == confirmation_of(self.changes)


def confirmation_of(changes: Iterable[GuardedChange]) -> str:
    """Return the hash that confirms exactly these changes."""
    told = "\n".join(f"{each.key} {each.alteration} {each.uid} {each.generation}" for each in sorted(changes))
    return hashlib.sha256(told.encode()).hexdigest()[:HASH_CHARS]


def find_changes(
    ledger: Ledger,
    tomorrow: Mapping[ObjectKey, UnitRecordSet],
    claims: Mapping[ObjectKey, RecordSet],
    leaving: frozenset[str] = frozenset(),
) -> frozenset[GuardedChange]:
    """Return what a ledger of `tomorrow` would delete or alter of the records that are programmed in `ledger`.

    Equal items are expected to be the same objects. Claims of namespaces that are `leaving` do not count, nor do records whose
    deletion is under way.
    """
    found = []
    for key, old in ledger.items.items():
        new = tomorrow.get(key)
        if new is old or old.deletion_requested or key.namespace in leaving or not _is_programmed(ledger, key):
            continue
        if new is None or new.deletion_requested:
            alteration = Alteration.DELETE
        elif _alters(old, new):
            alteration = Alteration.CHANGE
        else:
            continue
        claim = claims.get(key)
        uid, generation = (claim.meta.uid, claim.meta.generation) if claim else ("", old.observed_generation)
        found.append(GuardedChange(key, alteration, uid, generation))
    return frozenset(found)


def judge_step(guard: ChangeGuard, ledger: Ledger, changes: frozenset[GuardedChange]) -> Step | None:
    """Return the step that these changes make, None when there is nothing to guard."""
    if not changes:
        return None
    step = Step(changes)
    if not _has(_programmed(ledger), guard.min_records):
        return None
    # A few changes are within bounds as soon as a few programmed records have been seen: most steps count no further.
    enough = -(-len(changes) * 100 // guard.max_percent)
    if _has(_programmed(ledger), enough):
        return step
    return Step(changes, _too_many(guard, step, sum(1 for _ in _programmed(ledger))))


def _too_many(guard: ChangeGuard, step: Step, programmed: int) -> Verdict:
    deleted = sum(each.alteration is Alteration.DELETE for each in step.changes)
    message = (
        f"Held by the change guard: {deleted} of {programmed} programmed record sets would be deleted and "
        f"{len(step.changes) - deleted} changed in one step, which is more than {guard.max_percent} percent. "
        f"To let exactly this through, annotate the Zone with {CONFIRM_CHANGE}: {confirmation_of(step.changes)}"
    )
    return Verdict(ConditionStatus.FALSE, Reason.PROVIDER_CHANGE_PENDING, message)


def _programmed(ledger: Ledger) -> Iterator[ObjectKey]:
    return (key for key, item in ledger.items.items() if not item.deletion_requested and _is_programmed(ledger, key))


def _is_programmed(ledger: Ledger, key: ObjectKey) -> bool:
    result: UnitRecordSetStatus | None = ledger.results.get(key)
    condition = find_condition(result.conditions, ConditionType.PROGRAMMED) if result is not None else None
    return condition is not None and condition.status is ConditionStatus.TRUE


def _has(keys: Iterable[ObjectKey], count: int) -> bool:
    return sum(1 for _ in islice(keys, count)) >= count


def _alters(old: UnitRecordSet, new: UnitRecordSet) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in _CONTENT)
