"""Ledgers as somebody applies them from a backup, ahead of their claims; they are written for the hosted provider."""

from __future__ import annotations

from collections.abc import Iterable

from tests.product.claim import PROVIDER, ZONE, ZONE_CLASS, manifest
from tests.product.contract.row import WWW
from tests.product.stage import Object


def ledger(namespace: str, *items: Object, domain: str, parts: Iterable[int] = ()) -> Object:
    """Part 0 of the ledger of the Zone of that namespace."""
    zone = {
        "ref": {"namespace": namespace, "name": ZONE},
        "observedGeneration": 1,
        "domainName": domain,
        "zoneClassRef": {"namespace": namespace, "name": ZONE_CLASS},
    }
    spec = {"provider": PROVIDER, "zone": zone, "part": 0, "parts": list(parts), "recordSets": list(items)}
    return manifest("ZoneUnit", ZONE, spec)


def item(namespace: str, name: str) -> Object:
    """An item with the records of WWW, for the RecordSet of that namespace and name."""
    return {
        "recordSetNamespace": namespace,
        "recordSetName": name,
        "observedGeneration": 1,
        "name": WWW.owner,
        "type": WWW.type,
        "ttl": WWW.ttl,
        "a": {"addresses": list(WWW.values)},
    }
