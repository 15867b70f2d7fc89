"""The payloads of a claim in the Provider's storage version, as composition needs them.

Pure: what only a webhook can tell is a question first, and an answer among the inputs later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict, refused, waiting
from controllers.api.zone import Zone
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.inputs import ZoneInputs
from controllers.core.payload_rule import payloads_of
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.providercontract.conversion.storage import plan_conversion, take_answer
from controllers.core.providercontract.target import Target

Ruling = Verdict | Converted | ConversionRequest
"""What can be said before any webhook is asked: an objection, the converted payloads, or the question."""


def convert_zone(zone: Zone, inputs: ZoneInputs, served: Contract, storage: Contract) -> Ruling:
    """Return a Zone's payloads in the storage version, or what stands against that."""
    context = {"zone": _zone_context(zone)}
    return _convert(Target.ZONE, payloads_of(Target.ZONE, zone), served, storage, _key(zone, inputs.provider), context)


def convert_record_set(claim: RecordSet, zone: Zone, inputs: ZoneInputs, served: Contract, storage: Contract) -> Ruling:
    """Return a RecordSet's payloads in the storage version, or what stands against that."""
    payloads = payloads_of(Target.RECORD_SET, claim)
    context = _context(zone, claim.meta.namespace, claim.meta.name, claim.spec.name, claim.spec.type)
    return _convert(Target.RECORD_SET, payloads, served, storage, _key(claim, inputs.provider), context)


def convert_item(item: UnitRecordSet, zone: Zone, inputs: ZoneInputs, former: Contract, storage: Contract) -> Ruling:
    """Return the payloads of an item of the ledger, which is written in the version `former`, in the storage version."""
    payloads = {"options": item.options, "adoption": item.adoption}
    context = _context(zone, item.record_set_namespace, item.record_set_name, item.name, item.type)
    # The claim may be gone or changed: the item is a subject of its own.
    key = _provider_key(f"ledger/{item.key}", item.observed_generation, inputs.provider)
    return _convert(Target.RECORD_SET, payloads, former, storage, key, context)


def settle(ruling: Ruling, answers: Mapping[ConversionKey, Outcome], storage: Contract) -> Verdict | Converted:
    """Return a ruling with the answer to its question in place."""
    if not isinstance(ruling, ConversionRequest):
        return ruling
    answer = take_answer(ruling, answers, storage)
    step = f"from {ruling.from_version} to {ruling.to_version}"
    match answer:
        case None:
            return waiting(Reason.RECONCILING, f"Waiting for {ruling.asked}.")
        case Unavailable():
            message = f"The conversion {step} is not available: {answer.message}."
            return waiting(Reason.PROVIDER_CONVERSION_UNAVAILABLE, message)
        case Failed():
            return _refused(answer, step)
    return answer


def _convert(
    target: Target,
    payloads: Mapping[str, Any],
    served: Contract,
    storage: Contract,
    key: ConversionKey,
    context: Mapping[str, Mapping[str, str]],
) -> Ruling:
    plan = plan_conversion(target, payloads, served, storage)
    if isinstance(plan, Converted):
        return plan
    if isinstance(plan, Failed):
        return _refused(plan, f"from {served.version.name} to {storage.version.name}")
    return ConversionRequest(
        key=key,
        webhook=plan,
        target=target,
        provider=served.provider,
        from_version=served.version.name,
        to_version=storage.version.name,
        payload={name: payload for name, payload in payloads.items() if payload is not None},
        context=context,
    )


def _refused(failure: Failed, step: str) -> Verdict:
    return refused(Reason.PROVIDER_CONVERSION_FAILED, f"The conversion {step} failed: {failure.message}.")


def _key(claim: Zone | RecordSet, provider: Provider | None) -> ConversionKey:
    return _provider_key(claim.meta.uid, claim.meta.generation, provider)


def _provider_key(subject: str, generation: int, provider: Provider | None) -> ConversionKey:
    meta = provider.meta if provider is not None else None
    return ConversionKey(subject, generation, meta.uid if meta else "", meta.generation if meta else 0)


def _zone_context(zone: Zone) -> dict[str, str]:
    return {"namespace": zone.meta.namespace, "name": zone.meta.name, "domainName": zone.spec.domain_name}


def _context(zone: Zone, namespace: str, name: str, record_name: str, record_type: str) -> dict[str, dict[str, str]]:
    record_set = {"namespace": namespace, "name": name, "recordName": record_name, "type": str(record_type)}
    return {"zone": _zone_context(zone), "recordSet": record_set}
