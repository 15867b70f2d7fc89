"""Manifests that admission allows, and the means to spoil them at one place."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.api.provider import Provider, parse_provider
from controllers.api.reference import ProviderRef
from controllers.api.zone import Zone, parse_zone
from controllers.core.admission.claim import Resolution
from controllers.core.admission.lookup import LookupUnavailableError
from controllers.core.admission.status import Storage
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.fault import Fault
from kube.object import ObjectKey

Manifest = dict[str, Any]

PROVIDER: Final = "edge.example.com"
REF: Final = {"name": PROVIDER, "version": "v1"}
TYPES: Final = ["A", "AAAA", "TXT", "CNAME", "MX", "CAA", "NS"]
ABSENT: Final = object()

BODIES: Final[Mapping[str, Manifest]] = {
    "A": {"a": {"addresses": ["192.0.2.1", "192.0.2.2"]}},
    "AAAA": {"aaaa": {"addresses": ["2001:db8::1"]}},
    "TXT": {"txt": {"values": ["v=spf1 -all"]}},
    "CNAME": {"cname": {"target": "www.example.net"}},
    "MX": {"mx": {"records": [{"preference": 10, "exchange": "mail.example.net"}]}},
    "CAA": {"caa": {"records": [{"flags": 0, "tag": "issue", "value": "ca.example.net"}]}},
    "NS": {"ns": {"nameServers": ["ns1.example.net", "ns2.example.net"]}},
}


def record_set(record_type: str = "A", changes: Mapping[str, Any] | None = None) -> Manifest:
    """A RecordSet of a type, changed at dotted paths."""
    spec = {"zoneRef": {"name": "example"}, "provider": REF, "type": record_type, "name": "www", "ttl": 300}
    manifest = {"metadata": meta("app", "www"), "spec": {**spec, **BODIES[record_type]}}
    return changed(manifest, changes or {})


def zone(changes: Mapping[str, Any] | None = None) -> Manifest:
    """A Zone, changed at dotted paths."""
    grant = {
        "namespaces": {"selector": {"matchLabels": {"team": "web"}}},
        "records": [{"name": {"pattern": "www|.*[.]app"}, "types": ["A", "AAAA"]}],
    }
    spec = {
        "domainName": "example.com",
        "zoneClassRef": {"namespace": "platform", "name": "edge"},
        "provider": REF,
        "allowedRecordSets": [grant],
    }
    return changed({"metadata": meta("app", "example"), "spec": spec}, changes or {})


def zone_class(changes: Mapping[str, Any] | None = None) -> Manifest:
    """A ZoneClass, changed at dotted paths."""
    spec = {
        "provider": REF,
        "controllerName": "edge.example.com/controller",
        "identityRef": {"name": "account"},
        "parameters": {"policy": "Retain"},
        "allowedZones": {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "web"}}}},
    }
    return changed({"metadata": meta("platform", "edge"), "spec": spec}, changes or {})


def ledger(changes: Mapping[str, Any] | None = None) -> Manifest:
    """A ZoneUnit with one item, changed at dotted paths."""
    item = {
        "recordSetNamespace": "app",
        "recordSetName": "www",
        "observedGeneration": 1,
        "name": "www",
        "type": "A",
        "ttl": 300,
        "a": {"addresses": ["192.0.2.1"]},
        "allowed": True,
        "deletionRequested": False,
    }
    in_zone = {
        "ref": {"namespace": "app", "name": "example"},
        "observedGeneration": 1,
        "domainName": "example.com",
        "zoneClassRef": {"namespace": "platform", "name": "edge"},
    }
    spec = {"provider": REF, "zone": in_zone, "part": 0, "recordSets": [item]}
    return changed({"metadata": meta("app", "example"), "spec": spec}, changes or {})


def condition(kind: str, status: str, reason: str, **more: Any) -> Manifest:
    """One condition as it stands in a status."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        **more,
    }


