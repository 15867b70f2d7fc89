"""The providers' results, put back onto the claims.

A result counts only for the generation it was made for; status, reason and message go over unchanged, an empty message too. Public
provider data goes over, private state never does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import Condition, ConditionStatus, ConditionType, find_condition, merge_conditions
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet, RecordSetStatus, RecordSetZoneStatus
from controllers.api.record_withdrawal import RecordWithdrawalStatus
from controllers.api.reference import FullRef
from controllers.api.verdict import Verdict, waiting
from controllers.api.zone import ProviderData, Zone, ZoneStatus
from controllers.api.zone_unit import PrivateProviderData, UnitRecordSet, UnitRecordSetStatus, ZoneUnit
from controllers.core.item import is_item_of
from controllers.core.zone_rule import lingers
from kube.object import ObjectKey

Reasons = Mapping[tuple[ConditionType, ConditionStatus], Collection[Reason]]
AWAITING: Final = waiting(Reason.RECONCILING, "Waiting for the provider.")
NAMED_CLAIMS: Final = 5


@dataclass(frozen=True, slots=True)
class Projected:
    """A claim's next status; `provisional` while it says that something is not known yet, which mostly passes in a moment."""

    status: ZoneStatus | RecordSetStatus | RecordWithdrawalStatus
    provisional: bool


def project_record_set(
    claim: RecordSet,
    zone_key: ObjectKey,
    verdict: Verdict,
    item: UnitRecordSet | None,
    result: UnitRecordSetStatus | None,
    now: str,
    *,
    held: bool = False,
) -> Projected:
    """Return the next status of a RecordSet; `item` is what stands in the ledger and `result` what the provider says of it.

    While its change is `held`, Programmed goes on telling of the generation that stands in the ledger.
    """
    generation = claim.meta.generation
    current = item is not None and result is not None and result.observed_generation == item.observed_generation
    fresh = current and item is not None and _is_known_to_be_of(claim, item, verdict)
    results = result.conditions if result is not None and fresh else ()
    if result is not None and current and item is not None and claim.meta.deleting and item.deletion_requested:
        # Deletion gave the claim a generation that its item never gets; a provider that has seen the request says what it waits for.
        results = tuple(each for each in result.conditions if each.status is not ConditionStatus.TRUE)
    accepted = _accepted(verdict, results, generation)
    programmed = (
        None
        if item is None and not verdict.accepted
        else _carried(results, ConditionType.PROGRAMMED, generation, _awaiting(claim, verdict, item))
    )
    if held and item is not None and not _is_of_former_claim(item, claim):
        told = result.conditions if result is not None and current else ()
        programmed = find_condition(claim.status.conditions, ConditionType.PROGRAMMED)
        if former := find_condition(told, ConditionType.PROGRAMMED):
            programmed = former.model_copy(update={"observed_generation": item.observed_generation})
    wanted = [each for each in (accepted, programmed) if each is not None]
    before = (
        claim.status.conditions
        if programmed is not None
        else _without(claim.status.conditions, ConditionType.PROGRAMMED)
    )
    data = _public(result.provider) if result is not None and current else claim.status.provider
    status = RecordSetStatus(
        observed_generation=generation,
        zone=RecordSetZoneStatus(ref=FullRef(namespace=zone_key.namespace, name=zone_key.name)),
        provider=data if item is not None else None,
        conditions=merge_conditions(before, wanted, now),
    )
    takes_back = len(before) < len(claim.status.conditions)
    return Projected(status, provisional=_is_provisional(wanted) and not takes_back)


