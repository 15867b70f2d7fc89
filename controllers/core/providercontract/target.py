"""What a Provider version speaks of: the three kinds of claims, their opaque payloads and the field each stands in.

Names and tables only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Final

from controllers.api.reason import RECORD_SET_REASONS, ZONE_REASONS
from controllers.api.record_set import RecordSetSpec
from controllers.api.schema import structural_schema
from controllers.api.zone import ZoneSpec
from controllers.api.zone_class import ZoneClassSpec
from controllers.api.zone_unit import UnitRecordSet
from zonemodel.model import Model


class Target(Enum):
    """A kind that the version has a contract for; the value is the field of the version that holds it."""

    ZONE_CLASS = "zoneClass"
    ZONE = "zone"
    RECORD_SET = "recordSet"

    @property
    def payloads(self) -> tuple[str, ...]:
        """Names of the opaque fields of the kind's spec, which are also the names of their schemas."""
        return _PAYLOADS[self]

    @property
    def kind(self) -> str:
        """The kind as manifests spell it."""
        return f"{self.value[0].upper()}{self.value[1:]}"

    @property
    def reasons(self) -> Mapping[Any, frozenset[Any]] | None:
        """Core condition reasons by type and status, None when the version cannot add to them."""
        return _REASONS.get(self)

    def spec_schema(self) -> Mapping[str, Any]:
        """Return the schema of the kind's spec with every constraint of its type."""
        return _spec_schema(self)


STATUS_DATA: Final = "statusProviderData"
"""Name of the schema of `status.provider.data`."""

_PAYLOADS: Final = {
    Target.ZONE_CLASS: ("parameters",),
    Target.ZONE: ("adoption",),
    Target.RECORD_SET: ("options", "adoption"),
}
_SPECS: Final[Mapping[Target, type[Model]]] = {
    Target.ZONE_CLASS: ZoneClassSpec,
    Target.ZONE: ZoneSpec,
    Target.RECORD_SET: RecordSetSpec,
}
_REASONS: Final = {Target.ZONE: ZONE_REASONS, Target.RECORD_SET: RECORD_SET_REASONS}


@cache
def _spec_schema(target: Target) -> dict[str, Any]:
    return structural_schema(_SPECS[target], strict=True)


@cache
def item_schema() -> Mapping[str, Any]:
    """Return the schema of a record set in a ledger."""
    return structural_schema(UnitRecordSet, strict=True)
