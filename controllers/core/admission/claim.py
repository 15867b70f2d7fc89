"""What Zones, ZoneClasses and RecordSets have in common at admission: the provider reference and its resolution.

Owns no kind's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from controllers.api.reference import ProviderRef
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    is_subdomain,
    require_object,
    require_object_name,
    require_text,
)
from controllers.core.providercontract.resolution import Unresolved

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
