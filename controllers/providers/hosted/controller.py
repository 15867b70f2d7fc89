"""The provider's controllers as the manager runs them, and which zones a change of a snapshot or of the name servers concerns.

Owns event mapping and registration only.
"""

from __future__ import annotations

from collections.abc import Iterator

from controllers.api.zone_unit import ZoneUnit
from controllers.core.providercontract.conversion.desk import Converter
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers, ProbedLedger, sides
from controllers.ledger.surroundings import Surroundings
from controllers.probe.prober import Prober
from controllers.probe.round import Server
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.class_rule import judge_parameters
from controllers.providers.hosted.hosted_object import HostedObject, Manifest
from controllers.providers.hosted.live_server import ServerSlice, live_endpoints
from controllers.providers.hosted.parameters import Parameters
from controllers.providers.hosted.view import DOMAIN_INDEX, HostedInformers
from controllers.providers.hosted.zone_unit import ZoneUnitReconciler
from kube.object import ObjectKey
from kube.store import Change


class HostedProvider(ProbedLedger[Parameters]):
    """The controllers of the provider; `controllers` and `conversions` are what the manager runs while it leads.

    `converter` asks the conversion webhook of our Provider, if it has one.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        informers: HostedInformers,
        prober: Prober,
        config: HostedConfig,
        *,
        converter: Converter | None = None,
    ) -> None:
        self._shared = surroundings.informers
        self._informers = informers
        self._config = config
        self._live: tuple[Server, ...] = ()
        super().__init__("hosted", surroundings, prober)
        self.ledger = LedgerControllers(
            "hosted",
            surroundings,
            config.binding,
            judge_parameters,
            self._make_units,
            concerned=lambda unit: self._claimants(unit.spec.zone.domain_name),
            converter=converter,
        )
        self.ledger.follow(informers.hosted_zones, self.zones_for_hosted_zone)
        self.ledger.follow(informers.endpoint_slices, self.zones_for_endpoint_slice)

    def zones_for_hosted_zone(self, change: Change[HostedObject]) -> Iterator[ObjectKey]:
        """The zone; when a manifest came or has gone, every zone that claims its domain too."""
        if change.new is None:
            self._units.forget_object(change.key)
        for found in sides(change):
            yield found.zone_key
        if change.old is None or change.new is None:
            domains = {found.spec.domain_name for found in sides(change) if isinstance(found, Manifest)}
            for domain in domains:
                yield from self._claimants(domain)

    def zones_for_endpoint_slice(self, change: Change[ServerSlice]) -> Iterator[ObjectKey]:
        """Every zone, when the set of live servers has changed."""
        live = live_endpoints(each for _, each in self._informers.endpoint_slices.items())
        if live != self._live:
            self._live = live
            yield from self.ledger.all_zones()

    def _make_units(self, context: LedgerContext) -> ZoneUnitReconciler:
        self._units = ZoneUnitReconciler(context, self._informers, self._config.patience, self.desk)
        return self._units

    def _claimants(self, domain: str | None) -> Iterator[ObjectKey]:
        """Yield every zone that claims a domain."""
        units: list[ZoneUnit] = self._shared.zone_units.by_index(DOMAIN_INDEX, domain)
        yield from (unit.spec.zone.ref.key for unit in units)
