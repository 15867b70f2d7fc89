"""Whether a ZoneClass that is bound to a provider's controller can be followed.

Pure. Owns what is the same for every provider: whose class it is, and whether its Provider is the one that the controller runs. What the
class itself has to say is the provider's own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.core.providercontract.conversion.zone_class import StoredClass
from controllers.core.providercontract.fault import Fault, tell
from controllers.core.providercontract.resolution import storage_version
from controllers.ledger.binding import Binding

P = TypeVar("P")

ClassRule = Callable[[ZoneClass], P | Verdict]
"""A provider's own rule: the meaning of a class in the storage version, or the verdict that stands against it."""


@dataclass(frozen=True, slots=True)
class ClassJudgement(Generic[P]):
    """The verdict on a class; `parameters` are what the provider's rule made of it, there exactly when it is accepted."""

    verdict: Verdict
    parameters: P | None = None


def is_ours(zone_class: ZoneClass, binding: Binding) -> bool:
    """Say whether the class is bound to this controller; all others are somebody else's to speak of."""
    return zone_class.spec.controller_name == binding.controller_name


def judge_class(
    zone_class: StoredClass, provider: Provider | None, binding: Binding, rule: ClassRule[P]
) -> ClassJudgement[P]:
    """Judge a class of ours in the storage version; `provider` is the Provider of our binding, None when it does not exist."""
    if isinstance(zone_class, Verdict):
        return ClassJudgement(zone_class)
    for judge in (_judge_reference, _judge_contract):
        if not (verdict := judge(zone_class, provider, binding)).accepted:
            return ClassJudgement(verdict)
    found = rule(zone_class)
    return ClassJudgement(found) if isinstance(found, Verdict) else ClassJudgement(ACCEPTED, found)


def object_to_identity(zone_class: ZoneClass) -> Verdict | None:
    """Return the objection to a class that names an identity, for a provider that has none; None when there is none."""
    if zone_class.spec.identity_ref is None:
        return None
    return refused(
        Reason.INVALID_IDENTITY_REF,
        f'spec.identityRef: found "{zone_class.spec.identity_ref.name}", allowed: nothing, since the provider has no identity.',
    )


def invalid_parameters(faults: Iterable[Fault]) -> Verdict:
    """Return the verdict on parameters with faults; all of them are told."""
    return refused(Reason.INVALID_PARAMETERS, tell(faults))


def _judge_reference(zone_class: ZoneClass, provider: Provider | None, binding: Binding) -> Verdict:
    ref = zone_class.spec.provider
    if ref == binding.provider:
        return ACCEPTED
    return refused(
        Reason.INVALID_PROVIDER,
        f"spec.provider: found {ref.name}/{ref.version}, allowed: {binding.provider_name}/{binding.provider_version}, "
        f"which is what {binding.controller_name} runs.",
    )


def _judge_contract(zone_class: ZoneClass, provider: Provider | None, binding: Binding) -> Verdict:
    if provider is None:
        return waiting(
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, f"Provider {binding.provider_name} does not exist yet."
        )
    storage = storage_version(provider)
    if storage is None:
        return waiting(
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            f"Provider {binding.provider_name} does not have exactly one storage version.",
        )
    if storage.name != binding.provider_version:
        return refused(
            Reason.INVALID_PROVIDER,
            f"Provider {binding.provider_name} stores {storage.name}, this controller runs {binding.provider_version}.",
        )
    return ACCEPTED