def project_zone(
    zone: Zone,
    verdict: Verdict | None,
    units: Sequence[ZoneUnit],
    remaining: Iterable[ObjectKey],
    now: str,
    *,
    hold: Verdict | None = None,
    withdrawals: Iterable[ObjectKey] = (),
    obstacle: str = "",
) -> Projected:
    """Return the next status of a Zone; `remaining` and `withdrawals` are the claims that its deletion waits for.

    `hold` is what the change guard says of a step that it holds, `obstacle` what keeps a deletion from going on.
    """
    generation = zone.meta.generation
    unit = units[0] if units else None
    results = _results_of(zone, unit) if unit is not None else ()
    wanted: list[Condition] = []
    if verdict is not None:
        wanted.append(_accepted(verdict, results, generation))
    if zone.meta.deleting:
        wanted.append(_leaving(zone, remaining, withdrawals, results, obstacle))
    elif hold is not None:
        wanted.append(_condition(ConditionType.PROGRAMMED, hold, generation))
    elif unit is not None or (verdict is not None and verdict.accepted):
        composed = unit.spec.zone.observed_generation if unit is not None else generation
        awaiting = AWAITING if verdict is None or verdict.accepted else _kept_out("Zone", composed, generation)
        wanted.append(_carried(results, ConditionType.PROGRAMMED, generation, awaiting))
    facts = unit.status.zone if unit is not None and results else None
    status = ZoneStatus(
        observed_generation=generation,
        conditions=merge_conditions(zone.status.conditions, wanted, now),
        name_servers=facts.name_servers if facts is not None else zone.status.name_servers,
        provider=_public(facts.provider) if facts is not None else zone.status.provider,
    )
    return Projected(status, provisional=_is_provisional(wanted))


def without_claims_of_providers(
    status: ZoneStatus | RecordSetStatus, reasons: Reasons, why: str, before: Iterable[Condition]
) -> ZoneStatus | RecordSetStatus:
    """Return a status that admission refused, `why`, with nothing in it but what core vouches for; `before` are today's conditions.

    A Provider may have given up a reason or a field that a result in the ledger still has.
    """
    conditions = tuple(
        each if each.reason in _known_reasons(each, reasons) else _untold(each, why, find_condition(before, each.type))
        for each in status.conditions
        if each.type in list(ConditionType)
    )
    return status.model_copy(update={"conditions": conditions, "provider": None})


def _known_reasons(condition: Condition, reasons: Reasons) -> Collection[Reason]:
    return reasons.get((ConditionType(condition.type), condition.status), ())


def _untold(condition: Condition, why: str, before: Condition | None) -> Condition:
    """Return what stands for a condition that cannot be told, with the time since when it could not."""
    verdict = waiting(Reason.RECONCILE_ERROR, f"The provider's {condition.reason} cannot be told: {why}")
    since = before if before is not None and before.status is verdict.status else condition
    return condition.model_copy(
        update={
            "status": verdict.status,
            "reason": verdict.reason,
            "message": verdict.message,
            "last_transition_time": since.last_transition_time,
        }
    )


def _results_of(zone: Zone, unit: ZoneUnit) -> tuple[Condition, ...]:
    """Return what the provider says of this generation of a Zone; of a deleted one, what it says since its ledger is deleted.

    Deletion gives a Zone a generation that its ledger never gets, and the ledger a generation of its own that the provider has seen or not.
    What kept it from cleaning up is over when only others keep the ledger.
    """
    composed = unit.spec.zone.observed_generation
    if zone.meta.deleting:
        seen = unit.status.observed_generation == unit.meta.generation
        current = unit.meta.deleting and seen and not lingers(unit.meta)
    else:
        current = composed == zone.meta.generation
    if not current or unit.status.zone is None:
        return ()
    return tuple(each for each in unit.status.zone.conditions if each.observed_generation == composed)


def _accepted(verdict: Verdict, results: Iterable[Condition], generation: int) -> Condition:
    if verdict.accepted:
        return _carried(results, ConditionType.ACCEPTED, generation)
    return _condition(ConditionType.ACCEPTED, verdict, generation)


