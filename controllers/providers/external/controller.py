"""The provider's controllers as the manager runs them: classes, zones, and the rounds that ask servers.

Owns registration only.
"""

from __future__ import annotations

from controllers.core.providercontract.conversion.desk import Converter
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers, ProbedLedger
from controllers.ledger.surroundings import Surroundings
from controllers.probe.prober import Prober
from controllers.providers.external.binding import ExternalConfig
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.parameters import Settings
from controllers.providers.external.zone_unit import ZoneUnitReconciler


class ExternalProvider(ProbedLedger[Settings]):
    """Everything of the provider while its manager leads; `converter` asks the conversion webhook of our Provider, if it has one."""

    def __init__(
        self, surroundings: Surroundings, prober: Prober, config: ExternalConfig, *, converter: Converter | None = None
    ) -> None:
        super().__init__("external", surroundings, prober)
        self.ledger = LedgerControllers(
            "external", surroundings, config.binding, judge_parameters, self._zone_units, converter=converter
        )

    def _zone_units(self, context: LedgerContext) -> ZoneUnitReconciler:
        return ZoneUnitReconciler(context, self.desk)
