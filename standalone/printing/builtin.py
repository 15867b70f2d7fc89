"""The columns of the built-in kinds: what `kubectl get` shows of a Secret, a Service or an Event.

Owns the cells of kinds that no CustomResourceDefinition describes. They never show a Secret's values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from standalone.printing.age import UNKNOWN, age

NONE = "<none>"

Object = Mapping[str, Any]
Cell = Callable[[Object, datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column with the function that fills it; `priority` above zero shows it in wide output only."""

    name: str
    type: str
    description: str
    cell: Cell
    format: str = ""
    priority: int = 0


def _part(obj: Object, *path: str) -> Mapping[str, Any]:
    """The object at a path of field names; an empty one when any part is absent or null."""
    node: Any = obj
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def _items(obj: Object, *path: str) -> list[Mapping[str, Any]]:
    """The objects in the list at a path; none when there is no list."""
    *parents, last = path
    value = _part(obj, *parents).get(last)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _name(obj: Object, _now: datetime) -> Any:
    return _part(obj, "metadata").get("name", "")


def _age(obj: Object, now: datetime) -> str:
    return age(_part(obj, "metadata").get("creationTimestamp"), now)


NAME = Column("Name", "string", "The object's name.", _name, format="name")
AGE = Column("Age", "string", "The time since the object was created.", _age)


def _at(*path: str, default: Any = "") -> Cell:
    *parents, last = path

    def read(obj: Object, _now: datetime) -> Any:
        value = _part(obj, *parents).get(last)
        return default if value is None else value

    return read


def _texts(obj: Object, name: str) -> list[str]:
    value = obj.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []


def _count(*fields: str) -> Cell:
    return lambda obj, _now: sum(len(obj[each]) for each in fields if isinstance(obj.get(each), Mapping | list))


def _external_ip(obj: Object, _now: datetime) -> str:
    spec = _part(obj, "spec")
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    addresses = _texts(spec, "externalIPs")
    if spec.get("type") != "LoadBalancer":
        return ",".join(addresses) or NONE
    ingress = _items(obj, "status", "loadBalancer", "ingress")
    given = [str(each.get("ip") or each.get("hostname") or "") for each in ingress]
    return ",".join([*given, *addresses]) or "<pending>"


def _service_ports(obj: Object, _now: datetime) -> str:
    return ",".join(_service_port(port) for port in _items(obj, "spec", "ports")) or NONE


def _service_port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node_port}/{port.get('protocol', 'TCP')}"


def _selector(obj: Object, _now: datetime) -> str:
    labels = _part(obj, "spec", "selector")
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or NONE


def _slice_ports(obj: Object, _now: datetime) -> str:
    ports = [str(each.get("port") or each.get("name") or "<unset>") for each in _items(obj, "ports")]
    return _some(ports, "<unset>")


def _slice_endpoints(obj: Object, _now: datetime) -> str:
    addresses = [address for each in _items(obj, "endpoints") for address in _texts(each, "addresses")]
    return _some(addresses, "<unset>")


def _some(items: list[str], none: str, limit: int = 3) -> str:
    more = f" + {len(items) - limit} more..." if len(items) > limit else ""
    return ",".join(items[:limit]) + more or none


def _api_service(obj: Object, _now: datetime) -> str:
    service = _part(obj, "spec", "service")
    return f"{service.get('namespace')}/{service.get('name')}" if service else "Local"


def _available(obj: Object, _now: datetime) -> str:
    for condition in _items(obj, "status", "conditions"):
        if condition.get("type") == "Available":
            status = condition.get("status", "Unknown")
            return "True" if status == "True" else f"{status} ({condition.get('reason', '')})"
    return "Unknown"


def _involved(obj: Object) -> Mapping[str, Any]:
    """The object an event is about; the core and the events.k8s.io form name it differently, as other fields too."""
    return _part(obj, "involvedObject") or _part(obj, "regarding")


def _event_object(obj: Object, _now: datetime) -> str:
    involved = _involved(obj)
    kind, name = str(involved.get("kind", "")).lower(), involved.get("name", "")
    return f"{kind}/{name}" if name else kind


