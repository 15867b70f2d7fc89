"""Whether what was rendered can work: everything that an object refers to is there, and every door that is needed is open.

Owns what has to fit together across objects and across the programs' own options. That each object is valid alone is `kind_check`'s.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

import typer.core
import typer.exceptions
import typer.main

from cli.main import build
from tests.helm.chart import Manifest

_PRIVILEGED: Final = 1024
_STARTS: Final = "net.ipv4.ip_unprivileged_port_start"
_OF_THE_CLUSTER: Final = ("Role", "kube-system", "extension-apiserver-authentication-reader")
_LISTENS: Final = re.compile(r"--(?P<what>.*listen|http)=.*:(?P<port>[0-9]+)")
_PLACES: Final = re.compile(r"=(/(?:etc|var)/[^ ]*)")
_INJECTED: Final = "cert-manager.io/inject-ca-from"
_BOTH: Final = ("UDP", "TCP")

Place = tuple[str, str, str]


def faults(manifests: list[Manifest], secrets: Collection[str]) -> Iterator[str]:
    """Yield what cannot work; `secrets` are those that whoever installs it has to bring."""
    there = {_place(each): each for each in manifests}
    made = {each["spec"]["secretName"] for each in manifests if each["kind"] == "Certificate"}
    pods = [each for each in manifests if each["kind"] == "Deployment"]
    for each in pods:
        name = each["metadata"]["name"]
        pod = each["spec"]["template"]["spec"]
        account = ("ServiceAccount", each["metadata"]["namespace"], pod["serviceAccountName"])
        found = [*_faults_of_options(pod), *_faults_of_ports(pod), *_faults_of_volumes(pod, {*made, *secrets})]
        found += [] if account in there else [f"no ServiceAccount {account[2]}"]
        yield from (f"{name}: {fault}" for fault in found)
    yield from _faults_between_pods(pods)
    for each in manifests:
        if (check := _CHECKS.get(each["kind"])) is not None:
            yield from (f"{each['kind']} {each['metadata']['name']}: {fault}" for fault in check(each, there))
    for reference in _references(manifests):
        if reference not in there and reference != _OF_THE_CLUSTER and reference[0] != "ClusterIssuer":
            yield f"{reference} is referred to and not there"


def _place(manifest: Manifest) -> Place:
    return manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]


def _container(pod: Manifest) -> Manifest:
    found: Manifest = pod["containers"][0]
    return found


def _options(pod: Manifest) -> Iterator[tuple[str, str]]:
    for word in _container(pod)["args"][1:]:
        name, _, value = word.partition("=")
        yield name, value


def _faults_of_options(pod: Manifest) -> Iterator[str]:
    """Yield what the program itself says about its arguments, and options that are given twice."""
    program, *words = _container(pod)["args"]
    command = typer.main.get_command(build(program))
    assert isinstance(command, typer.core.TyperGroup)
    try:
        command.commands[program].make_context(program, list(words))
    except typer.exceptions.TyperException as error:
        yield str(error)
    names = [name for name, _ in _options(pod)]
    yield from (f"{name} is given twice" for name in sorted(set(names)) if names.count(name) > 1)
    variables = [each["name"] for each in _container(pod)["env"]]
    yield from (f"{name} is set twice" for name in sorted(set(variables)) if variables.count(name) > 1)


def _faults_of_ports(pod: Manifest) -> Iterator[str]:
    listening: set[tuple[str, int]] = set()
    for word in _container(pod)["args"]:
        if found := _LISTENS.fullmatch(word):
            protocols = _BOTH if found["what"] == "listen" else ("TCP",)
            listening |= {(protocol, int(found["port"])) for protocol in protocols}
    named = [(each["protocol"], each["containerPort"]) for each in _container(pod)["ports"]]
    if sorted(named) != sorted(listening):
        yield f"it listens on {sorted(listening)} and names {sorted(named)}"
    names = {each["name"] for each in _container(pod)["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if (port := _container(pod)[probe]["httpGet"]["port"]) not in names:
            yield f"{probe} asks port {port}"
    low = min((port for _, port in listening), default=_PRIVILEGED)
    sysctls = {each["name"]: int(each["value"]) for each in pod["securityContext"].get("sysctls", ())}
    added = _container(pod)["securityContext"]["capabilities"].get("add", [])
    if sysctls.get(_STARTS, _PRIVILEGED) > low:
        yield f"no user may listen on {low}"
    if added != (["NET_BIND_SERVICE"] if low < _PRIVILEGED else []):
        yield f"port {low} and the capabilities {added}"
    if sysctls and (pod.get("hostNetwork") or low >= _PRIVILEGED):
        yield f"{sysctls} where it is not needed or not allowed"


def _faults_of_volumes(pod: Manifest, secrets: Collection[str]) -> Iterator[str]:
    volumes = {each["name"]: each for each in pod.get("volumes", ())}
    mounts = _container(pod).get("volumeMounts", ())
    if len(volumes) != len(pod.get("volumes", ())) or len({each["mountPath"] for each in mounts}) != len(mounts):
        yield "two volumes or mounts have one name or path"
    if {each["name"] for each in mounts} != volumes.keys():
        yield f"volumes {sorted(volumes)}, mounted {sorted(each['name'] for each in mounts)}"
    for name, each in volumes.items():
        if "secret" in each and each["secret"].get("secretName") not in secrets:
            yield f"volume {name}: nobody makes the Secret {each['secret'].get('secretName')!r}"
    folders = [PurePosixPath(each["mountPath"]) for each in mounts]
    for word in _container(pod)["args"]:
        for path in _PLACES.findall(word):
            if not any(PurePosixPath(path).is_relative_to(folder) for folder in folders):
                yield f"{word} lies in no volume"


def _faults_between_pods(deployments: list[Manifest]) -> Iterator[str]:
    """Yield ports of a node that pods of two components would both have."""
    taken: dict[tuple[str, int], str] = {}
    for each in deployments:
        pod = each["spec"]["template"]["spec"]
        for port in _container(pod)["ports"]:
            number = port["containerPort"] if pod.get("hostNetwork") else port.get("hostPort")
            owner = taken.setdefault((port["protocol"], number), each["metadata"]["name"]) if number else None
            if owner not in (None, each["metadata"]["name"]):
                yield f"{owner} and {each['metadata']['name']} have port {number} of one node"


def _pods_of(labels: Mapping[str, str], there: Mapping[Place, Manifest]) -> list[Manifest]:
    deployments = [each for each in there.values() if each["kind"] == "Deployment"]
    return [each for each in deployments if labels.items() <= each["spec"]["template"]["metadata"]["labels"].items()]


def _of_service(service: Manifest, there: Mapping[Place, Manifest]) -> Iterator[str]:
    pods = _pods_of(service["spec"]["selector"], there)
    if len(pods) != 1:
        yield f"it selects {len(pods)} components"
    nodes = [(each["protocol"], each["nodePort"]) for each in service["spec"]["ports"] if "nodePort" in each]
    if len(nodes) != len(set(nodes)):
        yield f"ports of nodes {nodes}"
    for port in service["spec"]["ports"]:
        for each in pods:
            own = _container(each["spec"]["template"]["spec"])["ports"]
            if not any(
                port["targetPort"] in (one["name"], one["containerPort"]) and port["protocol"] == one["protocol"]
                for one in own
            ):
                yield f"no port {port['targetPort']} of its pods"


def _of_budget(budget: Manifest, there: Mapping[Place, Manifest]) -> Iterator[str]:
    replicas = [each["spec"]["replicas"] for each in _pods_of(budget["spec"]["selector"]["matchLabels"], there)]
    if len(replicas) != 1 or replicas[0] < 2:
        yield f"it is about pods of {replicas} replicas"


def _of_policy(policy: Manifest, there: Mapping[Place, Manifest]) -> Iterator[str]:
    spec = policy["spec"]
    (pods,) = _pods_of(spec["podSelector"]["matchLabels"], there)
    pod = pods["spec"]["template"]["spec"]
    inward, outward = (
        {(each["protocol"], each["port"]) for rule in spec[way] for each in rule["ports"]}
        for way in ("ingress", "egress")
    )
    for port in _container(pod)["ports"]:
        if (port["protocol"], port["containerPort"]) not in inward:
            yield f"nobody reaches {port['name']}"
    for name, value in _options(pod):
        if name == "--traces-endpoint":
            address = urlsplit(value)
            port = address.port or {"http": 80, "https": 443}[address.scheme]
            anywhere = {
                (each["protocol"], each["port"])
                for rule in spec["egress"]
                if "to" not in rule
                for each in rule["ports"]
            }
            if ("TCP", port) not in anywhere:
                yield f"it may not send spans to port {port}"
    if not {("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 6443)} <= outward:
        yield "neither DNS nor the API server are reached"


def _of_monitor(monitor: Manifest, there: Mapping[Place, Manifest]) -> Iterator[str]:
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    services = [
        each for each in there.values() if each["kind"] == "Service" and wanted <= each["metadata"]["labels"].items()
    ]
    ports = {port["name"] for each in services for port in each["spec"]["ports"]}
    if len(services) != 1 or not {each["port"] for each in monitor["spec"]["endpoints"]} <= ports:
        yield f"it finds {len(services)} Services, with the ports {ports}"


_CHECKS: Final[Mapping[str, Any]] = {
    "Service": _of_service,
    "PodDisruptionBudget": _of_budget,
    "NetworkPolicy": _of_policy,
    "ServiceMonitor": _of_monitor,
}


def _references(manifests: list[Manifest]) -> Iterator[Place]:
    """Yield what objects name of other objects."""
    for each in manifests:
        namespace = each["metadata"].get("namespace", "")
        if each["kind"].endswith("RoleBinding"):
            kind = each["roleRef"]["kind"]
            yield kind, namespace if kind == "Role" else "", each["roleRef"]["name"]
            yield from (("ServiceAccount", who["namespace"], who["name"]) for who in each["subjects"])
        elif each["kind"] == "Certificate":
            issuer = each["spec"]["issuerRef"]
            yield issuer["kind"], namespace, issuer["name"]
        elif each["kind"] == "APIService":
            yield "Service", each["spec"]["service"]["namespace"], each["spec"]["service"]["name"]
        elif each["kind"] == "ValidatingWebhookConfiguration":
            for hook in each["webhooks"]:
                service = hook["clientConfig"]["service"]
                yield "Service", service["namespace"], service["name"]
        if _INJECTED in (annotations := each["metadata"].get("annotations", {})):
            yield "Certificate", *annotations[_INJECTED].split("/")
