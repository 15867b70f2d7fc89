"""Who owns a record: one (name, type) has one owner in a zone, and what stands at one name must go together.

The ledger's owner keeps what it has; among newcomers the oldest claim wins, then namespace/name. The outcome does not depend on the
order in which claims are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.pair_rule import PairJudge, judge_pair
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Holding:
    """A record set that somebody owns; `claimed` is False while the owner's claim has not come back."""

    item: UnitRecordSet
    claimed: bool

    def __str__(self) -> str:
        return f"RecordSet {self.item.key} owns {self.item.type} at {self.item.name}"


@dataclass(slots=True)
class Register:
    """The records that are taken, by owner name."""

    judge: PairJudge = judge_pair
    _held: dict[str, list[Holding]] = field(default_factory=dict)

    def hold(self, item: UnitRecordSet, *, claimed: bool) -> None:
        """Enter an owner that is not asked: it stands in the ledger."""
        self._held.setdefault(item.name, []).append(Holding(item, claimed))

    def admit(self, item: UnitRecordSet) -> Verdict:
        """Enter a newcomer unless a record set that is already there stands against it."""
        verdict = self._judge(item, self._held.get(item.name, ()))
        if verdict.accepted:
            self.hold(item, claimed=True)
        return verdict

    def renew(self, items: Iterable[UnitRecordSet]) -> dict[ObjectKey, Verdict]:
        """Let owners' items take the place of their former ones, as far as all that stands at a name goes together; an owner that
        is refused keeps its former item. Earlier items go before later ones. Returns the objections.
        """
        by_name: dict[str, list[UnitRecordSet]] = {}
        for item in items:
            by_name.setdefault(item.name, []).append(item)
        objections: dict[ObjectKey, Verdict] = {}
        for name, wanted in by_name.items():
            self._renew_name(name, wanted, objections)
        return objections

    def _renew_name(self, name: str, wanted: list[UnitRecordSet], objections: dict[ObjectKey, Verdict]) -> None:
        """Each refusal brings a former item back, with which the others have to go: so all are looked at again after one."""
        while True:
            renewed = {item.key for item in wanted}
            held = [each for each in self._held[name] if each.item.key not in renewed]
            refused_before = len(objections)
            for item in wanted:
                verdict = self._judge(item, held)
                if verdict.accepted:
                    held.append(Holding(item, claimed=True))
                else:
                    objections[item.key] = verdict
            if len(objections) == refused_before:
                self._held[name] = held
                return
            wanted = [item for item in wanted if item.key not in objections]

    def _judge(self, item: UnitRecordSet, others: Collection[Holding]) -> Verdict:
        for holding in others:
            if holding.item.type == item.type:
                return _objection(holding, "")
        for holding in others:
            if (why := self.judge(item, holding.item)) is not None:
                return _objection(holding, f"; {why}")
        return ACCEPTED


def by_age(claims: Iterable[RecordSet]) -> list[RecordSet]:
    """Return claims in the order in which they win: oldest first, then namespace and name."""
    return sorted(claims, key=lambda claim: (claim.meta.creation_timestamp, claim.key))


def register_ledger(
    items: Iterable[UnitRecordSet], claims: Collection[ObjectKey], judge: PairJudge = judge_pair
) -> Register:
    """Return a register that holds what the ledger owns."""
    register = Register(judge)
    for item in items:
        register.hold(item, claimed=item.key in claims)
    return register


def _objection(holding: Holding, why: str) -> Verdict:
    if not holding.claimed:
        return waiting(Reason.OWNER_STATE_NOT_RESOLVED, f"{holding} in the ledger and has not come back yet.")
    return refused(Reason.RECORD_SET_CONFLICT, f"{holding}{why}.")
