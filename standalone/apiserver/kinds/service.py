"""Services (v1) as far as an API without a cluster network has them: defaults and rules, no addresses.

Owns what a Service looks like. No cluster IP is assigned: there is no network that would route it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from standalone.apiserver.kinds.kind import Kind, Writing
from standalone.schema.fault import Fault, duplicate, invalid, not_supported, required

JsonObject = dict[str, Any]

STICKY_S = 10_800
TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
PROTOCOLS = ("SCTP", "TCP", "UDP")


def _prepare(writing: Writing) -> None:
    obj = writing.obj
    spec: JsonObject = {"type": "ClusterIP", "sessionAffinity": "None", **(obj.get("spec") or {})}
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] != "ClusterIP":
            spec.setdefault("externalTrafficPolicy", "Cluster")
        if spec["type"] == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)
    if spec["sessionAffinity"] == "ClientIP":
        spec.setdefault("sessionAffinityConfig", {"clientIP": {"timeoutSeconds": STICKY_S}})
    ports = spec.get("ports")
    if isinstance(ports, list):
        spec["ports"] = [_port(port) if isinstance(port, dict) else port for port in ports]
    obj["spec"] = spec
    obj["status"] = {"loadBalancer": {}, **(obj.get("status") or {})}


def _port(port: JsonObject) -> JsonObject:
    return {"protocol": "TCP", "targetPort": port.get("port"), **port}


def _judge(writing: Writing) -> list[Fault]:
    spec = writing.obj["spec"]
    faults = []
    if spec["type"] not in TYPES:
        faults.append(not_supported("spec.type", spec["type"], TYPES))
    if spec["type"] == "ExternalName":
        if not spec.get("externalName"):
            faults.append(required("spec.externalName"))
    elif not spec.get("ports") and spec.get("clusterIP") != "None":
        faults.append(required("spec.ports"))
    return [*faults, *_judge_ports(spec.get("ports") or ())]


def _judge_ports(ports: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        field = f"spec.ports[{index}]"
        name = port.get("name", "")
        if len(ports) > 1 and not name:
            yield required(f"{field}.name")
        elif name and name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        number = port.get("port")
        if not isinstance(number, int) or not 1 <= number <= 65535:
            yield invalid(f"{field}.port", number, "must be between 1 and 65535, inclusive")
        if port["protocol"] not in PROTOCOLS:
            yield not_supported(f"{field}.protocol", port["protocol"], PROTOCOLS)


KIND = Kind(prepare=_prepare, judge=_judge)
