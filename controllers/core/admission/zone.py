"""Validation of Zone claims.

Judges what the claim and its declared Provider tell by themselves. Whether the class exists, has the same Provider and lets
the Zone in is the composer's, since claims may be applied in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.api.zone_unit import PART_NAME
from controllers.core.admission.claim import (
    Manifest,
    Resolution,
    judge_resolution,
    require_provider,
)
from controllers.core.admission.record_grant import judge_grants
from controllers.core.admission.record_name import require_host
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field, judge_immutable, judge_reference

IMMUTABLE: Final = ("domainName", "zoneClassRef", "provider")


def validate_zone(new: Manifest, old: Manifest | None, resolution: Resolution) -> list[Fault]:
    """Return everything that is wrong with a Zone; `old` is the stored object on an update."""
    return list(_judge(new, old, resolution))


def _judge(new: Manifest, old: Manifest | None, resolution: Resolution) -> Iterator[Fault]:
    root = Field("", new)
    spec = root.child("spec")
    if old is None:
        yield from _judge_object_name(root.at("metadata.name"))
    yield from require_host(spec.child("domainName"))
    yield from judge_reference(spec.child("zoneClassRef"), "the ZoneClass of the zone")
    yield from require_provider(spec)
    if old is not None:
        yield from judge_immutable(spec, Field("spec", old.get("spec")), IMMUTABLE)
    yield from judge_resolution(spec, resolution)
    yield from judge_grants(spec.child("allowedRecordSets"))


def _judge_object_name(name: Field) -> Iterator[Fault]:
    """Object to a name that a further part of another zone's ledger would have."""
    if name.text and PART_NAME.fullmatch(name.text):
        yield name.fault("a name that does not end in .part-<digits>; such names belong to the parts of ledgers")