def provider(changes: Mapping[str, Any] | None = None) -> Manifest:
    """A Provider with an identity, schemas, rules and toggles; changed at dotted paths, where v1 is `spec.versions.0`."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "identity": {"resource": {"group": "edge.example.com", "kind": "EdgeIdentity", "scope": "Namespaced"}},
        "zoneClass": {
            "schemas": {"parameters": schema(policy={"type": "string", "enum": ["Delete", "Retain"]})},
            "validationRules": [
                {"rule": "self.spec.controllerName != 'forbidden.example.com/x'", "message": "Not this one."}
            ],
        },
        "zone": {
            "schemas": {
                "adoption": schema(zoneID={"type": "string", "pattern": "^[0-9a-f]{4}$"}),
                "statusProviderData": schema(zoneID={"type": "string"}),
            },
            "validationRules": [
                {"rule": "self.spec.domainName != 'forbidden.example.com'", "message": "Not this domain."}
            ],
            "additionalConditionReasons": [reason("Programmed", "False", "EdgeQuotaExceeded")],
        },
        "recordSet": {
            "supportedTypes": TYPES,
            "schemas": {
                "options": schema(
                    alias={"type": "boolean"},
                    raw={"type": "boolean"},
                    tags={"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 100}},
                ),
                "adoption": schema(recordID={"type": "string"}),
                "statusProviderData": schema(recordID={"type": "string"}),
            },
            "validationRules": [
                {
                    "rule": "!has(self.spec.options) || !has(self.spec.options.alias) || !has(self.spec.ttl)",
                    "message": "An alias has no ttl.",
                }
            ],
            "disableValidations": [
                {"name": name, "when": "self.spec.?options.?alias.orValue(false)"}
                for name in (
                    "require-ttl",
                    "require-a-addresses",
                    "require-aaaa-addresses",
                    "require-txt-values",
                    "forbid-cname-apex",
                )
            ]
            + [{"name": "forbid-txt-non-printable-ascii", "when": "self.spec.?options.?raw.orValue(false)"}],
            "additionalConditionReasons": [reason("Programmed", "False", "EdgeQuotaExceeded")],
        },
        "zoneUnit": {"disableValidations": [], "validationRules": []},
    }
    return changed(
        {"metadata": {"name": PROVIDER}, "spec": {"display": {"name": "Edge"}, "versions": [version]}}, changes or {}
    )


def schema(**properties: Mapping[str, Any]) -> Manifest:
    """A payload schema with described properties."""
    described = {name: {"description": f"The {name}.", **each} for name, each in properties.items()}
    return {"openAPIV3Schema": {"type": "object", "properties": described}}


def reason(kind: str, status: str, name: str) -> Manifest:
    """One reason of the provider's own."""
    return {"conditionType": kind, "status": status, "reason": name, "description": "When it is so."}


def meta(namespace: str, name: str) -> Manifest:
    return {"namespace": namespace, "name": name, "generation": 3}


def changed(manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> Manifest:
    """A deep copy with values at dotted paths (list indexes are numbers) replaced, or removed when they are ABSENT."""
    out: Manifest = copy.deepcopy(dict(manifest))
    for path, given in changes.items():
        value = given if given is ABSENT else copy.deepcopy(given)
        *parents, last = path.split(".")
        place: Any = out
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if isinstance(place, list):
            place[int(last)] = value
        elif value is ABSENT:
            place.pop(last, None)
        else:
            place[last] = value
    return out


def contract(changes: Mapping[str, Any] | None = None) -> Contract:
    """The Provider's version, compiled."""
    found = Contracts().resolve(parse_provider(provider(changes)), ProviderRef(**REF))
    assert isinstance(found, Contract), found
    return found


CONTRACT: Final = contract()
RESOLUTION: Final[Resolution] = CONTRACT
STORAGE: Final[Storage] = CONTRACT


def told(faults: Iterable[Fault]) -> set[tuple[str, str]]:
    """Field and reason of each fault."""
    return {(fault.field, fault.reason.name) for fault in faults}


def one(faults: Iterable[Fault]) -> Fault:
    """The only fault."""
    (fault,) = faults
    return fault


@dataclass
class Cluster:
    """The objects that admission may look up."""

    providers: dict[str, Provider] = field(default_factory=lambda: {PROVIDER: parse_provider(provider())})
    zones: dict[ObjectKey, Zone] = field(default_factory=dict)
    reachable: bool = True

    async def provider(self, name: str) -> Provider | None:
        self._reach()
        return self.providers.get(name)

    async def zone(self, key: ObjectKey) -> Zone | None:
        self._reach()
        return self.zones.get(key)

    def add_zone(self, manifest: Manifest) -> None:
        added = parse_zone(manifest)
        self.zones[added.key] = added

    def _reach(self) -> None:
        if not self.reachable:
            raise LookupUnavailableError("no answer")
