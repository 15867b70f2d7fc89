"""The columns of the built-in kinds: what `kubectl get` shows of a Secret, a Service or an Event.

Owns the cells of kinds that no CustomResourceDefinition describes. They never show a Secret's values.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from standalone.printing.column import AGE, NAME, NONE, Column, Object, at, count, items, part, texts
from standalone.printing.event import EVENT


def _external_ip(obj: Object, _now: datetime) -> str:
    spec = part(obj, "spec")
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    addresses = texts(spec, "externalIPs")
    if spec.get("type") != "LoadBalancer":
        return ",".join(addresses) or NONE
    ingress = items(obj, "status", "loadBalancer", "ingress")
    given = [str(each.get("ip") or each.get("hostname") or "") for each in ingress]
    return ",".join([*given, *addresses]) or "<pending>"


def _service_ports(obj: Object, _now: datetime) -> str:
    return ",".join(_service_port(port) for port in items(obj, "spec", "ports")) or NONE


def _service_port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node_port}/{port.get('protocol', 'TCP')}"


def _selector(obj: Object, _now: datetime) -> str:
    labels = part(obj, "spec", "selector")
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or NONE


def _slice_ports(obj: Object, _now: datetime) -> str:
    ports = [str(each.get("port") or each.get("name") or "<unset>") for each in items(obj, "ports")]
    return _some(ports, "<unset>")


def _slice_endpoints(obj: Object, _now: datetime) -> str:
    addresses = [address for each in items(obj, "endpoints") for address in texts(each, "addresses")]
    return _some(addresses, "<unset>")


def _some(found: list[str], none: str, limit: int = 3) -> str:
    more = f" + {len(found) - limit} more..." if len(found) > limit else ""
    return ",".join(found[:limit]) + more or none


def _versions(obj: Object, _now: datetime) -> str:
    served = (each for each in items(obj, "spec", "versions") if each.get("served"))
    return ",".join(sorted(f"{each.get('name')}{'(storage)' if each.get('storage') else ''}" for each in served))


def _short_names(obj: Object, _now: datetime) -> str:
    return ",".join(texts(part(obj, "spec", "names"), "shortNames"))


def _established(obj: Object, _now: datetime) -> bool:
    conditions = items(obj, "status", "conditions")
    return any(each.get("type") == "Established" and each.get("status") == "True" for each in conditions)


def _api_service(obj: Object, _now: datetime) -> str:
    service = part(obj, "spec", "service")
    return f"{service.get('namespace')}/{service.get('name')}" if service else "Local"


def _available(obj: Object, _now: datetime) -> str:
    for condition in items(obj, "status", "conditions"):
        if condition.get("type") == "Available":
            status = condition.get("status", "Unknown")
            return "True" if status == "True" else f"{status} ({condition.get('reason', '')})"
    return "Unknown"


DEFAULT = (NAME, AGE)
BUILTIN: Mapping[tuple[str, str], tuple[Column, ...]] = {
    ("", "Namespace"): (
        NAME,
        Column("Status", "string", "Active or Terminating.", at("status", "phase", default="Active")),
        AGE,
    ),
    ("", "Secret"): (
        NAME,
        Column("Type", "string", "What the data is.", at("type", default="Opaque")),
        Column("Data", "string", "How many values it holds.", count("data")),
        AGE,
    ),
    ("", "ConfigMap"): (
        NAME,
        Column("Data", "string", "How many values it holds.", count("data", "binaryData")),
        AGE,
    ),
    ("", "Service"): (
        NAME,
        Column("Type", "string", "How the service is reached.", at("spec", "type", default="ClusterIP")),
        Column("Cluster-IP", "string", "Its address in the cluster.", at("spec", "clusterIP", default=NONE)),
        Column("External-IP", "string", "Its addresses outside.", _external_ip),
        Column("Port(s)", "string", "Its ports.", _service_ports),
        AGE,
        Column("Selector", "string", "The labels of the pods behind it.", _selector, priority=1),
    ),
    ("", "Event"): EVENT,
    ("events.k8s.io", "Event"): EVENT,
    ("coordination.k8s.io", "Lease"): (
        NAME,
        Column("Holder", "string", "Who holds it.", at("spec", "holderIdentity")),
        AGE,
    ),
    ("discovery.k8s.io", "EndpointSlice"): (
        NAME,
        Column("AddressType", "string", "The type of its addresses.", at("addressType")),
        Column("Ports", "string", "The ports of its endpoints.", _slice_ports),
        Column("Endpoints", "string", "Its first addresses.", _slice_endpoints),
        AGE,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        NAME,
        Column("Scope", "string", "Namespaced or Cluster.", at("spec", "scope")),
        Column("Versions", "string", "The versions that are served.", _versions),
        Column("Created At", "date", "When it was created.", at("metadata", "creationTimestamp")),
        Column("Group", "string", "The group of the resource.", at("spec", "group"), priority=1),
        Column("Kind", "string", "The kind of the resource.", at("spec", "names", "kind"), priority=1),
        Column("ShortNames", "string", "Short forms for command lines.", _short_names, priority=1),
        Column("Established", "boolean", "Whether the resource is served.", _established, priority=1),
    ),
    ("apiregistration.k8s.io", "APIService"): (
        NAME,
        Column("Service", "string", "The service behind it.", _api_service),
        Column("Available", "string", "Whether it can be reached.", _available),
        AGE,
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (
        NAME,
        Column("Webhooks", "integer", "How many webhooks it names.", count("webhooks")),
        AGE,
    ),
}
