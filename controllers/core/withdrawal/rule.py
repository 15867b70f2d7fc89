"""Whether a withdrawal can be observed: its shape, the binding of its zone, what the Provider supports, and who grants it.

Pure. Each rule looks at one thing and either objects or passes. There is no "not yet": a binding that cannot be told is an
objection, so that nobody ever takes a withdrawal for accepted that nobody observes. Messages about grants are coarse on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.record_withdrawal import (
    ADDRESS_LABEL,
    RecordWithdrawal,
    address_label,
    address_type,
    is_canonical_address,
)
from controllers.api.record_withdrawal_item import WITHDRAWAL_LIMIT
from controllers.api.record_withdrawal_reason import WithdrawalReason
from controllers.api.zone import Zone
from controllers.core.grant import NAME_DENIED, NAMESPACE_DENIED, judge_granted
from controllers.core.inputs import Resolution, ZoneInputs
from controllers.core.providercontract.contract import Contract
from controllers.core.zone_rule import judge_surroundings
from zonemodel.name import Fqdn, OwnerName, object_to_length, object_to_owner


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Accepted of a withdrawal: True or False, why, and the sentence for people."""

    reason: WithdrawalReason
    message: str = ""

    @property
    def accepted(self) -> bool:
        return self.reason is WithdrawalReason.ACCEPTED

    @property
    def status(self) -> ConditionStatus:
        return ConditionStatus.TRUE if self.accepted else ConditionStatus.FALSE


ACCEPTED: Final = Acceptance(WithdrawalReason.ACCEPTED)
TYPE_DENIED: Final = "RecordWithdrawal type is not allowed for this name by the referenced Zone."

Rule = Callable[[RecordWithdrawal, Zone, ZoneInputs], Acceptance]


def judge_shape(claim: RecordWithdrawal) -> Acceptance:
    """Judge what the claim tells by itself; admission has refused what is objected to here."""
    spec = claim.spec
    if objection := object_to_owner(spec.name, underscore=False):
        return invalid(f"spec.name: found {spec.name!r}, which {objection}.")
    if not is_canonical_address(spec.address):
        return invalid(f"spec.address: found {spec.address!r}, allowed: an IPv4 or IPv6 address in canonical form.")
    if claim.meta.labels.get(ADDRESS_LABEL) != address_label(spec.address):
        return invalid(f"metadata.labels: {ADDRESS_LABEL} must be {address_label(spec.address)}.")
    return ACCEPTED


def judge_withdrawal(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    """Return the first rule's objection to a claim of good shape, or acceptance when none objects."""
    return next((each for rule in RULES if not (each := rule(claim, zone, inputs)).accepted), ACCEPTED)


def too_many(count: int) -> Acceptance:
    """The objection to every claim of a zone that has more than a ledger may hold."""
    return invalid(f"The Zone has {count} RecordWithdrawals, allowed are {WITHDRAWAL_LIMIT}; none of them is observed.")


def invalid(message: str) -> Acceptance:
    """The objection that the claim means nothing that can be observed."""
    return Acceptance(WithdrawalReason.INVALID_WITHDRAWAL, message)


def _denied(message: str) -> Acceptance:
    return Acceptance(WithdrawalReason.NOT_ALLOWED, message)


def _fits_in_the_zone(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    objection = object_to_length(OwnerName(claim.spec.name), Fqdn(zone.spec.domain_name))
    return invalid(f"spec.name: {objection}.") if objection else ACCEPTED


def _zone_is_bound(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    verdict = judge_surroundings(zone, inputs)
    if verdict.accepted:
        return ACCEPTED
    if verdict.reason is Reason.NOT_ALLOWED_BY_ZONE_CLASS:
        return _denied(verdict.message)
    return invalid(f"Zone {zone.key} is not bound to its provider: {verdict.reason}: {verdict.message}")


def _provider_is_the_zones(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    if claim.spec.provider.name != zone.spec.provider.name:
        return invalid(
            f"spec.provider.name: found {claim.spec.provider.name}, but Zone {zone.key} has {zone.spec.provider.name}."
        )
    return ACCEPTED


def _provider_supports_it(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    version = claim.spec.provider.version
    return _support(inputs.withdrawal_versions.get(version), f"{claim.spec.provider.name}/{version}")


def _storage_supports_it(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    return _support(inputs.versions.storage, "the storage version of the Provider")


def _support(resolution: Resolution | None, what: str) -> Acceptance:
    if not isinstance(resolution, Contract):
        words = resolution.message if resolution is not None else f"{what} is not known"
        return invalid(f"spec.provider: {words}.")
    if resolution.version.record_withdrawal is None:
        return Acceptance(WithdrawalReason.UNSUPPORTED_PROVIDER, f"{resolution.label} cannot prove withdrawals.")
    return ACCEPTED


def _is_granted(claim: RecordWithdrawal, zone: Zone, inputs: ZoneInputs) -> Acceptance:
    """Another namespace needs a grant, and so does a wildcard, which speaks of names that nobody has written down."""
    name, namespace = claim.spec.name, claim.meta.namespace
    is_wildcard = name == "*" or name.startswith("*.")
    if namespace == zone.meta.namespace and not is_wildcard:
        return ACCEPTED
    labels = inputs.labels_of(namespace)
    if labels is None:
        return invalid(f"The labels of namespace {namespace} are not known.")
    verdict = judge_granted(zone, labels, name, address_type(claim.spec.address))
    if verdict.accepted:
        return ACCEPTED
    words = verdict.message.replace("RecordSet", "RecordWithdrawal")
    return _denied(words if verdict.message in (NAMESPACE_DENIED, NAME_DENIED) else TYPE_DENIED)


RULES: Final[tuple[Rule, ...]] = (
    _fits_in_the_zone,
    _provider_is_the_zones,
    _zone_is_bound,
    _provider_supports_it,
    _storage_supports_it,
    _is_granted,
)
