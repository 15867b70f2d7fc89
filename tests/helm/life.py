"""A whole life of zones at every provider, from the first claim to the last deletion, with the chart and fakes of the providers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import yaml

from controllers.apps.service.source import HOSTNAMES_ANNOTATION, endpoint_key
from kube.object import ObjectKey
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.route53 import world as route53
from tests.standalone.kubectl.command import Command

Object = dict[str, Any]

RETIRED = "dns.appthrust.io/address=c0000251"
CLOUDS = "clouds.example"
"""The domain of the zone at Cloudflare."""
EXTERNAL = {"name": "external.dns.appthrust.io", "version": "v1alpha1"}


class Cluster(Protocol):
    """What the steps are taken on; `kubectl` has every right."""

    @property
    def kubectl(self) -> Command: ...

    @property
    def dns_port(self) -> int: ...

    def apply(self, *manifests: Object) -> None: ...

    def wait(self, what: str, condition: str = "Programmed") -> None: ...


def begin(cluster: Cluster) -> None:
    """Take all steps but the last: everything is there, and Programmed where it can be; fails when a condition does not come."""
    _hosted(cluster)
    _endpoint(cluster)
    _external(cluster)
    _providers(cluster)


def example(kind: str, name: str, **spec: Any) -> Object:
    metadata = {"namespace": "default", "name": name}
    return {"apiVersion": "dns.appthrust.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def load_balancer(*addresses: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "namespace": "default",
            "name": "shop",
            "annotations": {HOSTNAMES_ANNOTATION: "shop.example.com"},
        },
        "spec": {"type": "LoadBalancer", "ports": [{"port": 443}]},
        "status": {"loadBalancer": {"ingress": [{"ip": each} for each in addresses]}},
    }


def _hosted(cluster: Cluster) -> None:
    folder = Path(__file__).parents[2] / "examples" / "hosted"
    cluster.kubectl.ok("apply", "-f", str(folder))
    cluster.wait("zone/example.com")
    cluster.wait("recordset/apex-a.example.com")


def _endpoint(cluster: Cluster) -> None:
    """Published, then with an address less, which leaves a claim that it is withdrawn behind; and a waiver that fits nothing."""
    endpoint = endpoint_key(ObjectKey("default", "shop")).name
    cluster.apply(load_balancer())
    _set_addresses(cluster, "192.0.2.80", "192.0.2.81")
    cluster.wait(f"endpointrecordset/{endpoint}", "Resolved")
    _set_addresses(cluster, "192.0.2.80")
    cluster.kubectl.ok("wait", "--for=create", "recordwithdrawal", "-l", RETIRED, "--timeout=25s")
    cluster.kubectl.ok("wait", "--for=condition=Accepted", "recordwithdrawal", "--all", "--timeout=25s")
    waiver = {
        "claimRef": {"name": "nothing", "uid": "none"},
        "specDigest": f"sha256:{'0' * 64}",
        "address": "192.0.2.81",
        "reason": "It fits no claim.",
        "reservationRef": {"group": "", "kind": "Service", "namespace": "default", "name": "shop", "uid": "none"},
    }
    cluster.apply(example("RecordWithdrawalWaiver", "waiver", **waiver))
    cluster.kubectl.ok("wait", "--for=condition=Accepted=False", "recordwithdrawalwaiver/waiver", "--timeout=25s")


def _set_addresses(cluster: Cluster, *addresses: str) -> None:
    patch = yaml.safe_dump({"status": load_balancer(*addresses)["status"]})
    cluster.kubectl.ok("patch", "service/shop", "--subresource=status", "--type=merge", "-p", patch)


def _external(cluster: Cluster) -> None:
    parameters = {"probeTimeout": "1s", "nameServers": [f"127.0.0.1:{cluster.dns_port}"]}
    cluster.apply(
        example(
            "ZoneClass",
            "seen",
            provider=EXTERNAL,
            controllerName="external.dns.appthrust.io/controller",
            parameters=parameters,
        ),
        example("Zone", "seen", domainName="seen.example", zoneClassRef={"name": "seen"}, provider=EXTERNAL),
    )
    cluster.wait("zone/seen", "Accepted")


def _providers(cluster: Cluster) -> None:
    cluster.kubectl.ok("create", "namespace", cloudflare.TEAM)
    cluster.kubectl.ok("create", "namespace", "aws")
    team = cluster.kubectl.within(cloudflare.TEAM)
    manifests = [cloudflare.secret(), cloudflare.identity(), cloudflare.zone_class({"zoneDeletionPolicy": "Delete"})]
    team.ok(
        "apply",
        "-f",
        "-",
        stdin=yaml.safe_dump_all([*manifests, cloudflare.zone(domain=CLOUDS), cloudflare.a("www", "192.0.2.1")]),
    )
    aws = cluster.kubectl.within("aws")
    own = [route53.identity(accountID=route53.ACCOUNT), route53.zone_class(zoneDeletionPolicy="Delete"), route53.zone()]
    aws.ok("apply", "-f", "-", stdin=yaml.safe_dump_all([*own, route53.a("www", "192.0.2.1")]))
    for kubectl in (team, aws):
        kubectl.ok("wait", "--for=condition=Programmed", "zone,recordset", "--all", "--timeout=25s")


def delete_everything(cluster: Cluster) -> None:
    cluster.kubectl.ok("delete", "service", "shop")
    cluster.kubectl.ok("wait", "--for=delete", "endpointrecordset", "--all", "--timeout=25s")
    for namespace in ("default", cloudflare.TEAM, "aws"):
        kubectl = cluster.kubectl.within(namespace)
        kubectl.ok("delete", "recordset,recordwithdrawal", "--all", "--timeout=25s")
        kubectl.ok("delete", "zone", "--all", "--timeout=25s")
        assert kubectl.ok("get", "zoneunits,hostedzones", "-o", "name") == ""
