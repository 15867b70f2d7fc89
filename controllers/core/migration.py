"""The ledger in today's storage version, when parts of it are still written in a former one.

All of a ledger is written in one version, so it moves as a whole or not at all: while a single payload in it cannot be converted, the
ledger stays as it is. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.conversion import Ruling, convert_item, settle
from controllers.core.inputs import Resolution, ZoneInputs, contracts_of
from controllers.core.ledger import Ledger
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.conversion.request import ConversionRequest
from kube.object import ObjectKey


def migrate(ledger: Ledger, zone: Zone, inputs: ZoneInputs) -> Ledger | Verdict:
    """Return the ledger with every payload in the storage version, or why that cannot be."""
    storage = contracts_of(inputs)[1]
    converted: dict[ObjectKey, UnitRecordSet] = {}
    for item, ruling in _rulings(zone, inputs):
        settled = settle(ruling, inputs.answers, storage)
        if isinstance(settled, Verdict):
            message = f"RecordSet {item.key} in the ledger: {settled.message}"
            return Verdict(settled.status, settled.reason, message)
        converted[item.key] = item.model_copy(update={"options": None, "adoption": None, **settled.payloads})
    return ledger.with_items(converted) if converted else ledger


def questions(zone: Zone, inputs: ZoneInputs) -> list[ConversionRequest]:
    """Return what conversion webhooks have to be asked before the ledger can move."""
    return [ruling for _, ruling in _rulings(zone, inputs) if isinstance(ruling, ConversionRequest)]


def _rulings(zone: Zone, inputs: ZoneInputs) -> Iterator[tuple[UnitRecordSet, Ruling]]:
    """Yield each item that has a payload in a former version, with what is known of its conversion."""
    for unit in inputs.units:
        former = inputs.versions.former.get(unit.spec.provider.version)
        if former is None:
            continue
        for item in unit.spec.record_sets:
            if item.options is not None or item.adoption is not None:
                yield item, _ruling(item, former, zone, inputs)


def _ruling(item: UnitRecordSet, former: Resolution, zone: Zone, inputs: ZoneInputs) -> Ruling:
    if isinstance(former, Contract):
        return convert_item(item, zone, inputs, former, contracts_of(inputs)[1])
    return refused(Reason.PROVIDER_CONVERSION_FAILED, f"{former.message}.")
