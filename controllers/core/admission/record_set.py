"""Validation of RecordSet claims.

Judges what the claim and its declared Provider tell by themselves. Access, conflicts and Provider mismatch with the zone are
the composer's, since claims may be applied in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.core.admission.claim import ClaimRules, Manifest, Resolution, judge_resolution, require_provider
from controllers.core.admission.record_body import Switch, Validation, judge_body
from controllers.core.admission.record_name import OWNER, judge_owner
from controllers.core.admission.record_size import judge_size
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import (
    Field,
    judge_choice,
    judge_immutable,
    judge_reference,
    require_integer,
    require_text,
)
from controllers.core.providercontract.target import Target
from zonemodel.name import Fqdn, OwnerName, object_to_length, object_to_owner
from zonemodel.record import TTL_MAX_S, RecordType

IMMUTABLE: Final = ("zoneRef", "provider", "type", "name")


def validate_record_set(new: Manifest, old: Manifest | None, resolution: Resolution, domain: str | None) -> list[Fault]:
    """Return everything that is wrong with a RecordSet.

    `old` is the stored object on an update; `resolution` what its spec.provider means; `domain` the domain name of its Zone
    when the Zone is known.
    """
    spec = Field("", new).child("spec")
    contract = resolution if isinstance(resolution, Contract) else None
    rules = ClaimRules(contract, Target.RECORD_SET, new)
    faults = list(_require_identity(spec))
    if old is not None:
        faults += judge_immutable(spec, Field("spec", old.get("spec")), IMMUTABLE)
    faults += judge_resolution(spec, resolution)
    if contract:
        faults += contract.judge_type(spec.child("type"))
        faults += contract.judge_payload(Target.RECORD_SET, "options", spec)
        faults += contract.judge_payload(Target.RECORD_SET, "adoption", spec)
    switches = rules.switches()
    faults += judge_owner(spec.child("name"), spec.child("type").text)
    faults += _judge_ttl(spec.child("ttl"), switches(Validation.REQUIRE_TTL))
    faults += list(judge_body(spec, switches)) or judge_size(spec)
    faults += rules.judge()
    faults += _judge_length(spec.child("name"), domain)
    return faults or rules.failures


def _require_identity(spec: Field) -> Iterator[Fault]:
    yield from judge_reference(spec.child("zoneRef"), "the Zone of the record set")
    yield from require_provider(spec)
    yield from require_text(spec.child("type"), f"one of {', '.join(RecordType)}")
    if spec.child("type").text:
        yield from judge_choice(spec.child("type"), list(RecordType))
    yield from require_text(spec.child("name"), OWNER)


def _judge_ttl(ttl: Field, required: Switch) -> Iterator[Fault]:
    if ttl.present or required is Switch.ON:
        yield from require_integer(ttl, 1, TTL_MAX_S)


def _judge_length(name: Field, domain: str | None) -> Iterator[Fault]:
    """Object to a name that is well-formed but does not fit in its zone (RFC 1035 section 2.3.4)."""
    if domain is None or not name.text or object_to_owner(name.text, underscore=True):
        return
    if objection := object_to_length(OwnerName(name.text), Fqdn(domain)):
        yield name.fault(f"a name that fits in the zone {domain}; {objection}")
