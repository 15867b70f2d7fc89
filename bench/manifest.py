"""The claims that the benchmarks apply."""

from __future__ import annotations

from typing import Any, Final

from controllers.api.group import API_VERSION
from zonemodel.hosted_zone import GROUP as HOSTED

NAMESPACE: Final = "default"
PROVIDER: Final = {"name": HOSTED, "version": "v1alpha1"}


def zone_class() -> dict[str, Any]:
    """Return the class that every zone here uses."""
    parameters = {"nameServers": [{"name": "ns1.bench.test", "addresses": ["127.0.0.1"]}]}
    spec = {"provider": PROVIDER, "controllerName": f"{HOSTED}/controller", "parameters": parameters}
    return _manifest("ZoneClass", "bench", spec)


def zone(number: int) -> dict[str, Any]:
    """Return zone number `number`."""
    spec = {"domainName": domain(number), "zoneClassRef": {"name": "bench"}, "provider": PROVIDER}
    return _manifest("Zone", f"zone-{number}", spec)


def domain(number: int) -> str:
    """Return the apex of zone number `number`."""
    return f"zone-{number}.bench.test"


def record_set(zone_number: int, number: int, address: str = "192.0.2.1") -> dict[str, Any]:
    """Return an A record set, `host-<number>` in the zone."""
    spec = {
        "zoneRef": {"name": f"zone-{zone_number}"},
        "provider": PROVIDER,
        "type": "A",
        "name": f"host-{number}",
        "ttl": 60,
        "a": {"addresses": [address]},
    }
    return _manifest("RecordSet", f"zone-{zone_number}-host-{number}", spec)


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"namespace": NAMESPACE, "name": name},
        "spec": spec,
    }
