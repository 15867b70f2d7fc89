"""Items of the ledger: what an accepted claim becomes, and how big it may be there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.api.record_set import RecordSet
from controllers.api.zone_unit import UnitRecordSet
from zonemodel.record import RecordBodies

_SAID: Final = ("name", "type", "ttl", *RecordBodies.model_fields)
NO_PAYLOADS: Final[Mapping[str, Any]] = {}


def item_of(claim: RecordSet, payloads: Mapping[str, Any] = NO_PAYLOADS) -> UnitRecordSet:
    """Return the ledger's item for an accepted claim; `payloads` are its options and adoption in the storage version."""
    spec = claim.spec
    return UnitRecordSet(
        record_set_namespace=claim.meta.namespace,
        record_set_name=claim.meta.name,
        observed_generation=claim.meta.generation,
        name=spec.name,
        type=spec.type,
        ttl=spec.ttl,
        a=spec.a,
        aaaa=spec.aaaa,
        txt=spec.txt,
        cname=spec.cname,
        mx=spec.mx,
        caa=spec.caa,
        ns=spec.ns,
        options=payloads.get("options"),
        adoption=payloads.get("adoption"),
    )


def is_item_of(claim: RecordSet, item: UnitRecordSet) -> bool:
    """Say whether an item was made of a claim as it is: one that was made again may have the generation that the former one had.

    Options and adoption are left aside, which the ledger has in another version.
    """
    if item.observed_generation != claim.meta.generation:
        return False
    return all(getattr(item, name) == getattr(claim.spec, name) for name in _SAID)
