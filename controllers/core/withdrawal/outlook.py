"""What becomes of withdrawals, as far as it can be told from claims: whether a record set of the ledger still gives the address.

Pure. What servers answer is not known here, so nothing is ever called proven that their provider has not proven already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from typing import Final

from controllers.api.condition import find_condition
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.record_withdrawal_item import UnitWithdrawal
from controllers.api.record_withdrawal_reason import WithdrawalCondition, WithdrawalReason
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.inputs import ZoneInputs
from controllers.core.withdrawal.inventory import Inventory
from controllers.core.withdrawal.rule import Acceptance
from kube.object import ObjectKey
from zonemodel.name import Fqdn, relative_to
from zonemodel.name_tree import NameTree
from zonemodel.record import RecordType

CHAIN_LIMIT: Final = 16
NOBODY: Final = "nobody-has-this-name"


class Outlook(StrEnum):
    """Whether the address may be given back."""

    HELD = "held"  # record sets of the ledger give the address
    TO_BE_PROVEN = "to be proven"  # none does, and the servers have to be seen without it
    PROVEN = "proven"  # the provider has proven it, and no record set gives the address again
    RELEASED = "released"  # an operator's waiver fits the claim


@dataclass(frozen=True, slots=True)
class WithdrawalPlan:
    """What would become of one RecordWithdrawal; `outlook` is None while it is not accepted.

    `giving` are the RecordSets that would lead its name to its address, `waiver` what releases it all the same.
    """

    key: ObjectKey
    owner: str
    address: str
    created: bool
    changed: bool
    acceptance: Acceptance
    outlook: Outlook | None
    giving: tuple[ObjectKey, ...] = ()
    waiver: ObjectKey | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """The withdrawals of one zone before a change or after it, and what is decided about them."""

    claims: Mapping[ObjectKey, RecordWithdrawal]
    inventory: Inventory
    pointing: Pointing

    @classmethod
    def of(cls, inputs: ZoneInputs, inventory: Inventory, items: Iterable[UnitRecordSet]) -> Side:
        """Return what is decided on these inputs; `items` are the record sets of the ledger."""
        domain = inputs.zone.spec.domain_name if inputs.zone is not None else ""
        return cls({claim.key: claim for claim in inputs.withdrawals}, inventory, Pointing(items, Fqdn(domain)))


def plan_withdrawals(before: Side, after: Side, named: frozenset[ObjectKey]) -> tuple[WithdrawalPlan, ...]:
    """Return the withdrawals that something happens to, and those that are `named`."""
    then = {plan.key: plan for plan in _plans(before, before)}
    return tuple(plan for plan in _plans(before, after) if plan.key in named or plan != then.get(plan.key))


def _plans(before: Side, after: Side) -> Iterator[WithdrawalPlan]:
    items = {item.key: item for item in after.inventory.items or ()}
    for key, claim in sorted(after.claims.items()):
        acceptance, item = after.inventory.acceptances[key], items.get(key)
        old = before.claims.get(key)
        changed = old is not None and (old.spec, old.meta.labels, old.meta.annotations) != (
            claim.spec,
            claim.meta.labels,
            claim.meta.annotations,
        )
        plan = WithdrawalPlan(key, claim.spec.name, claim.spec.address, old is None, changed, acceptance, None)
        if item is None or not item.allowed:
            yield plan
            continue
        giving = after.pointing.giving(item)
        waiver = ObjectKey(item.waiver.namespace, item.waiver.name) if item.waiver is not None else None
        yield replace(plan, outlook=_outlook(claim, item, giving), giving=giving, waiver=waiver)


class Pointing:
    """The records of a ledger in the form that looking addresses up needs; what is being deleted is as good as gone."""

    def __init__(self, items: Iterable[UnitRecordSet], domain: Fqdn) -> None:
        self._domain = domain
        self._items: Mapping[tuple[str, RecordType], UnitRecordSet] = {
            (item.name, item.type): item for item in items if not item.deletion_requested
        }
        self._tree = NameTree.of(name for name, _ in self._items)

    def giving(self, item: UnitWithdrawal) -> tuple[ObjectKey, ...]:
        """Return the RecordSets by which a name leads to the address; a wildcard counts by what it makes of names, too."""
        asked = [item.name, f"{NOBODY}{item.name[1:]}"] if item.name.startswith("*") else [item.name]
        kind = RecordType(item.type.value)
        return tuple(sorted({key for name in asked for key in self._walk(name, kind, item.address)}))

    def _walk(self, name: str, kind: RecordType, address: str) -> Iterator[ObjectKey]:
        """Yield the alias that stands at the name if there is one, and what gives the address at the end."""
        first: ObjectKey | None = None
        for _ in range(CHAIN_LIMIT):
            source = self._tree.source(name)
            found = self._items.get((source, kind)) if source is not None else None
            if found is not None and address in _addresses(found):
                yield from {found.key, first or found.key}
                return
            alias = self._items.get((source, RecordType.CNAME)) if source is not None else None
            target = relative_to(Fqdn(alias.cname.target), self._domain) if alias is not None and alias.cname else None
            if alias is None or target is None:
                return
            first, name = first or alias.key, target


def _outlook(claim: RecordWithdrawal, item: UnitWithdrawal, giving: tuple[ObjectKey, ...]) -> Outlook:
    if item.waiver is not None:
        return Outlook.RELEASED
    if giving:
        return Outlook.HELD
    ready = find_condition(claim.status.conditions, WithdrawalCondition.READY)
    proven = (
        ready is not None
        and ready.reason == WithdrawalReason.WITHDRAWN
        and ready.observed_generation == claim.meta.generation
    )
    return Outlook.PROVEN if proven else Outlook.TO_BE_PROVEN


def _addresses(item: UnitRecordSet) -> frozenset[str]:
    texts = item.a.addresses if item.a is not None else item.aaaa.addresses if item.aaaa is not None else ()
    return frozenset(str(ip_address(text)) for text in texts)
