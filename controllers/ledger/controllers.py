"""`LedgerControllers`: the two controllers that every provider has, and which keys a change of any shared object concerns.

Owns event mapping and registration only; what a provider alone follows it adds with `follow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from controllers.api.provider import Provider
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.core.providercontract.conversion.desk import ConversionDesk, Converter
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.ledger.binding import Binding
from controllers.ledger.class_rule import ClassRule, P
from controllers.ledger.context import LedgerContext
from controllers.ledger.surroundings import CLASS_INDEX, Surroundings
from controllers.ledger.zone_class import ZoneClassReconciler
from controllers.probe.desk import ProbeDesk
from controllers.probe.prober import Prober
from controllers.runtime.controller import Controller, Requeue
from controllers.runtime.event_map import EventMap
from kube.informer import Informer
from kube.object import ObjectKey
from kube.store import Change

T = TypeVar("T")

SETTLE_S: Final = 2.0
WORKERS: Final = 4

Concerned = Callable[[ZoneUnit], Iterable[ObjectKey]]


class ZoneUnits(Protocol):
    """A provider's own reconciler of zones, by the key of their Zone."""

    async def reconcile(self, key: ObjectKey) -> Requeue | None: ...

    def forget_unit(self, key: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""


class LedgerControllers(Generic[P]):
    """Made anew for each leadership, closed at its end.

    `name` is the provider's, for logs and metrics. `make` gets the context and returns the reconciler of zones. `concerned` names the
    zones to look at when a ledger comes, is going or has gone, or its class has changed: by default the ledger's own alone. `converter`
    asks the conversion webhook of our Provider, if it has one.
    """

    def __init__(
        self,
        name: str,
        surroundings: Surroundings,
        binding: Binding,
        rule: ClassRule[P],
        make: Callable[[LedgerContext], ZoneUnits],
        *,
        concerned: Concerned | None = None,
        converter: Converter | None = None,
        workers: int = WORKERS,
        settle_s: float = SETTLE_S,
    ) -> None:
        self._informers = surroundings.informers
        self._binding = binding
        self._concerned = concerned or zone_of
        self.conversions = ConversionDesk(converter or ConversionClient(), self.look_at_class)
        context = LedgerContext(surroundings, binding, StoredClasses(self.conversions, binding.provider))
        self._units = make(context)
        classes = ZoneClassReconciler(context, rule)
        self.zone_classes: Controller[ObjectKey] = Controller(f"{name}-zone-class", classes.reconcile, workers=1)
        self.zone_units: Controller[ObjectKey] = Controller(
            f"{name}-zone-unit", self._units.reconcile, workers=workers, settle_s=settle_s
        )
        self._events = EventMap()
        self._subscribe()

    @property
    def controllers(self) -> tuple[Controller[ObjectKey], ...]:
        return self.zone_classes, self.zone_units

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    def follow(self, informer: Informer[T], keys: Callable[[Change[T]], Iterable[ObjectKey]]) -> None:
        """Have the zones `keys(change)` looked at whenever an object of a provider's own cache changes."""
        self._events.follow(informer, keys, self.zone_units)

    def look_at_class(self, key: ObjectKey) -> None:
        """Look at a class and its zones again: something that it depends on has changed."""
        self.zone_classes.enqueue(key)
        for zone in self.zones_of_class(key):
            self.zone_units.enqueue(zone)

    def zones_of_class(self, key: ObjectKey) -> Iterator[ObjectKey]:
        """Yield the zones of a class and those that are concerned with them."""
        for unit in self._informers.zone_units.by_index(CLASS_INDEX, key):
            yield from self._concerned(unit)

    def all_zones(self) -> Iterator[ObjectKey]:
        """Yield every zone that has a ledger, whosever it is."""
        yield from (unit.spec.zone.ref.key for _, unit in self._informers.zone_units.items() if unit.spec.part == 0)

    def classes_for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        """Every class, when it is our Provider that changed."""
        if change.key.name == self._binding.provider_name:
            yield from (key for key, _ in self._informers.zone_classes.items())

    def zones_for_provider(self, change: Change[Provider]) -> Iterator[ObjectKey]:
        """Every zone, when it is our Provider that changed."""
        if change.key.name == self._binding.provider_name:
            yield from self.all_zones()

    def zones_for_zone_class(self, change: Change[ZoneClass]) -> Iterator[ObjectKey]:
        """The zones of the class; a change of its status concerns none."""
        if change.old is not None and change.new is not None and change.old.spec == change.new.spec:
            return
        yield from self.zones_of_class(change.key)

    def zones_for_zone_unit(self, change: Change[ZoneUnit]) -> Iterator[ObjectKey]:
        """The zone of the part; when the ledger came, is going or has gone, every zone concerned too."""
        old, new = change.old, change.new
        if new is None:
            self._units.forget_unit(change.key)
        for unit in sides(change):
            yield unit.spec.zone.ref.key
        if old is None or new is None or old.deleting != new.deleting:
            for unit in sides(change):
                yield from self._concerned(unit)

    def _subscribe(self) -> None:
        informers, events = self._informers, self._events
        events.follow(informers.zone_classes, keys_for_zone_class, self.zone_classes)
        events.follow(informers.providers, self.classes_for_provider, self.zone_classes)
        events.follow(informers.zone_classes, self.zones_for_zone_class, self.zone_units)
        events.follow(informers.providers, self.zones_for_provider, self.zone_units)
        events.follow(informers.zone_units, self.zones_for_zone_unit, self.zone_units)


class ProbedLedger(Generic[P]):
    """What a provider that asks name servers runs while its manager leads; a zone is looked at after each round over it.

    A provider makes `ledger` of its own, with reconcilers that ask the `desk`.
    """

    ledger: LedgerControllers[P]

    def __init__(self, name: str, surroundings: Surroundings, prober: Prober) -> None:
        self.desk = ProbeDesk(name, prober.probe, self._look_at, surroundings.clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.ledger.close()

    @property
    def controllers(self) -> Sequence[Controller[Any]]:
        return *self.ledger.controllers, *self.desk.controllers

    @property
    def conversions(self) -> ConversionDesk:
        return self.ledger.conversions

    def _look_at(self, zone: ObjectKey) -> None:
        self.ledger.zone_units.enqueue(zone)


def keys_for_zone_class(change: Change[ZoneClass]) -> Iterator[ObjectKey]:
    """The class itself."""
    yield change.key


def zone_of(unit: ZoneUnit) -> Iterator[ObjectKey]:
    """The zone of a part of a ledger."""
    yield unit.spec.zone.ref.key


def sides(change: Change[T]) -> list[T]:
    """Return the states of the object before and after, as far as there are any."""
    return [side for side in (change.old, change.new) if side is not None]
