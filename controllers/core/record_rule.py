"""Whether a RecordSet can be composed into its zone, other claims left aside.

Each rule looks at one thing and either objects or passes; the first objection is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType
from controllers.api.reason import RECORD_SET_REASONS, Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_unit import PART_NAME
from controllers.core.admission.record_name import OWNER, judge_owner
from controllers.core.conversion import Ruling, convert_record_set
from controllers.core.grant import judge_record_set_grant
from controllers.core.inputs import ZoneInputs, contracts_of
from controllers.core.payload_rule import judge_record_set_payload
from controllers.core.providercontract.fault import tell
from controllers.core.providercontract.field import Field, judge_reference, require_text
from zonemodel.name import Fqdn, OwnerName, object_to_length

Rule = Callable[[RecordSet, Zone, ZoneInputs], Verdict]
_UNKNOWN_REASONS: Final = RECORD_SET_REASONS[ConditionType.ACCEPTED, ConditionStatus.UNKNOWN]


def rule_record_set(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Ruling:
    """Return the first rule's objection, or what is known of the payloads when none objects; the zone itself is accepted."""
    for rule in RULES:
        if not (verdict := rule(claim, zone, inputs)).accepted:
            return verdict
    return convert_record_set(claim, zone, inputs, *contracts_of(inputs))


def judge_zone_ref(claim: RecordSet) -> Verdict:
    """Object to a reference that no Zone can ever be meant by."""
    ref = claim.spec.zone_ref
    faults = list(judge_reference(Field("spec.zoneRef", ref.dump()), "the Zone of the record set"))
    if faults:
        return refused(Reason.INVALID_ZONE_REF, f"{tell(faults)}.")
    if PART_NAME.fullmatch(ref.name):
        return refused(
            Reason.INVALID_ZONE_REF,
            f'spec.zoneRef.name: found "{ref.name}", allowed: the name of a Zone, which does not end in .part-<digits>.',
        )
    return ACCEPTED


def verdict_under(zone_verdict: Verdict) -> Verdict:
    """Return what a claim gets when its zone is refused or not decided yet."""
    if zone_verdict.status is ConditionStatus.FALSE:
        return refused(Reason.ZONE_NOT_ACCEPTED, f"The Zone is not accepted: {zone_verdict.reason}.")
    reason = zone_verdict.reason if zone_verdict.reason in _UNKNOWN_REASONS else Reason.ZONE_NOT_RESOLVED
    return waiting(reason, f"The Zone is not decided yet: {zone_verdict.reason}.")


def _provider_is_the_zones(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    if claim.spec.provider != zone.spec.provider:
        theirs, ours = zone.spec.provider, claim.spec.provider
        return refused(
            Reason.PROVIDER_MISMATCH,
            f"spec.provider is {ours.name}/{ours.version}, the Zone has {theirs.name}/{theirs.version}.",
        )
    return ACCEPTED


def _provider_has_the_type(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    for contract in contracts_of(inputs):
        supported = contract.version.record_set.supported_types
        if claim.spec.type not in supported:
            return refused(
                Reason.INVALID_PROVIDER,
                f'spec.type: found "{claim.spec.type}", allowed: a type that {contract.label} supports: {", ".join(supported)}.',
            )
    return ACCEPTED


def _name_fits_the_zone(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Admission refuses such names already; one that came in while nobody was asked is not published either."""
    name = Field("spec.name", claim.spec.name)
    if faults := [*require_text(name, OWNER), *judge_owner(name, claim.spec.type)]:
        return refused(Reason.INVALID_ZONE_REF, f"{tell(faults)}.")
    objection = object_to_length(OwnerName(claim.spec.name), Fqdn(zone.spec.domain_name))
    return ACCEPTED if objection is None else refused(Reason.INVALID_ZONE_REF, f"In this Zone {objection}.")


def _zone_lets_it_in(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    return judge_record_set_grant(claim, zone, inputs.labels_of(claim.meta.namespace))


def _payload_satisfies_the_version(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    return judge_record_set_payload(claim, contracts_of(inputs)[0])


RULES: Final[tuple[Rule, ...]] = (
    _provider_is_the_zones,
    _provider_has_the_type,
    _name_fits_the_zone,
    _zone_lets_it_in,
    _payload_satisfies_the_version,
)
