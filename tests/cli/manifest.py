"""Manifests that tests apply, as YAML."""

from __future__ import annotations

from typing import Any

import yaml

PROVIDER = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}


def manifest(kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "dns.appthrust.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def zone_class(name: str = "class") -> dict[str, Any]:
    servers = [{"name": "ns1.example.net", "addresses": ["192.0.2.53"]}]
    spec = {
        "provider": PROVIDER,
        "controllerName": "hosted.dns.appthrust.io/controller",
        "parameters": {"nameServers": servers},
    }
    return manifest("ZoneClass", name, spec)


def zone(domain: str, name: str = "zone", zone_class: str = "class", **metadata: Any) -> dict[str, Any]:
    spec = {"domainName": domain, "zoneClassRef": {"name": zone_class}, "provider": PROVIDER}
    return manifest("Zone", name, spec, **metadata)


def record_set(name: str, *addresses: str, owner: str | None = None, ttl: int = 60, **metadata: Any) -> dict[str, Any]:
    spec = {
        "zoneRef": {"name": "zone"},
        "provider": PROVIDER,
        "type": "A",
        "name": owner or name,
        "ttl": ttl,
        "a": {"addresses": list(addresses) or ["192.0.2.1"]},
    }
    return manifest("RecordSet", name, spec, **metadata)


def config_map(name: str, data: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


def text(*manifests: dict[str, Any]) -> str:
    return yaml.safe_dump_all(manifests, sort_keys=False)