def _event_source(obj: Object, _now: datetime) -> str:
    source = _part(obj, "source") or _part(obj, "deprecatedSource")
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return ", ".join(part for part in (component, host) if part)


def _first_seen(obj: Object, now: datetime) -> str:
    return age(obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime"), now)


def _last_seen(obj: Object, now: datetime) -> str:
    last = (
        _part(obj, "series").get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    )
    shown = age(last, now) if last else _first_seen(obj, now)
    return _age(obj, now) if shown == UNKNOWN else shown


def _event_count(obj: Object, _now: datetime) -> int:
    return int(_part(obj, "series").get("count") or obj.get("count") or obj.get("deprecatedCount") or 1)


def _message(obj: Object, _now: datetime) -> str:
    return str(obj.get("message") or obj.get("note") or "").strip()


def _sub_object(obj: Object, _now: datetime) -> str:
    return str(_involved(obj).get("fieldPath") or "")


_EVENT = (
    Column("Last Seen", "string", "The time since the event was last seen.", _last_seen),
    Column("Type", "string", "Normal or Warning.", _at("type")),
    Column("Reason", "string", "Why, in one word.", _at("reason")),
    Column("Object", "string", "What the event is about.", _event_object),
    Column("Subobject", "string", "The part of the object.", _sub_object, priority=1),
    Column("Source", "string", "Who reported it.", _event_source, priority=1),
    Column("Message", "string", "What happened.", _message),
    Column("First Seen", "string", "The time since the event was first seen.", _first_seen, priority=1),
    Column("Count", "string", "How often it was seen.", _event_count, priority=1),
    Column("Name", "string", "The event's name.", _name, format="name", priority=1),
)

DEFAULT = (NAME, AGE)
BUILTIN: Mapping[tuple[str, str], tuple[Column, ...]] = {
    ("", "Namespace"): (
        NAME,
        Column("Status", "string", "Active or Terminating.", _at("status", "phase", default="Active")),
        AGE,
    ),
    ("", "Secret"): (
        NAME,
        Column("Type", "string", "What the data is.", _at("type", default="Opaque")),
        Column("Data", "string", "How many values it holds.", _count("data")),
        AGE,
    ),
    ("", "ConfigMap"): (
        NAME,
        Column("Data", "string", "How many values it holds.", _count("data", "binaryData")),
        AGE,
    ),
    ("", "ServiceAccount"): (
        NAME,
        Column("Secrets", "string", "How many secrets it may use.", _count("secrets")),
        AGE,
    ),
    ("", "Service"): (
        NAME,
        Column("Type", "string", "How the service is reached.", _at("spec", "type", default="ClusterIP")),
        Column("Cluster-IP", "string", "Its address in the cluster.", _at("spec", "clusterIP", default=NONE)),
        Column("External-IP", "string", "Its addresses outside.", _external_ip),
        Column("Port(s)", "string", "Its ports.", _service_ports),
        AGE,
        Column("Selector", "string", "The labels of the pods behind it.", _selector, priority=1),
    ),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("coordination.k8s.io", "Lease"): (
        NAME,
        Column("Holder", "string", "Who holds it.", _at("spec", "holderIdentity")),
        AGE,
    ),
    ("discovery.k8s.io", "EndpointSlice"): (
        NAME,
        Column("AddressType", "string", "The type of its addresses.", _at("addressType")),
        Column("Ports", "string", "The ports of its endpoints.", _slice_ports),
        Column("Endpoints", "string", "Its first addresses.", _slice_endpoints),
        AGE,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        NAME,
        Column("Created At", "date", "When it was created.", _at("metadata", "creationTimestamp")),
    ),
    ("apiregistration.k8s.io", "APIService"): (
        NAME,
        Column("Service", "string", "The service behind it.", _api_service),
        Column("Available", "string", "Whether it can be reached.", _available),
        AGE,
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (
        NAME,
        Column("Webhooks", "integer", "How many webhooks it names.", _count("webhooks")),
        AGE,
    ),
}
