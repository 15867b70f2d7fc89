"""The provider's controllers as the manager runs them, and which keys a change of any object concerns.

Owns event mapping and registration only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final, TypeVar

from controllers.api.provider import Provider
from controllers.api.reference import ProviderRef
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.core.providercontract.conversion.desk import ConversionDesk, Converter
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.hosted_object import HostedObject, Manifest
from controllers.providers.hosted.live_server import ServerSlice, live_servers
from controllers.providers.hosted.view import CLASS_INDEX, DOMAIN_INDEX, HostedInformers
from controllers.providers.hosted.zone_class import ZoneClassReconciler
from controllers.providers.hosted.zone_unit import ZoneUnitReconciler
from controllers.runtime.controller import Controller
from controllers.runtime.event_map import EventMap
from controllers.runtime.recorder import EventRecorder
from kube.client import Client
from kube.object import ObjectKey
from kube.store import Change
from kube.timestamp import utc_now

T = TypeVar("T")

SETTLE_S: Final = 2.0
WORKERS: Final = 4


class HostedProvider:
    """Both controllers of the provider; `controllers` and `conversions` are what the manager runs while it leads.

    `converter` asks the conversion webhook of our Provider, if it has one.
    """

    def __init__(
        self,
        client: Client,
        informers: HostedInformers,
        recorder: EventRecorder,
        config: HostedConfig,
        *,
        converter: Converter | None = None,
        wall_clock: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._informers = informers
        self._config = config
        self._live: tuple[str, ...] = ()
        self.conversions = ConversionDesk(converter or ConversionClient(), self._look_at_class)
        runs = ProviderRef(name=config.provider_name, version=config.provider_version)
        stored = StoredClasses(self.conversions, runs)
        self._units = ZoneUnitReconciler(client, informers, recorder, config, stored, wall_clock, clock)
        classes = ZoneClassReconciler(client, informers, recorder, config, stored, wall_clock)
        self.zone_classes: Controller[ObjectKey] = Controller("hosted-zone-class", classes.reconcile, workers=1)
        self.zone_units: Controller[ObjectKey] = Controller(
            "hosted-zone-unit", self._units.reconcile, workers=WORKERS, settle_s=SETTLE_S
        )
        self._events = EventMap()
        self._subscribe()

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    @property
    def controllers(self) -> tuple[Controller[ObjectKey], ...]:
        return self.zone_classes, self.zone_units

    def _subscribe(self) -> None:
        informers, events = self._informers, self._events
        events.follow(informers.zone_classes, keys_for_zone_class, self.zone_classes)
        events.follow(informers.providers, self.classes_for_provider, self.zone_classes)
        events.follow(informers.zone_classes, self.zones_for_zone_class, self.zone_units)
        events.follow(informers.providers, self.zones_for_provider, self.zone_units)
        events.follow(informers.zone_units, self.zones_for_zone_unit, self.zone_units)
        events.follow(informers.hosted_zones, self.zones_for_hosted_zone, self.zone_units)
        events.follow(informers.endpoint_slices, self.zones_for_endpoint_slice, self.zone_units)

    def _look_at_class(self, key: ObjectKey) -> None:
        """Note that more is known of a class in the storage version."""
        self.zone_classes.enqueue(key)
        for zone in self._zones_of_class(key):
            self.zone_units.enqueue(zone)

    def classes_for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        """Every class, when it is our Provider that changed."""
        if change.key.name == self._config.provider_name:
            yield from (key for key, _ in self._informers.zone_classes.items())

    def zones_for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        """Every zone, when it is our Provider that changed."""
        if change.key.name == self._config.provider_name:
            yield from self._all_zones()

    def zones_for_zone_class(self, change: Change[ZoneClass]) -> Iterator[ObjectKey]:
        """The zones of the class and those that claim the same domains; a change of its status concerns none."""
        if change.old is not None and change.new is not None and change.old.spec == change.new.spec:
            return
        yield from self._zones_of_class(change.key)

    def zones_for_zone_unit(self, change: Change[ZoneUnit]) -> Iterator[ObjectKey]:
        """The zone of the part; when the ledger came, is going or has gone, every zone that claims its domain too."""
        old, new = change.old, change.new
        if new is None:
            self._units.forget_unit(change.key)
        for unit in _sides(change):
            yield unit.spec.zone.ref.key
        if old is None or new is None or old.deleting != new.deleting:
            for unit in _sides(change):
                yield from self._claimants(unit.spec.zone.domain_name)

    def zones_for_hosted_zone(self, change: Change[HostedObject]) -> Iterator[ObjectKey]:
        """The zone; when a manifest came or has gone, every zone that claims its domain too."""
        if change.new is None:
            self._units.forget_object(change.key)
        for found in _sides(change):
            yield found.zone_key
        if change.old is None or change.new is None:
            domains = {found.spec.domain_name for found in _sides(change) if isinstance(found, Manifest)}
            for domain in domains:
                yield from self._claimants(domain)

    def zones_for_endpoint_slice(self, change: Change[ServerSlice]) -> Iterator[ObjectKey]:
        """Every zone, when the set of live servers has changed."""
        live = live_servers(each for _, each in self._informers.endpoint_slices.items())
        if live != self._live:
            self._live = live
            yield from self._all_zones()

    def _zones_of_class(self, key: ObjectKey) -> Iterator[ObjectKey]:
        """The zones of a class and those that claim the same domains."""
        for unit in self._informers.zone_units.by_index(CLASS_INDEX, key):
            yield from self._claimants(unit.spec.zone.domain_name)

    def _all_zones(self) -> Iterator[ObjectKey]:
        yield from (unit.spec.zone.ref.key for _, unit in self._informers.zone_units.items() if unit.spec.part == 0)

    def _claimants(self, domain: str | None) -> Iterator[ObjectKey]:
        yield from (unit.spec.zone.ref.key for unit in self._informers.zone_units.by_index(DOMAIN_INDEX, domain))


def keys_for_zone_class(change: Change[ZoneClass]) -> Iterator[ObjectKey]:
    """The class itself."""
    yield change.key


def _sides(change: Change[T]) -> list[T]:
    return [side for side in (change.old, change.new) if side is not None]
