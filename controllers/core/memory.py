"""What was decided before and still holds, because everything it was decided on is the same.

Caches replace objects and never change them, so identity is proof; where an object was replaced, its uid and generation tell whether
its spec is the same. A zone of thousands of claims then costs what changed in it. A fresh memory judges everything anew and gives the
same verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict
from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from controllers.core.conversion import Ruling, settle
from controllers.core.fence import Fence, standing, unsure
from controllers.core.guard import GuardedChange
from controllers.core.inputs import ZoneInputs, contracts_of
from controllers.core.item import item_of
from controllers.core.pair_rule import PairJudge, PairRules, judge_pair
from controllers.core.providercontract.conversion.outcome import Converted, Outcome
from controllers.core.providercontract.conversion.request import ConversionRequest
from controllers.core.record_rule import rule_record_set
from controllers.core.zone_rule import rule_payload
from kube.object import ObjectKey

Ground = tuple[object, ...]
Judged = Verdict | UnitRecordSet
"""An objection to a claim, or the item that it is in the ledger."""


@dataclass(slots=True)
class _Record:
    """What is known of one claim: on what, the ruling before any webhook is asked, and what came of it."""

    claim: RecordSet
    labels: Mapping[str, str] | None
    ruling: Ruling
    answer: Outcome | None = None
    judged: Judged | None = None


@dataclass(slots=True)
class ZoneMemory:
    """The memory of one zone: of its claims, of pairs at one name, and of claims whose status was found to be right.

    `confirmed` are guarded changes that somebody has confirmed and that are still to be written; one that forgets them asks again.
    `fences` keep results of former items from being taken for those of new ones.
    """

    confirmed: frozenset[GuardedChange] = frozenset()
    fences: dict[ObjectKey, Fence] = field(default_factory=dict)
    _has_looked: bool = False
    _ground: Ground = ()
    _zone: tuple[Zone, Ruling] | None = None
    _records: dict[ObjectKey, _Record] = field(default_factory=dict)
    _rules: PairRules | None = None
    _pairs: dict[tuple[ObjectKey, ObjectKey], tuple[UnitRecordSet, UnitRecordSet, str | None]] = field(
        default_factory=dict
    )
    _settled: dict[ObjectKey, Ground] = field(default_factory=dict)

    def look_at_fences(self, claims: Iterable[RecordSet], units: Sequence[ZoneUnit]) -> None:
        """Drop the fences that have done their work; at the first look, put up those that somebody may have known of before."""
        self.fences = standing(self.fences, units)
        if not self._has_looked:
            self._has_looked = True
            self.fences |= unsure(claims, units)

    def rule_zone(self, zone: Zone, inputs: ZoneInputs) -> Ruling:
        """Return `rule_payload`'s ruling; the zone's surroundings are accepted."""
        self._enter(zone, inputs)
        if self._zone is None or not _says_the_same(self._zone[0], zone):
            self._zone = (zone, rule_payload(zone, inputs))
        return self._zone[1]

    def rule(self, claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Ruling:
        """Return `rule_record_set`'s ruling; the zone is accepted, and `rule_zone` was asked before."""
        return self._record(claim, zone, inputs).ruling

    def knows(self, claim: RecordSet) -> bool:
        """Say whether this very claim has been judged already."""
        record = self._records.get(claim.key)
        return record is not None and record.claim is claim

    def judge(self, claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Judged:
        """Return what stands against a claim, other claims left aside, or the item that it becomes."""
        record = self._record(claim, zone, inputs)
        answer = inputs.answers.get(record.ruling.key) if isinstance(record.ruling, ConversionRequest) else None
        if record.judged is None or record.answer is not answer:
            settled = settle(record.ruling, inputs.answers, contracts_of(inputs)[1])
            record.judged = item_of(claim, settled.payloads) if isinstance(settled, Converted) else settled
            record.answer = answer
        return record.judged

    def renewed(self, former: UnitRecordSet, item: UnitRecordSet) -> UnitRecordSet:
        """Return an owner's new item, which is the former one itself when they are equal."""
        if former is item or former != item:
            return item
        record = self._records.get(item.key)
        if record is not None and record.judged is item:
            record.judged = former
        return former

    def pair_judge(self) -> PairJudge:
        """Return the judge of pairs in the zone that was last ruled on."""
        return self._judge_pair if self._rules is not None else judge_pair

    @property
    def has_pair_rules(self) -> bool:
        return self._rules is not None

    def is_settled(self, key: ObjectKey, ground: Ground) -> bool:
        """Say whether the claim's status was found right on these grounds."""
        known = self._settled.get(key)
        return known is not None and _same(known, ground)

    def settle(self, key: ObjectKey, ground: Ground) -> None:
        """Note that the claim's status is right."""
        self._settled[key] = ground

    def keep_only(self, claims: set[ObjectKey]) -> None:
        """Forget claims that are no longer there."""
        for known in (self._records, self._settled):
            for key in known.keys() - claims:
                del known[key]
        for pair in [pair for pair in self._pairs if not claims.issuperset(pair)]:
            del self._pairs[pair]

    def _enter(self, zone: Zone, inputs: ZoneInputs) -> None:
        """Forget what was decided under another state of the zone or of its Provider."""
        versions, provider = inputs.versions, inputs.provider
        stamp = (provider.meta.uid, provider.meta.generation) if provider is not None else None
        ground = (zone.meta.uid, zone.meta.generation, versions.served, versions.storage, stamp)
        if ground != self._ground:
            self._ground = ground
            self._zone = None
            self._records.clear()
            self._pairs.clear()
            self._rules = PairRules.of(contracts_of(inputs)[1], zone)

    def _record(self, claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> _Record:
        record = self._records.get(claim.key)
        labels = inputs.labels_of(claim.meta.namespace)
        if record is not None and _still_holds(record, claim, labels):
            record.claim, record.labels = claim, labels
            return record
        record = self._records[claim.key] = _Record(claim, labels, rule_record_set(claim, zone, inputs))
        return record

    def _judge_pair(self, one: UnitRecordSet, other: UnitRecordSet) -> str | None:
        assert self._rules is not None, "else pair_judge gives another one"
        if one.key > other.key:
            one, other = other, one
        known = self._pairs.get((one.key, other.key))
        if known is not None and known[0] is one and known[1] is other:
            return known[2]
        verdict = self._rules(one, other)
        self._pairs[one.key, other.key] = (one, other, verdict)
        return verdict


def _still_holds(record: _Record, claim: RecordSet, labels: Mapping[str, str] | None) -> bool:
    same = record.claim is claim or _says_the_same(record.claim, claim)
    return same and (record.labels is labels or record.labels == labels)


def _says_the_same(one: Zone | RecordSet, other: Zone | RecordSet) -> bool:
    """Say whether two states of an object have the same spec and the same labels, which rules can read."""
    before, after = one.meta, other.meta
    same = before is after or (before.uid, before.generation) == (after.uid, after.generation)
    return same and (before.labels is after.labels or before.labels == after.labels)


def _same(one: Ground, other: Ground) -> bool:
    """Say whether all parts are the same objects; verdicts are made anew each time and may also be equal."""
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, Verdict) and one == other)
