"""What conversion webhooks have to be asked before a zone can be composed in full. Pure."""

from __future__ import annotations

from controllers.core.inputs import ZoneInputs, contracts_of
from controllers.core.memory import ZoneMemory
from controllers.core.migration import questions as questions_of_ledger
from controllers.core.providercontract.conversion.request import ConversionRequest
from controllers.core.providercontract.target import Target
from controllers.core.zone_rule import judge_surroundings


def questions(inputs: ZoneInputs, memory: ZoneMemory) -> list[ConversionRequest] | None:
    """Return the questions; None while the zone is not composed at all, so that it is not known which there are.

    Claims that are refused whatever a webhook says, and those that go away, are not asked about.
    """
    zone = inputs.zone
    if zone is None or zone.meta.deleting or not judge_surroundings(zone, inputs).accepted:
        return None
    served = contracts_of(inputs)[0]
    rulings = [memory.rule_zone(zone, inputs)]
    if served.webhook(Target.RECORD_SET) is not None:
        rulings += [memory.rule(claim, zone, inputs) for claim in inputs.record_sets if not claim.meta.deleting]
    asked = [ruling for ruling in rulings if isinstance(ruling, ConversionRequest)]
    return asked + questions_of_ledger(zone, inputs) if inputs.versions.former else asked
