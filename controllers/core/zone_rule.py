"""Whether a Zone can be composed: its class, its provider and the ledger that is already there.

Each rule looks at one thing and either objects or passes; the first objection is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import CORE_FINALIZER
from controllers.api.reason import ZONE_REASONS, Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit, part_name
from controllers.core.conversion import Ruling, convert_zone
from controllers.core.grant import judge_zone_grant
from controllers.core.inputs import ZoneInputs, class_key_of, contracts_of
from controllers.core.payload_rule import judge_zone_payload
from controllers.core.providercontract.fault import tell
from controllers.core.providercontract.field import Field, judge_reference
from controllers.core.providercontract.resolution import Unresolved
from kube.object import ObjectMeta

Rule = Callable[[Zone, ZoneInputs], Verdict]
_UNKNOWN_REASONS: Final = ZONE_REASONS[ConditionType.ACCEPTED, ConditionStatus.UNKNOWN]


def judge_surroundings(zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Return the first rule's objection, or acceptance when none objects; the Zone's own payload is left aside."""
    return next((verdict for rule in RULES if not (verdict := rule(zone, inputs)).accepted), ACCEPTED)


def rule_payload(zone: Zone, inputs: ZoneInputs) -> Ruling:
    """Return what stands against the Zone's payload, or what is known of it; the surroundings are accepted."""
    served, storage = contracts_of(inputs)
    verdict = judge_zone_payload(zone, served)
    return convert_zone(zone, inputs, served, storage) if verdict.accepted else verdict


def _class_can_be_meant(zone: Zone, inputs: ZoneInputs) -> Verdict:
    ref = Field("spec.zoneClassRef", zone.spec.zone_class_ref.dump())
    faults = list(judge_reference(ref, "the ZoneClass of the zone"))
    return refused(Reason.INVALID_ZONE_CLASS_REF, f"{tell(faults)}.") if faults else ACCEPTED


def _provider_serves_the_version(zone: Zone, inputs: ZoneInputs) -> Verdict:
    served, storage = inputs.versions.served, inputs.versions.storage
    if isinstance(served, Unresolved):
        return refused(Reason.INVALID_PROVIDER, f"{served.message}.")
    if isinstance(storage, Unresolved):
        return waiting(Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, f"{storage.message}.")
    return ACCEPTED


def _class_exists(zone: Zone, inputs: ZoneInputs) -> Verdict:
    if inputs.zone_class is None:
        return waiting(Reason.ZONE_CLASS_NOT_RESOLVED, f"ZoneClass {class_key_of(zone)} does not exist yet.")
    return ACCEPTED


def _class_has_the_provider(zone: Zone, inputs: ZoneInputs) -> Verdict:
    zone_class = _class_of(inputs)
    if zone.spec.provider != zone_class.spec.provider:
        theirs, ours = zone_class.spec.provider, zone.spec.provider
        return refused(
            Reason.PROVIDER_MISMATCH,
            f"spec.provider is {ours.name}/{ours.version}, the ZoneClass has {theirs.name}/{theirs.version}.",
        )
    return ACCEPTED


def _class_allows_the_namespace(zone: Zone, inputs: ZoneInputs) -> Verdict:
    return judge_zone_grant(zone, _class_of(inputs), inputs.labels_of(zone.meta.namespace))


def _class_has_the_identity(zone: Zone, inputs: ZoneInputs) -> Verdict:
    """The Provider may have changed since the class was admitted."""
    zone_class, (served, _) = _class_of(inputs), contracts_of(inputs)
    identity, ref = served.version.identity, zone_class.spec.identity_ref
    if identity is None and ref is not None:
        return refused(
            Reason.INVALID_IDENTITY_REF,
            f'ZoneClass {zone_class.key} names the identity "{ref.name}", but {served.label} needs none.',
        )
    if identity is not None and ref is None:
        kind = f"{identity.resource.kind}.{identity.resource.group}"
        return refused(
            Reason.INVALID_IDENTITY_REF,
            f"ZoneClass {zone_class.key} names no identity, but {served.label} needs one of kind {kind}.",
        )
    return ACCEPTED


