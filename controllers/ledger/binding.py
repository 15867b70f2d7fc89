"""Which classes and ledgers a provider's controllers look after.

Owns the names as one value; flags and environment variables are read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.api.reference import ProviderRef

VERSION: Final = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Binding:
    """Classes with this controller name are ours; of them, those of this Provider and storage version can be followed."""

    controller_name: str
    provider_name: str
    provider_version: str = VERSION

    @classmethod
    def of(cls, provider_name: str) -> Binding:
        """Return the binding that a provider has unless it is told otherwise."""
        return cls(f"{provider_name}/controller", provider_name)

    @property
    def provider(self) -> ProviderRef:
        return ProviderRef(name=self.provider_name, version=self.provider_version)
