"""Composition of one zone: claims and today's ledger in, verdicts and tomorrow's ledger out.

Pure. An item leaves the ledger only when deletion was asked for and the provider has reported it done; whatever is in doubt stays
as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.reference import FullRef, ProviderRef
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet, UnitZone, ZoneUnitSpec
from controllers.core.inputs import ZoneInputs, class_key_of
from controllers.core.ledger import Ledger
from controllers.core.owner import by_age, register_ledger
from controllers.core.placement import place
from controllers.core.providercontract.resolution import storage_version
from controllers.core.record_rule import judge_record_set, verdict_under
from controllers.core.zone_rule import judge_zone
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Composition:
    """What has to become true; `ledger` is today's, which it was decided on.

    `zone_verdict` is None when nothing is to be said of the Zone. `parts` are the specs of the ledger's parts by number, or None
    when the ledger is left as it is. `hold_zone` and `hold` name the claims that keep their finalizer.
    """

    ledger: Ledger
    zone_verdict: Verdict | None
    record_verdicts: Mapping[ObjectKey, Verdict]
    parts: Mapping[int, ZoneUnitSpec] | None = None
    delete_units: bool = False
    hold_zone: bool = False
    hold: frozenset[ObjectKey] = frozenset()


Judge = Callable[[RecordSet, Zone, ZoneInputs], Verdict]


def compose(inputs: ZoneInputs, judge: Judge = judge_record_set) -> Composition:
    """Decide everything about one zone; `judge` says whether a RecordSet can stand in it, other claims left aside."""
    ledger = Ledger.of(inputs.units)
    claims = {claim.key: claim for claim in inputs.record_sets}
    zone = inputs.zone
    if zone is None:
        missing = waiting(Reason.ZONE_NOT_RESOLVED, f"Zone {inputs.key} does not exist yet.")
        return _held(inputs, ledger, claims, None, dict.fromkeys(claims, missing))
    if zone.meta.deleting:
        return _under_deletion(inputs, ledger, claims)
    if any(unit.meta.deleting for unit in inputs.units):
        leaving = waiting(Reason.RECONCILING, f"Waiting until the former ZoneUnit {inputs.key} is gone.")
        return _held(inputs, ledger, claims, leaving, dict.fromkeys(claims, leaving))
    verdict = judge_zone(zone, inputs)
    if not verdict.accepted:
        return _held(inputs, ledger, claims, verdict, dict.fromkeys(claims, verdict_under(verdict)))
    return _composed(zone, inputs, ledger, claims, judge)


def item_of(claim: RecordSet) -> UnitRecordSet:
    """Return the ledger's item for an accepted claim."""
    spec = claim.spec
    return UnitRecordSet(
        record_set_namespace=claim.meta.namespace,
        record_set_name=claim.meta.name,
        observed_generation=claim.meta.generation,
        name=spec.name,
        type=spec.type,
        ttl=spec.ttl,
        a=spec.a,
        aaaa=spec.aaaa,
        txt=spec.txt,
        cname=spec.cname,
        mx=spec.mx,
        caa=spec.caa,
        ns=spec.ns,
        options=spec.options,
        adoption=spec.adoption,
    )


def _under_deletion(inputs: ZoneInputs, ledger: Ledger, claims: Mapping[ObjectKey, RecordSet]) -> Composition:
    """Wait for the claims that own records; then clean up.

    A claim that owns nothing holds nobody up, and items whose claims were lost go the way that the provider's deletion policy says.
    """
    if ledger.items.keys() & claims.keys():
        late = refused(Reason.ZONE_NOT_ACCEPTED, f"Zone {inputs.key} is being deleted.")
        return _held(inputs, ledger, claims, None, {key: ACCEPTED if key in ledger.items else late for key in claims})
    return Composition(ledger, None, {}, delete_units=True, hold_zone=bool(inputs.units))


