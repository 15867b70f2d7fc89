"""The provider's controllers as the manager runs them: classes, zones, and the rounds that ask servers.

Owns registration only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from controllers.core.providercontract.conversion.desk import ConversionDesk, Converter
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers
from controllers.ledger.surroundings import Surroundings
from controllers.probe.desk import ProbeDesk
from controllers.probe.prober import Prober
from controllers.providers.external.binding import ExternalConfig
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.parameters import Settings
from controllers.providers.external.zone_unit import ZoneUnitReconciler
from controllers.runtime.controller import Controller
from kube.object import ObjectKey


class ExternalProvider:
    """Everything of the provider while its manager leads; `converter` asks the conversion webhook of our Provider, if it has one."""

    def __init__(
        self, surroundings: Surroundings, prober: Prober, config: ExternalConfig, *, converter: Converter | None = None
    ) -> None:
        self._desk = ProbeDesk("external", prober.probe, self._look_at, surroundings.clock)
        self._ledger: LedgerControllers[Settings] = LedgerControllers(
            "external", surroundings, config.binding, judge_parameters, self._zone_units, converter=converter
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ledger.close()

    @property
    def controllers(self) -> Sequence[Controller[Any]]:
        return *self._ledger.controllers, self._desk.controller

    @property
    def conversions(self) -> ConversionDesk:
        return self._ledger.conversions

    def _look_at(self, zone: ObjectKey) -> None:
        self._ledger.zone_units.enqueue(zone)

    def _zone_units(self, context: LedgerContext) -> ZoneUnitReconciler:
        return ZoneUnitReconciler(context, self._desk)
