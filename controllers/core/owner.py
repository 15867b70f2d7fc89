"""Who owns a record: one (name, type) has one owner in a zone, and a CNAME stands alone at its name.

The ledger's owner keeps what it has; among newcomers the oldest claim wins, then namespace/name. The outcome does not depend on the
order in which claims are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import UnitRecordSet
from kube.object import ObjectKey
from zonemodel.record import RecordType


@dataclass(frozen=True, slots=True)
class Holding:
    """A record that somebody owns; `claimed` is False while the owner's claim has not come back."""

    owner: ObjectKey
    type: RecordType
    claimed: bool


MayCoexist = Callable[[RecordType, RecordType], bool]


def cname_stands_alone(one: RecordType, other: RecordType) -> bool:
    """Say whether two types may stand at one name (RFC 1034 section 3.6.2)."""
    return RecordType.CNAME not in (one, other)


@dataclass(slots=True)
class Register:
    """The records that are taken, by owner name."""

    may_coexist: MayCoexist = cname_stands_alone
    _held: dict[str, list[Holding]] = field(default_factory=dict)

    def hold(self, item: UnitRecordSet, *, claimed: bool) -> None:
        """Enter an owner that is not asked: it stands in the ledger."""
        self._held.setdefault(item.name, []).append(Holding(item.key, item.type, claimed))

    def admit(self, claim: RecordSet) -> Verdict:
        """Enter a claim unless a record that is already there stands against it."""
        holdings = self._held.setdefault(claim.spec.name, [])
        against = next((each for each in holdings if self._conflicts(each, claim)), None)
        if against is None:
            holdings.append(Holding(claim.key, claim.spec.type, claimed=True))
            return ACCEPTED
        return _objection(against, claim)

    def _conflicts(self, holding: Holding, claim: RecordSet) -> bool:
        if holding.owner == claim.key:
            return False
        return holding.type == claim.spec.type or not self.may_coexist(holding.type, claim.spec.type)


def by_age(claims: Iterable[RecordSet]) -> list[RecordSet]:
    """Return claims in the order in which they win: oldest first, then namespace and name."""
    return sorted(claims, key=lambda claim: (claim.meta.creation_timestamp, claim.key))


def register_ledger(items: Iterable[UnitRecordSet], claims: Mapping[ObjectKey, RecordSet]) -> Register:
    """Return a register that holds what the ledger owns."""
    register = Register()
    for item in items:
        register.hold(item, claimed=item.key in claims)
    return register


def _objection(holding: Holding, claim: RecordSet) -> Verdict:
    what = f"{holding.type} at {claim.spec.name}"
    if not holding.claimed:
        return waiting(
            Reason.OWNER_STATE_NOT_RESOLVED,
            f"RecordSet {holding.owner} owns {what} in the ledger and has not come back yet.",
        )
    if holding.type == claim.spec.type:
        return refused(Reason.RECORD_SET_CONFLICT, f"RecordSet {holding.owner} owns {what}.")
    return refused(
        Reason.RECORD_SET_CONFLICT,
        f"RecordSet {holding.owner} owns {what}; a CNAME cannot share its name with other records.",
    )
