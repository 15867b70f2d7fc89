"""Whether a Zone can be composed: its class, its provider and the ledger that is already there.

Each rule looks at one thing and either objects or passes; the first objection is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_class import ZoneClass
from controllers.core.grant import judge_zone_grant
from controllers.core.inputs import ZoneInputs, class_key_of
from controllers.core.providercontract.resolution import Unresolved, resolve_version, storage_version

Rule = Callable[[Zone, ZoneInputs], Verdict]


def judge_zone(zone: Zone, inputs: ZoneInputs) -> Verdict:
    """Return the first rule's objection, or acceptance when none objects."""
    return next((verdict for rule in RULES if not (verdict := rule(zone, inputs)).accepted), ACCEPTED)


def _provider_serves_the_version(zone: Zone, inputs: ZoneInputs) -> Verdict:
    version = resolve_version(inputs.provider, zone.spec.provider)
    if isinstance(version, Unresolved):
        return refused(Reason.INVALID_PROVIDER, f"{version.message}.")
    if storage_version(inputs.provider) is None:
        return waiting(
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            f"Provider {zone.spec.provider.name} does not have exactly one storage version.",
        )
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
        return waiting(
            Reason.ZONE_CLASS_NOT_RESOLVED, f"ZoneClass {zone_class.key} is not decided yet: {condition.reason}."
        )
    return ACCEPTED


def _ledger_is_of_this_zone(zone: Zone, inputs: ZoneInputs) -> Verdict:
    for unit in inputs.units:
        there = unit.spec.zone
        if there.domain_name != zone.spec.domain_name:
            return refused(
                Reason.MANAGED_RESOURCE_MISMATCH,
                f"ZoneUnit {unit.key} belongs to {there.domain_name}; it must be cleaned up before {zone.spec.domain_name} can use it.",
            )
        if unit.spec.provider.name != zone.spec.provider.name:
            return refused(
                Reason.MANAGED_RESOURCE_MISMATCH,
                f"ZoneUnit {unit.key} belongs to provider {unit.spec.provider.name}; it must be cleaned up first.",
            )
    return ACCEPTED


def _class_of(inputs: ZoneInputs) -> ZoneClass:
    assert inputs.zone_class is not None, "ruled out by _class_exists, which stands before"
    return inputs.zone_class


RULES: Final[tuple[Rule, ...]] = (
    _provider_serves_the_version,
    _class_exists,
    _class_has_the_provider,
    _class_allows_the_namespace,
    _class_is_accepted,
    _ledger_is_of_this_zone,
)