def _class_is_accepted(zone: Zone, inputs: ZoneInputs) -> Verdict:
    zone_class = _class_of(inputs)
    condition = find_condition(zone_class.status.conditions, ConditionType.ACCEPTED)
    if condition is None or condition.observed_generation != zone_class.meta.generation:
        return waiting(
            Reason.ZONE_CLASS_NOT_RESOLVED,
            f"ZoneClass {zone_class.key} has not been judged yet by its controller {zone_class.spec.controller_name}.",
        )
    if condition.status is ConditionStatus.FALSE:
        return refused(
            Reason.ZONE_CLASS_NOT_ACCEPTED, f"ZoneClass {zone_class.key} is not accepted: {condition.reason}."
        )
    if condition.status is ConditionStatus.UNKNOWN:
        # What the class waits for, the Zone waits for, too: an identity, say, that a person has to make.
        reason = next((each for each in _UNKNOWN_REASONS if each == condition.reason), Reason.ZONE_CLASS_NOT_RESOLVED)
        return waiting(reason, f"ZoneClass {zone_class.key} is not decided yet: {condition.reason}.")
    return ACCEPTED


def lingers(meta: ObjectMeta) -> bool:
    """Say whether an object that is being deleted was let go by core and is kept by finalizers of others."""
    return meta.deleting and bool(meta.finalizers) and CORE_FINALIZER not in meta.finalizers


def kept_by(meta: ObjectMeta) -> str:
    """Say what keeps such an object."""
    return f"the object is kept by {', '.join(meta.finalizers)}"


def obstacle_of(inputs: ZoneInputs) -> str:
    """Return why a deleted Zone does not go on though nothing of the product's is under way, and what a person can do; mostly empty.

    A class may have been deleted and made again for another provider, or with the name of a controller that nobody runs.
    """
    if inputs.zone is not None and not inputs.units and lingers(inputs.zone.meta):
        return f"Nothing of it is left; {kept_by(inputs.zone.meta)}."
    if inputs.units and all(lingers(unit.meta) for unit in inputs.units):
        held = inputs.units[0]
        return f"Nothing of it is left but ZoneUnit {held.key}; {kept_by(held.meta)}."
    zone_class = inputs.zone_class
    if zone_class is None or not inputs.units:
        return ""
    provider, controller = inputs.units[0].spec.provider.name, zone_class.spec.controller_name
    condition = find_condition(zone_class.status.conditions, ConditionType.ACCEPTED)
    if zone_class.spec.provider.name != provider:
        theirs = zone_class.spec.provider.name
        return f"ZoneClass {zone_class.key} is for {theirs}: delete it and create it again for {provider}, which made the ledger."
    if condition is None or condition.observed_generation != zone_class.meta.generation:
        words = f"Nobody has judged ZoneClass {zone_class.key}, whose controllerName is {controller}"
    elif condition.reason == Reason.INVALID_PROVIDER:
        words = f"ZoneClass {zone_class.key} is not accepted by {controller}: {condition.reason}"
    else:
        return ""
    return f"{words}. Unless that controller serves {provider}, delete the class and create it with the one that does."


def judge_ledger(zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Object to a ledger of another domain, provider or class: what they have made is never taken over, nor cleaned up in passing."""
    for unit in inputs.units:
        there, zone_class = unit.spec.zone, class_key_of(zone)
        for what, theirs, ours in (
            ("domain", there.domain_name, zone.spec.domain_name),
            ("Provider", unit.spec.provider.name, zone.spec.provider.name),
            ("ZoneClass", str(there.zone_class_ref.key), str(zone_class)),
        ):
            if theirs != ours:
                return refused(
                    Reason.MANAGED_RESOURCE_MISMATCH,
                    f"ZoneUnit {unit.key} belongs to {what} {theirs}; it must be cleaned up before {ours} can use it.",
                )
    return ACCEPTED


def _ledger_is_whole(zone: Zone, inputs: ZoneInputs) -> Verdict:
    missing = missing_part(inputs.units)
    if missing is None:
        return ACCEPTED
    return waiting(
        Reason.OWNER_STATE_NOT_RESOLVED,
        f"ZoneUnit {inputs.key.namespace}/{part_name(inputs.key.name, missing)}, which belongs to the ledger, is not there; "
        "what it owns is not known.",
    )


def missing_part(units: Sequence[ZoneUnit]) -> int | None:
    """Return the number of a part that the ledger must have and that is not there; without any unit there is no ledger yet."""
    there = {unit.spec.part for unit in units}
    wanted = {0, *(part for unit in units for part in unit.spec.parts)} if units else set()
    return min(wanted - there, default=None)


def _class_of(inputs: ZoneInputs) -> ZoneClass:
    assert inputs.zone_class is not None, "ruled out by _class_exists, which stands before"
    return inputs.zone_class


RULES: Final[tuple[Rule, ...]] = (
    _class_can_be_meant,
    _provider_serves_the_version,
    _class_exists,
    _class_has_the_provider,
    _class_allows_the_namespace,
    _class_has_the_identity,
    _class_is_accepted,
    judge_ledger,
    _ledger_is_whole,
)
