"""Small builders of claims, ledgers and inputs, so that a test names only what it is about."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from controllers.api.group import API_VERSION, CORE_FINALIZER
from controllers.api.provider import Provider, parse_provider
from controllers.api.record_set import RecordSet, parse_record_set
from controllers.api.zone import Zone, parse_zone
from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec, parse_zone_unit, part_name
from controllers.core.compose import Composition
from controllers.core.inputs import ZoneInputs, resolve
from controllers.core.providercontract.contract import Contracts
from controllers.core.providercontract.conversion.outcome import Outcome
from controllers.core.providercontract.conversion.request import ConversionKey
from kube.object import ObjectKey

WEBHOOK = {
    "clientConfig": {
        "service": {"namespace": "dns-system", "name": "convert"},
        "caBundle": b64encode(b"-----BEGIN CERTIFICATE-----").decode(),
    }
}
PROVIDER = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
TYPES = ["A", "AAAA", "TXT", "CNAME", "MX", "CAA", "NS"]
ZONE = ObjectKey("team", "example")
NOW = "2026-11-30T12:00:00Z"
CONTRACTS = Contracts()
EARLIER = "2026-11-01T00:00:00Z"


def meta(namespace: str, name: str, **more: Any) -> dict[str, Any]:
    """Metadata with the fields that an API server would have set."""
    return {
        "namespace": namespace,
        "name": name,
        "uid": f"uid-{namespace}-{name}",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": "2026-11-01T00:00:00Z",
        **more,
    }


def provider(**version: Any) -> Provider:
    """The hosted Provider with one version."""
    contract = {"name": "v1alpha1", "served": True, "storage": True, "recordSet": {"supportedTypes": TYPES}, **version}
    spec = {"display": {"name": "Hosted"}, "versions": [contract]}
    return parse_provider({"metadata": {"name": PROVIDER["name"]}, "spec": spec})


def two_versions(
    served: Mapping[str, Any] | None = None, storage: Mapping[str, Any] | None = None, generation: int = 1
) -> Provider:
    """The hosted Provider with v1alpha1, which claims name, and v2, which ledgers are written in."""
    record_set = {"supportedTypes": TYPES}
    versions = [
        {"name": "v1alpha1", "served": True, "storage": False, "recordSet": record_set, **(served or {})},
        {"name": "v2", "served": True, "storage": True, "recordSet": record_set, **(storage or {})},
    ]
    metadata = {"name": PROVIDER["name"], "uid": "provider-uid", "generation": generation}
    return parse_provider({"metadata": metadata, "spec": {"display": {"name": "Hosted"}, "versions": versions}})


def schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A payload schema with described properties."""
    described = {name: {"description": f"The {name}.", **each} for name, each in properties.items()}
    return {"openAPIV3Schema": {"type": "object", "properties": described}}


def condition(kind: str, status: str, reason: str, message: str = "", generation: int = 1) -> dict[str, Any]:
    """One condition as it stands in a status."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": EARLIER,
    }


def zone_class(accepted: tuple[str, str] | None = ("True", "Accepted"), **spec: Any) -> ZoneClass:
    """ZoneClass team/hosted, accepted unless said otherwise."""
    conditions = [] if accepted is None else [condition("Accepted", *accepted)]
    return parse_zone_class(
        {
            "metadata": meta("team", "hosted"),
            "spec": {"provider": PROVIDER, "controllerName": "hosted.dns.appthrust.io/controller", **spec},
            "status": {"conditions": conditions},
        }
    )


def zone(metadata: Mapping[str, Any] | None = None, **spec: Any) -> Zone:
    """Zone team/example for example.com."""
    return parse_zone(
        {
            "metadata": meta("team", "example", **(metadata or {})),
            "spec": {
                "domainName": "example.com",
                "zoneClassRef": {"name": "hosted"},
                "provider": PROVIDER,
                **spec,
            },
        }
    )


def record_set(
    name: str, owner: str = "www", *, namespace: str = "team", metadata: Mapping[str, Any] | None = None, **spec: Any
) -> RecordSet:
    """A RecordSet of zone team/example; an A record unless the spec says otherwise."""
    body = {} if "type" in spec else {"type": "A", "a": {"addresses": ["192.0.2.1"]}}
    return parse_record_set(
        {
            "apiVersion": API_VERSION,
            "kind": "RecordSet",
            "metadata": meta(namespace, name, **(metadata or {})),
            "spec": {
                "zoneRef": {"namespace": ZONE.namespace, "name": ZONE.name},
                "provider": PROVIDER,
                "name": owner,
                "ttl": 300,
                **body,
                **spec,
            },
        }
    )


def deleting(**more: Any) -> dict[str, Any]:
    """Metadata of an object that is being deleted and that core holds."""
    return {"deletionTimestamp": NOW, "finalizers": [CORE_FINALIZER], **more}


def inputs(
    *record_sets: RecordSet,
    zone: Zone | None = zone(),  # noqa: B008 - frozen
    zone_class: ZoneClass | None = zone_class(),  # noqa: B008 - frozen
    provider: Provider | None = provider(),  # noqa: B008 - frozen
    units: Iterable[ZoneUnit] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
    answers: Mapping[ConversionKey, Outcome] | None = None,
) -> ZoneInputs:
    """Everything in order, but for what the test says; `labels` are those of the namespaces that are known, of all when left out."""
    ledger = tuple(units)
    versions = resolve(CONTRACTS, provider, zone, ledger)
    known = {ZONE.namespace, *(claim.meta.namespace for claim in record_sets)}
    seen = {namespace: {} for namespace in known} if labels is None else labels
    return ZoneInputs(ZONE, zone, zone_class, provider, record_sets, ledger, versions, seen, answers or {})


def units(
    composition: Composition, *, reported: bool = True, metadata: Mapping[str, Any] | None = None
) -> list[ZoneUnit]:
    """The ledger that a composition writes, as it is once the provider has programmed it (or not seen it yet)."""
    assert composition.parts is not None
    return [unit(spec, reported=reported, metadata=metadata) for spec in composition.parts.values()]


def unit(
    spec: ZoneUnitSpec,
    *,
    reported: bool = True,
    metadata: Mapping[str, Any] | None = None,
    gone: Iterable[ObjectKey] = (),
) -> ZoneUnit:
    """One part with the provider's report on it; `gone` items are reported deleted."""
    good = [condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed")]
    status: dict[str, Any] = {}
    if reported:
        status = {
            "observedGeneration": 1,
            "zone": {"conditions": good, "nameServers": ["ns1.example.com"]},
            "recordSets": [
                {
                    "recordSetNamespace": item.record_set_namespace,
                    "recordSetName": item.record_set_name,
                    "observedGeneration": item.observed_generation,
                    "conditions": good,
                }
                for item in spec.record_sets
                if item.key not in set(gone)
            ],
        }
    name = part_name(ZONE.name, spec.part)
    return parse_zone_unit({"metadata": meta("team", name, **(metadata or {})), "spec": spec.dump(), "status": status})
