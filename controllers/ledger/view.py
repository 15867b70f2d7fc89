"""One zone's ledger and what it is bound to, read from the caches at one moment.

Owns gathering; a provider adds what it alone looks at. Decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from controllers.api.provider import Provider
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.zone_class import StoredClass
from controllers.ledger.class_rule import is_ours
from controllers.ledger.context import LedgerContext
from controllers.ledger.surroundings import ZONE_INDEX
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """One zone by the key of its Zone: its ledger's parts by number, its class, and the Provider of our binding."""

    key: ObjectKey
    parts: tuple[ZoneUnit, ...]
    zone_class: ZoneClass | None
    provider: Provider | None
    stored_class: StoredClass | None = None
    """The class in the storage version, when it is ours."""

    @property
    def main(self) -> ZoneUnit | None:
        """Part 0, or None while it is not there."""
        return self.parts[0] if self.parts and self.parts[0].spec.part == 0 else None


def gather_ledger(context: LedgerContext, key: ObjectKey) -> LedgerView:
    """Return the view of one zone; `parts` is empty when there is no ledger."""
    units = context.informers.zone_units.by_index(ZONE_INDEX, key)
    parts = tuple(sorted(units, key=lambda unit: unit.spec.part))
    zone_class = class_of(context, parts[0]) if parts else None
    return LedgerView(
        key=key,
        parts=parts,
        zone_class=zone_class,
        provider=context.provider(),
        stored_class=in_storage(context, zone_class),
    )


def class_of(context: LedgerContext, part: ZoneUnit) -> ZoneClass | None:
    """Return the class of a ledger, None while it does not exist."""
    return context.informers.zone_classes.get(part.spec.zone.zone_class_ref.key)


def in_storage(context: LedgerContext, zone_class: ZoneClass | None) -> StoredClass | None:
    """Return a class of ours in the storage version, or what stands against that; None for any other class."""
    if zone_class is None or not is_ours(zone_class, context.binding):
        return None
    return context.stored.get(zone_class, context.provider())