def _held(
    inputs: ZoneInputs,
    ledger: Ledger,
    claims: Mapping[ObjectKey, RecordSet],
    zone_verdict: Verdict | None,
    verdicts: Mapping[ObjectKey, Verdict],
) -> Composition:
    """Leave the ledger as it is, but for the deletions that claims ask for: those go on whatever else is missing."""
    items = {}
    for key, item in ledger.items.items():
        if ledger.is_gone(key):
            continue
        deleting = key in claims and claims[key].meta.deleting
        items[key] = _with_deletion_requested(item) if deleting else item
    parts = None
    if items != ledger.items:
        spec = inputs.units[0].spec
        parts = _parts(spec.provider, spec.zone, ledger, items)
    hold = frozenset(items) & claims.keys()
    return Composition(ledger, zone_verdict, verdicts, parts, hold_zone=bool(inputs.units), hold=hold)


def _composed(
    zone: Zone, inputs: ZoneInputs, ledger: Ledger, claims: Mapping[ObjectKey, RecordSet], judge: Judge
) -> Composition:
    verdicts: dict[ObjectKey, Verdict] = {}
    items = _carried_over(zone, inputs, ledger, claims, verdicts, judge)
    register = register_ledger(items.values(), claims)
    newcomers = [claim for key, claim in claims.items() if key not in items and not claim.meta.deleting]
    for claim in by_age(newcomers):
        verdict = judge(claim, zone, inputs)
        verdicts[claim.key] = register.admit(claim) if verdict.accepted else verdict
        if verdicts[claim.key].accepted:
            items[claim.key] = item_of(claim)
    storage = storage_version(inputs.provider)
    assert storage is not None, "ruled out by judge_zone"
    provider = ProviderRef(name=zone.spec.provider.name, version=storage.name)
    parts = _parts(provider, _unit_zone(zone), ledger, items)
    return Composition(ledger, ACCEPTED, verdicts, parts, hold_zone=True, hold=frozenset(items) & claims.keys())


def _carried_over(
    zone: Zone,
    inputs: ZoneInputs,
    ledger: Ledger,
    claims: Mapping[ObjectKey, RecordSet],
    verdicts: dict[ObjectKey, Verdict],
    judge: Judge,
) -> dict[ObjectKey, UnitRecordSet]:
    """Return tomorrow's form of what stands in the ledger today, and enter the verdicts of the claims behind it."""
    kept: dict[ObjectKey, UnitRecordSet] = {}
    for key, item in ledger.items.items():
        claim = claims.get(key)
        if ledger.is_gone(key):
            continue
        if claim is None:
            kept[key] = item
        elif claim.meta.deleting:
            kept[key] = _with_deletion_requested(item)
            verdicts[key] = ACCEPTED
        elif claim.spec.type != item.type or claim.spec.name != item.name:
            kept[key] = _with_deletion_requested(item)
            verdicts[key] = waiting(
                Reason.RECONCILING, f"Waiting until the former {item.type} at {item.name} is deleted."
            )
        else:
            verdicts[key] = judge(claim, zone, inputs)
            kept[key] = _renewed(item, claim, verdicts[key])
    return kept


def _renewed(item: UnitRecordSet, claim: RecordSet, verdict: Verdict) -> UnitRecordSet:
    """An owner that is refused keeps its records as they are; one that a policy shuts out is marked so that nobody touches them."""
    if verdict.accepted:
        new = item_of(claim)
        return item if item == new else new
    if verdict.reason is Reason.NOT_ALLOWED_BY_ZONE and item.allowed:
        return item.model_copy(update={"allowed": False})
    return item


def _with_deletion_requested(item: UnitRecordSet) -> UnitRecordSet:
    return item if item.deletion_requested else item.model_copy(update={"deletion_requested": True})


def _unit_zone(zone: Zone) -> UnitZone:
    zone_class = class_key_of(zone)
    return UnitZone(
        ref=FullRef(namespace=zone.meta.namespace, name=zone.meta.name),
        observed_generation=zone.meta.generation,
        domain_name=zone.spec.domain_name,
        zone_class_ref=FullRef(namespace=zone_class.namespace, name=zone_class.name),
        adoption=zone.spec.adoption,
    )


def _parts(
    provider: ProviderRef, zone: UnitZone, ledger: Ledger, items: Mapping[ObjectKey, UnitRecordSet]
) -> dict[int, ZoneUnitSpec]:
    placed = place(items.values(), ledger.part_of)
    further = tuple(part for part in placed if part)
    return {
        part: ZoneUnitSpec(
            provider=provider, zone=zone, part=part, parts=() if part else further, record_sets=tuple(placed[part])
        )
        for part in placed
    }
