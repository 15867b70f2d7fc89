"""Items of a ledger in a provider's own form, kept from one look at a zone to the next.

Owns what is converted again and what is not. Never knows what a provider makes of an item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from kube.object import ObjectKey
from zonemodel.name import Fqdn


class Converted(Protocol):
    """A provider's form of an item."""

    @property
    def source(self) -> UnitRecordSet: ...

    @property
    def key(self) -> ObjectKey: ...


ItemT = TypeVar("ItemT", bound=Converted)


class ItemCache(Generic[ItemT]):
    """The items of one zone's parts; `convert` is called for those that have changed, in parts whose spec has changed."""

    def __init__(self, convert: Callable[[UnitRecordSet, Fqdn], ItemT]) -> None:
        self._convert = convert
        self._parts: dict[str, tuple[int, tuple[ItemT, ...]]] = {}

    def items_of(self, parts: Iterable[ZoneUnit]) -> tuple[tuple[ItemT, ...], ...]:
        """Return each part's items in its order; the same objects as last time where nothing changed."""
        found: dict[str, tuple[int, tuple[ItemT, ...]]] = {}
        for part in parts:
            generation, items = self._parts.get(part.meta.uid, (-1, ()))
            if generation != part.meta.generation:
                items = self._converted(part, items)
            found[part.meta.uid] = part.meta.generation, items
        self._parts = found
        return tuple(items for _, items in found.values())

    def _converted(self, part: ZoneUnit, before: tuple[ItemT, ...]) -> tuple[ItemT, ...]:
        known = {item.key: item for item in before}
        domain = Fqdn(part.spec.zone.domain_name)
        return tuple(
            item
            if (item := known.get(source.key)) is not None and (item.source is source or item.source == source)
            else self._convert(source, domain)
            for source in part.spec.record_sets
        )