def _awaiting(claim: RecordSet, verdict: Verdict, item: UnitRecordSet | None) -> Verdict:
    """Return what is said of an item without a result that counts: the provider is awaited only by what it has been given."""
    if verdict.accepted or item is None or claim.meta.deleting:
        return AWAITING
    if _is_of_former_claim(item, claim):
        former = "The ledger keeps the records of a former claim of this name"
        return waiting(Reason.RECONCILING, f"{former}; what keeps these out is said by Accepted.")
    return _kept_out("claim", item.observed_generation, claim.meta.generation)


def _is_known_to_be_of(claim: RecordSet, item: UnitRecordSet, verdict: Verdict) -> bool:
    """Say whether an item was surely made of a claim as it is.

    What is accepted is written, and fenced when it was another item. A claim that is kept out may have been made again with other options
    than the ledger has, in another version: only what it has been told itself before is its own, and to wait is not the provider's word.
    """
    if not is_item_of(claim, item):
        return False
    payloads = (claim.spec.options, claim.spec.adoption, item.options, item.adoption)
    if verdict.accepted or all(each is None for each in payloads):
        return True
    told = find_condition(claim.status.conditions, ConditionType.PROGRAMMED)
    if told is None or told.observed_generation != claim.meta.generation:
        return False
    return (told.status, told.reason, told.message) != (AWAITING.status, AWAITING.reason, AWAITING.message)


def _is_of_former_claim(item: UnitRecordSet, claim: RecordSet) -> bool:
    return item.observed_generation == claim.meta.generation and not is_item_of(claim, item)


def _kept_out(what: str, composed: int, generation: int) -> Verdict:
    if composed == generation:
        return AWAITING
    former = f"The ledger keeps generation {composed} of the {what}"
    return waiting(Reason.RECONCILING, f"{former}; what keeps this one out is said by Accepted.")


def _carried(
    results: Iterable[Condition], kind: ConditionType, generation: int, awaiting: Verdict = AWAITING
) -> Condition:
    found = find_condition(results, kind)
    if found is None:
        return _condition(kind, awaiting, generation)
    return found.model_copy(update={"observed_generation": generation})


def _leaving(
    zone: Zone,
    remaining: Iterable[ObjectKey],
    withdrawals: Iterable[ObjectKey],
    results: Iterable[Condition],
    obstacle: str,
) -> Condition:
    waits = [
        f"{len(keys)} {kind} to be {how}: {_named(keys)}"
        for keys, kind, how in (
            (sorted(remaining), "RecordSets", "deleted"),
            (sorted(withdrawals), "RecordWithdrawals", "archived, which is to be deleted by a person"),
        )
        if keys
    ]
    if not waits:
        found = find_condition(results, ConditionType.PROGRAMMED)
        if found is not None and found.status is ConditionStatus.FALSE:
            return found.model_copy(update={"observed_generation": zone.meta.generation})
        message = obstacle or "Waiting for the provider to clean up."
    else:
        message = f"Waiting for {'; and for '.join(waits)}. {obstacle}".rstrip()
    verdict = Verdict(ConditionStatus.FALSE, Reason.PROVIDER_CHANGE_PENDING, message)
    return _condition(ConditionType.PROGRAMMED, verdict, zone.meta.generation)


def _named(keys: Sequence[ObjectKey]) -> str:
    more = f" and {len(keys) - NAMED_CLAIMS} more" if len(keys) > NAMED_CLAIMS else ""
    return ", ".join(str(key) for key in keys[:NAMED_CLAIMS]) + more


def _condition(kind: ConditionType, verdict: Verdict, generation: int) -> Condition:
    return Condition(
        type=kind,
        status=verdict.status,
        observed_generation=generation,
        reason=verdict.reason,
        message=verdict.message,
    )


def _public(provider: PrivateProviderData | None) -> ProviderData | None:
    return ProviderData(data=provider.data) if provider is not None and provider.data is not None else None


def _without(conditions: Iterable[Condition], kind: ConditionType) -> list[Condition]:
    return [each for each in conditions if each.type != kind]


def _is_provisional(wanted: Iterable[Condition]) -> bool:
    return any(each.status is ConditionStatus.UNKNOWN for each in wanted)
