"""Which version of a Provider is meant: the one helper that admission, the composer and the providers' controllers share.

Owns the InvalidProvider decision. Never compiles or validates a payload.
"""

from __future__ import annotations

from dataclasses import dataclass

from controllers.api.provider import Provider, ProviderVersion
from controllers.api.reference import ProviderRef


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why no version is meant: the field of the reference that is wrong (`name` or `version`), and what is allowed."""

    field: str
    found: str
    allowed: str

    @property
    def message(self) -> str:
        return f"spec.provider.{self.field}: found {self.found}, allowed: {self.allowed}"


def resolve_version(provider: Provider | None, ref: ProviderRef) -> ProviderVersion | Unresolved:
    """Return the served version that a reference names; `provider` is the Provider of that name, None when there is none."""
    if provider is None:
        return no_provider(ref.name)
    version = find_version(provider, ref.version)
    return version if version is not None and version.served else no_version(provider, ref)


def no_version(provider: Provider, ref: ProviderRef) -> Unresolved:
    """Return the answer for a version that a Provider does not serve or does not have."""
    served = ", ".join(each.name for each in provider.spec.versions if each.served) or "none, for no version is served"
    known = find_version(provider, ref.version) is not None
    found = f'"{ref.version}", which is {"no longer served" if known else "no version of it"}'
    return Unresolved("version", found, f"a served version of {ref.name}: {served}")


def no_provider(name: str) -> Unresolved:
    """Return the answer for a Provider that does not exist."""
    return Unresolved("name", f'"{name}", which does not exist', "the name of an installed Provider")


def find_version(provider: Provider, name: str) -> ProviderVersion | None:
    """Return the version of that name, served or not."""
    return next((each for each in provider.spec.versions if each.name == name), None)


def storage_version(provider: Provider | None) -> ProviderVersion | None:
    """Return the version that ledgers are written in, or None when there is not exactly one."""
    found = [each for each in provider.spec.versions if each.storage] if provider is not None else []
    return found[0] if len(found) == 1 else None
