"""The small zone that `--demo` seeds."""

from __future__ import annotations

from typing import Any, Final

from controllers.api.group import API_VERSION
from zonemodel.hosted_zone import GROUP as HOSTED

NAMESPACE: Final = "default"
DOMAIN: Final = "demo.test"
PROVIDER: Final = {"name": HOSTED, "version": "v1alpha1"}


def demo_manifests() -> list[dict[str, Any]]:
    """Return a ZoneClass, a Zone and three RecordSets under the reserved top-level domain of RFC 6761."""
    zone_class = {
        "provider": PROVIDER,
        "controllerName": f"{HOSTED}/controller",
        "parameters": {"nameServers": [{"name": f"ns1.{DOMAIN}", "addresses": ["127.0.0.1", "::1"]}]},
    }
    zone = {"domainName": DOMAIN, "zoneClassRef": {"name": "demo"}, "provider": PROVIDER}
    return [
        _manifest("ZoneClass", "demo", zone_class),
        _manifest("Zone", "demo", zone),
        _record_set("demo-www", "A", "www", {"a": {"addresses": ["192.0.2.10", "192.0.2.11"]}}),
        _record_set("demo-apps", "AAAA", "*.apps", {"aaaa": {"addresses": ["2001:db8::10"]}}),
        _record_set("demo-text", "TXT", "@", {"txt": {"values": ["served by dns-api"]}}),
    ]


def _record_set(name: str, rtype: str, owner: str, body: dict[str, Any]) -> dict[str, Any]:
    spec = {"zoneRef": {"name": "demo"}, "provider": PROVIDER, "type": rtype, "name": owner, "ttl": 60, **body}
    return _manifest("RecordSet", name, spec)


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"namespace": NAMESPACE, "name": name},
        "spec": spec,
    }
