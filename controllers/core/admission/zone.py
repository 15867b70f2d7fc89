"""Validation of Zone claims.

Judges what the claim and its declared Provider tell by themselves. Whether the class exists, has the same Provider and lets
the Zone in is the composer's, since claims may be applied in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.api.zone_unit import PART_NAME
from controllers.core.admission.claim import ClaimRules, Manifest, Resolution, judge_resolution, require_provider
from controllers.core.admission.record_grant import judge_grants
from controllers.core.admission.record_name import HOST, judge_host
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field, judge_immutable, judge_reference, require_text
from controllers.core.providercontract.target import Target

IMMUTABLE: Final = ("domainName", "zoneClassRef", "provider")


def validate_zone(new: Manifest, old: Manifest | None, resolution: Resolution) -> list[Fault]:
    """Return everything that is wrong with a Zone.

    `old` is the stored object on an update; `resolution` what its spec.provider means.
    """
    spec = Field("", new).child("spec")
    contract = resolution if isinstance(resolution, Contract) else None
    rules = ClaimRules(contract, Target.ZONE, new)
    faults = [] if old is not None else list(_judge_object_name(Field("", new).at("metadata.name")))
    faults += require_text(spec.child("domainName"), HOST)
    faults += judge_reference(spec.child("zoneClassRef"), "the ZoneClass of the zone")
    faults += require_provider(spec)
    if old is not None:
        faults += judge_immutable(spec, Field("spec", old.get("spec")), IMMUTABLE)
    faults += judge_resolution(spec, resolution)
    faults += contract.judge_payload(Target.ZONE, "adoption", spec) if contract else ()
    faults += rules.judge()
    faults += judge_host(spec.child("domainName"))
    faults += judge_grants(spec.child("allowedRecordSets"))
    return faults or rules.failures


def _judge_object_name(name: Field) -> Iterator[Fault]:
    """Object to a name that a further part of another zone's ledger would have."""
    if name.text and PART_NAME.fullmatch(name.text):
        yield name.fault("a name that does not end in .part-<digits>; such names belong to the parts of ledgers")
