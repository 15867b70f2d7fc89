"""Whether a claim's opaque payloads, and the claim under the Provider's own rules, satisfy the version that it names.

Admission says the same to whoever applies a claim; this holds it against what came around admission, and against a Provider that has
changed since. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone import Zone
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.environment import claim_variables
from controllers.core.providercontract.fault import Fault, FaultReason, tell
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.target import Target
from zonemodel.name import APEX
from zonemodel.record import RecordType, encode_bodies

_MAY_BE_LEFT_OUT: Final[Mapping[RecordType, str]] = {
    RecordType.A: "require-a-addresses",
    RecordType.AAAA: "require-aaaa-addresses",
    RecordType.TXT: "require-txt-values",
}
"""Core validations that a Provider may switch off, by the type whose body they require."""


@dataclass(slots=True)
class _Findings:
    """What the rules of a version say of one claim; `disabled` are the core validations that they switch off."""

    faults: list[Fault] = field(default_factory=list)
    disabled: set[str] = field(default_factory=set)


def judge_zone_payload(zone: Zone, contract: Contract) -> Verdict:
    """Judge a Zone's adoption and the rules over Zones."""
    return _verdict(_judge(Target.ZONE, zone, contract).faults)


def judge_record_set_payload(claim: RecordSet, contract: Contract) -> Verdict:
    """Judge a RecordSet's options, adoption and records, and the rules over RecordSets."""
    findings = _judge(Target.RECORD_SET, claim, contract)
    return _verdict([*findings.faults, *_judge_records(claim, findings.disabled)])


def payloads_of(target: Target, claim: Zone | RecordSet) -> dict[str, Any]:
    """Return the payloads of a claim by name, absent ones as None."""
    return {name: getattr(claim.spec, name) for name in target.payloads}


def _judge(target: Target, claim: Zone | RecordSet, contract: Contract) -> _Findings:
    spec = Field("spec", payloads_of(target, claim))
    found = _Findings([fault for name in target.payloads for fault in contract.judge_payload(target, name, spec)])
    book = contract.book(target)
    if book is None:
        return found
    meta = claim.meta
    metadata = {"name": meta.name, "namespace": meta.namespace, "labels": dict(meta.labels)}
    values = book.admit(claim_variables({"metadata": metadata, "spec": claim.spec.dump()}))
    if isinstance(values, Fault):
        found.faults.append(values)
        return found
    found.disabled.update(name for name, off in book.switched_off(values) if off is True)
    judgement = book.judge(values)
    found.faults += judgement.faults
    if not found.faults:  # a rule that fails mostly does so for a fault that has been named
        found.faults += judgement.failures
    return found


def _judge_records(claim: RecordSet, disabled: set[str]) -> Iterator[Fault]:
    spec = claim.spec
    if spec.ttl is None and "require-ttl" not in disabled:
        yield Fault("spec.ttl", "nothing", "seconds", FaultReason.REQUIRED)
    if spec.type is RecordType.CNAME and spec.name == APEX and "forbid-cname-apex" not in disabled:
        yield Fault("spec.name", f'"{APEX}"', "any name below the apex for a CNAME (RFC 1034 section 3.6.2)")
    if getattr(spec, spec.type.field) is None:
        if _MAY_BE_LEFT_OUT.get(spec.type) not in disabled:
            yield Fault(f"spec.{spec.type.field}", "nothing", f"the records of type {spec.type}", FaultReason.REQUIRED)
        return
    try:
        encode_bodies(spec)
    except ValueError as error:
        yield Fault(f"spec.{spec.type.field}", f"values without a wire form: {error}", f"records of type {spec.type}")


def _verdict(faults: list[Fault]) -> Verdict:
    if not faults:
        return ACCEPTED
    unknown = any(fault.reason is FaultReason.INVALID_PROVIDER for fault in faults)
    return refused(Reason.INVALID_PROVIDER if unknown else Reason.INVALID_PROVIDER_PAYLOAD, f"{tell(faults)}.")
