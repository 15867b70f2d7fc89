"""What Zones, ZoneClasses and RecordSets have in common at admission: the provider reference and its resolution.

Owns no kind's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from controllers.api.reference import ProviderRef
from controllers.core.admission.record_body import Switch, Switches
from controllers.core.cel.expression import Values
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.environment import claim_variables
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    is_subdomain,
    require_object,
    require_object_name,
    require_text,
)
from controllers.core.providercontract.resolution import Unresolved
from controllers.core.providercontract.target import Target

Manifest = Mapping[str, Any]
Resolution = Contract | Unresolved | None
"""The contract that a claim means, why it means none, or None when the reference itself is malformed."""


def provider_ref(manifest: Manifest) -> ProviderRef | None:
    """Return the well-formed `spec.provider` of a manifest, or None."""
    provider = Field("", manifest).at("spec.provider")
    name, version = provider.child("name").text, provider.child("version").text
    return ProviderRef(name=name, version=version) if name and version and is_subdomain(name) else None


def require_provider(spec: Field) -> Iterator[Fault]:
    """Object to a spec without a well-formed provider reference."""
    provider = spec.child("provider")
    faults = list(require_object(provider, "name and version of an installed Provider"))
    yield from faults
    if not faults:
        yield from require_object_name(provider.child("name"))
        yield from require_text(provider.child("version"), "a served version of the Provider, such as v1alpha1")


def judge_resolution(spec: Field, resolution: Resolution) -> Iterator[Fault]:
    """Object to a reference that means no served version."""
    if isinstance(resolution, Unresolved):
        field = spec.child("provider").child(resolution.field)
        yield Fault(field.path, resolution.found, resolution.allowed, FaultReason.INVALID_PROVIDER)


class ClaimRules:
    """The expressions of a contract on one claim, which reads them once.

    `failures` are expressions that could not be evaluated: most often because of a fault that has been named already, hence
    they are to be told only when there is none.
    """

    def __init__(self, contract: Contract | None, target: Target, manifest: Manifest) -> None:
        self.failures: list[Fault] = []
        self._is_known = contract is not None
        self._book = contract.book(target) if contract else None
        self._values: Values | None = None
        self._too_large: Fault | None = None
        if self._book is None:
            return
        admitted = self._book.admit(claim_variables(manifest))
        if isinstance(admitted, Fault):
            self._too_large = admitted
        else:
            self._values = admitted

    def switches(self) -> Switches:
        """Return whether each core validation holds for the claim: all do unless the Provider says otherwise."""
        if not self._is_known or self._too_large is not None:
            return lambda _: Switch.UNKNOWN
        states: dict[str, Switch] = {}
        for name, off in self._book.switched_off(self._values) if self._book and self._values else ():
            if isinstance(off, Fault):
                self.failures.append(off)
                states.setdefault(name, Switch.UNKNOWN)
            elif off:
                states[name] = Switch.OFF
        return lambda validation: states.get(validation.value, Switch.ON)

    def judge(self) -> Iterator[Fault]:
        """Object to a claim that breaks a rule, or that is too large for rules to read."""
        if self._too_large is not None:
            yield self._too_large
        elif self._book is not None and self._values is not None:
            judgement = self._book.judge(self._values)
            self.failures.extend(judgement.failures)
            yield from judgement.faults
