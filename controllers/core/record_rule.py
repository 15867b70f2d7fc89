"""Whether a RecordSet can be composed into its zone, other claims left aside.

Each rule looks at one thing and either objects or passes; the first objection is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType
from controllers.api.provider import ProviderVersion
from controllers.api.reason import RECORD_SET_REASONS, Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.core.grant import judge_record_set_grant
from controllers.core.inputs import ZoneInputs
from controllers.core.providercontract.resolution import resolve_version
from zonemodel.name import Fqdn, OwnerName, object_to_length
from zonemodel.record import encode_bodies

Rule = Callable[[RecordSet, Zone, ZoneInputs], Verdict]
_UNKNOWN_REASONS: Final = RECORD_SET_REASONS[ConditionType.ACCEPTED, ConditionStatus.UNKNOWN]


def judge_record_set(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Return the first rule's objection, or acceptance when none objects; the zone itself is accepted."""
    return next((verdict for rule in RULES if not (verdict := rule(claim, zone, inputs)).accepted), ACCEPTED)


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
    version = resolve_version(inputs.provider, claim.spec.provider)
    if isinstance(version, ProviderVersion) and claim.spec.type not in version.record_set.supported_types:
        return refused(
            Reason.INVALID_PROVIDER_PAYLOAD,
            f"Provider {claim.spec.provider.name} does not support type {claim.spec.type}.",
        )
    return ACCEPTED


def _name_fits_the_zone(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    objection = object_to_length(OwnerName(claim.spec.name), Fqdn(zone.spec.domain_name))
    return ACCEPTED if objection is None else refused(Reason.INVALID_ZONE_REF, f"In this Zone {objection}.")


def _body_has_a_wire_form(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Admission refuses such values; this catches what came around it."""
    if getattr(claim.spec, claim.spec.type.field) is None:
        return (
            ACCEPTED
            if claim.spec.options
            else refused(Reason.INVALID_PROVIDER_PAYLOAD, f"spec.{claim.spec.type.field} is missing.")
        )
    try:
        encode_bodies(claim.spec)
    except ValueError as error:
        return refused(Reason.INVALID_PROVIDER_PAYLOAD, f"spec.{claim.spec.type.field}: {error}.")
    return ACCEPTED


def _zone_lets_it_in(claim: RecordSet, zone: Zone, inputs: ZoneInputs) -> Verdict:
    return judge_record_set_grant(claim, zone, inputs.labels_of(claim.meta.namespace))


RULES: Final[tuple[Rule, ...]] = (
    _provider_is_the_zones,
    _provider_has_the_type,
    _name_fits_the_zone,
    _body_has_a_wire_form,
    _zone_lets_it_in,
)
