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
from controllers.core.admission.record_body import Switch, Validation, judge_body
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.environment import claim_variables
from controllers.core.providercontract.fault import Fault, FaultReason, describe, tell
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
    body_may_be_left_out = _MAY_BE_LEFT_OUT.get(spec.type) in disabled
    unreadable = [each for each in spec.unreadable if each.field != spec.type.field or not body_may_be_left_out]
    yield from (
        Fault(f"spec.{each.path}", describe(each.found), f"a value of which holds: {each.why}") for each in unreadable
    )
    told = {each.field for each in unreadable}
    if spec.ttl is None and "require-ttl" not in disabled and "ttl" not in told:
        yield Fault("spec.ttl", "nothing", "seconds", FaultReason.REQUIRED)
    if spec.type is RecordType.CNAME and spec.name == APEX and "forbid-cname-apex" not in disabled:
        yield Fault("spec.name", f'"{APEX}"', "any name below the apex for a CNAME (RFC 1034 section 3.6.2)")
    left_out = getattr(spec, spec.type.field) is None
    if left_out and not body_may_be_left_out:
        if spec.type.field not in told:
            yield Fault(f"spec.{spec.type.field}", "nothing", f"the records of type {spec.type}", FaultReason.REQUIRED)
        return
    # The ledger's own admission refuses an item with any of these faults, and with it all that is written beside it.
    printable = not disabled & {"require-txt-values", "forbid-txt-non-printable-ascii"}
    strict = Validation.FORBID_TXT_NON_PRINTABLE_ASCII if printable else None
    judged = judge_body(Field("spec", _records_of(claim)), lambda each: Switch.ON if each is strict else Switch.UNKNOWN)
    faults = list(judged)
    yield from faults
    if faults or left_out:
        return
    try:
        encode_bodies(spec)
    except ValueError as error:
        yield Fault(f"spec.{spec.type.field}", f"values without a wire form: {error}", f"records of type {spec.type}")


def _records_of(claim: RecordSet) -> dict[str, Any]:
    """Return what a claim says of its records, as a manifest says it."""
    bodies = {each.field: getattr(claim.spec, each.field) for each in RecordType}
    present = {name: body.dump() for name, body in bodies.items() if body is not None}
    return {"type": claim.spec.type.value, "name": claim.spec.name, **present}


def _verdict(faults: list[Fault]) -> Verdict:
    if not faults:
        return ACCEPTED
    unknown = any(fault.reason is FaultReason.INVALID_PROVIDER for fault in faults)
    return refused(Reason.INVALID_PROVIDER if unknown else Reason.INVALID_PROVIDER_PAYLOAD, f"{tell(faults)}.")
