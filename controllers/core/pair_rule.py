"""Whether two record sets may stand at one owner name in one zone.

A CNAME stands alone (RFC 1034 section 3.6.2) unless the Provider's storage version switches that off for the pair; beside that, its own
rules over pairs hold. A pair has no order: a rule must be true both ways round, a validation is off when it is off either way round.
Pure; who of the two has to give way is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.cel.expression import Values
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.rule import RuleBook
from zonemodel.record import RecordType

STANDS_ALONE: Final = "a CNAME cannot share its name with other records"
_COEXISTENCE: Final = "forbid-cname-coexistence"

PairJudge = Callable[[UnitRecordSet, UnitRecordSet], str | None]
"""Returns why two record sets of one owner name and different types cannot stand together, or None."""


def judge_pair(one: UnitRecordSet, other: UnitRecordSet) -> str | None:
    """Judge a pair where the Provider says nothing about pairs."""
    return STANDS_ALONE if RecordType.CNAME in (one.type, other.type) else None


@dataclass(frozen=True, slots=True)
class PairRules:
    """What a storage version says of pairs in one zone; call it as a PairJudge."""

    book: RuleBook
    zone: Zone
    version: str

    @classmethod
    def of(cls, storage: Contract, zone: Zone) -> PairRules | None:
        """Return the rules of a version, None when it has none."""
        return cls(storage.pairs, zone, storage.version.name) if storage.pairs is not None else None

    def __call__(self, one: UnitRecordSet, other: UnitRecordSet) -> str | None:
        """Judge a pair."""
        both_ways = [self._admit(one, other), self._admit(other, one)]
        values = [each for each in both_ways if isinstance(each, Values)]
        if len(values) < len(both_ways):
            return next(each.message for each in both_ways if isinstance(each, Fault))
        if RecordType.CNAME in (one.type, other.type) and not any(map(self._lets_coexist, values)):
            return STANDS_ALONE
        judgements = [self.book.judge(each) for each in values]
        faults = [fault for each in judgements for fault in (*each.faults, *each.failures)]
        return faults[0].message if faults else None

    def _lets_coexist(self, values: Values) -> bool:
        return any(name == _COEXISTENCE and off is True for name, off in self.book.switched_off(values))

    def _admit(self, one: UnitRecordSet, other: UnitRecordSet) -> Values | Fault:
        meta, spec = self.zone.meta, self.zone.spec
        return self.book.admit(
            {
                "self": one.dump(),
                "other": other.dump(),
                "zone": {"namespace": meta.namespace, "name": meta.name, "domainName": spec.domain_name},
                "provider": {"name": spec.provider.name, "version": spec.provider.version},
                "toVersion": self.version,
            }
        )
