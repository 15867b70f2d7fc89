"""Whether a ZoneClass that is bound to our controller can be followed.

Pure. Each rule looks at one thing and either objects or passes; the first objection is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controllers.api.condition import MESSAGE_LIMIT
from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.core.providercontract.conversion.zone_class import StoredClass
from controllers.core.providercontract.resolution import storage_version
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Parameters

Rule = Callable[[ZoneClass, Provider | None, HostedConfig], Verdict]


@dataclass(frozen=True, slots=True)
class ClassJudgement:
    """The verdict on a class; `parameters` are there exactly when it is accepted."""

    verdict: Verdict
    parameters: Parameters | None = None


def is_ours(zone_class: ZoneClass, config: HostedConfig) -> bool:
    """Say whether the class is bound to this controller; all others are somebody else's to speak of."""
    return zone_class.spec.controller_name == config.controller_name


def judge_class(zone_class: StoredClass, provider: Provider | None, config: HostedConfig) -> ClassJudgement:
    """Judge a class of ours in the storage version; `provider` is the Provider of our binding, None when it does not exist."""
    if isinstance(zone_class, Verdict):
        return ClassJudgement(zone_class)
    objection = next((verdict for rule in RULES if not (verdict := rule(zone_class, provider, config)).accepted), None)
    if objection is not None:
        return ClassJudgement(objection)
    parameters = parse_parameters(zone_class.spec.parameters)
    if isinstance(parameters, Parameters):
        return ClassJudgement(ACCEPTED, parameters)
    message = "; ".join(str(fault) for fault in parameters)
    return ClassJudgement(refused(Reason.INVALID_PARAMETERS, message[:MESSAGE_LIMIT]))


def _provider_is_ours(zone_class: ZoneClass, provider: Provider | None, config: HostedConfig) -> Verdict:
    ref = zone_class.spec.provider
    if (ref.name, ref.version) != (config.provider_name, config.provider_version):
        return refused(
            Reason.INVALID_PROVIDER,
            f"spec.provider: found {ref.name}/{ref.version}, allowed: {config.provider_name}/{config.provider_version}, "
            f"which is what {config.controller_name} runs.",
        )
    return ACCEPTED


def _contract_is_the_one_we_run(zone_class: ZoneClass, provider: Provider | None, config: HostedConfig) -> Verdict:
    if provider is None:
        return waiting(
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, f"Provider {config.provider_name} does not exist yet."
        )
    storage = storage_version(provider)
    if storage is None:
        return waiting(
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            f"Provider {config.provider_name} does not have exactly one storage version.",
        )
    if storage.name != config.provider_version:
        return refused(
            Reason.INVALID_PROVIDER,
            f"Provider {config.provider_name} stores {storage.name}, this controller runs {config.provider_version}.",
        )
    return ACCEPTED


def _has_no_identity(zone_class: ZoneClass, provider: Provider | None, config: HostedConfig) -> Verdict:
    if zone_class.spec.identity_ref is not None:
        return refused(
            Reason.INVALID_IDENTITY_REF,
            f'spec.identityRef: found "{zone_class.spec.identity_ref.name}", allowed: nothing, since the provider has no identity.',
        )
    return ACCEPTED


RULES: Final[tuple[Rule, ...]] = (_provider_is_ours, _contract_is_the_one_we_run, _has_no_identity)
