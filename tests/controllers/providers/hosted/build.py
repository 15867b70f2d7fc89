"""Small builders of ledgers, classes and reports for the pure tests."""

from __future__ import annotations

from typing import Any

from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.api.zone_unit import ZoneUnit, ZoneUnitStatus, parse_zone_unit, part_name
from controllers.ledger.item_cache import ItemCache
from controllers.providers.hosted.hosted_object import Manifest, parse_hosted_object
from controllers.providers.hosted.item import Item, Items, convert
from controllers.providers.hosted.parameters import Head, Parameters, head_of
from kube.object import ObjectKey
from tests.controllers.providers.hosted.world import PARAMETERS, TEAM
from zonemodel.name import Fqdn

DOMAIN = Fqdn("example.test")
NOW = "2026-11-30T12:00:00Z"
PROVIDER = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}


def unit(*items: dict[str, Any], name: str = "zone", part: int = 0, **more: Any) -> ZoneUnit:
    """One part of a ledger; `more` goes into metadata, `spec` and `status` into theirs."""
    spec = {
        "provider": PROVIDER,
        "zone": {
            "ref": {"namespace": TEAM, "name": name},
            "observedGeneration": 1,
            "domainName": DOMAIN,
            "zoneClassRef": {"namespace": TEAM, "name": "hosted"},
        },
        "part": part,
        "recordSets": list(items),
        **more.pop("spec", {}),
    }
    status = more.pop("status", {})
    metadata = {
        "namespace": TEAM,
        "name": part_name(name, part),
        "uid": f"uid-{name}-{part}",
        "generation": 1,
        "resourceVersion": "1",
        "creationTimestamp": "2026-11-01T00:00:00Z",
        **more,
    }
    return parse_zone_unit({"metadata": metadata, "spec": spec, "status": status})


def items_of(*items: dict[str, Any]) -> Items:
    return ItemCache(convert).items_of([unit(*items)])[0]


def one(item: dict[str, Any]) -> Item:
    return items_of(item)[0]


def zone_class(**spec: Any) -> ZoneClass:
    """A class that can be followed, unless said otherwise."""
    body = {
        "provider": PROVIDER,
        "controllerName": "hosted.dns.appthrust.io/controller",
        "parameters": PARAMETERS,
        **spec,
    }
    metadata = {"namespace": TEAM, "name": "hosted", "uid": "uid-class", "generation": 1}
    return parse_zone_class({"metadata": metadata, "spec": body})


def head() -> Head:
    return head_of(Parameters.model_validate(PARAMETERS), DOMAIN)


def report(name: str, digest: str, *, generation: int = 1, state: str = "Serving", message: str = "") -> dict[str, Any]:
    """What one name server says."""
    return {
        "name": name,
        "observedGeneration": generation,
        "serial": 1,
        "digest": digest,
        "state": state,
        "message": message,
        "lastTransitionTime": NOW,
    }


def manifest(
    *reports: dict[str, Any], digest: str = "sha256:" + "0" * 64, generation: int = 1, **spec: Any
) -> Manifest:
    """A published manifest with what the servers say of it."""
    found = parse_hosted_object(
        {
            "metadata": {"namespace": TEAM, "name": "zone", "uid": "uid-manifest", "generation": generation},
            "spec": {"domainName": DOMAIN, "serial": 1, "digest": digest, **spec},
            "status": {"servers": list(reports)},
        }
    )
    assert isinstance(found, Manifest)
    return found


def empty_status() -> ZoneUnitStatus:
    return ZoneUnitStatus()


KEY = ObjectKey(TEAM, "zone")
