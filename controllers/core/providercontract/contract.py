"""`Contract`: one version of a Provider, compiled, as admission and composition use it.

Owns what the version says of claims. Never resolves references and never reads an API.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from controllers.api.provider import ProviderVersion
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field
from zonemodel.record import RecordType


@dataclass(frozen=True, slots=True)
class Contract:
    """One version of a Provider."""

    provider: str
    version: ProviderVersion

    @property
    def label(self) -> str:
        """The version as messages name it."""
        return f"{self.provider}/{self.version.name}"

    def judge_type(self, record_type: Field) -> Iterator[Fault]:
        """Object to a record type that the version does not support."""
        supported = [each.value for each in self.version.record_set.supported_types]
        if record_type.text in list(RecordType) and record_type.text not in supported:
            yield record_type.fault(
                f"a type that {self.label} supports: {', '.join(supported)}", FaultReason.NOT_SUPPORTED
            )
