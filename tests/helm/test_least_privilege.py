"""The rendered rights are enough for everything that the product does, and what nothing here needs is named with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controllers.apps.service.source import HOSTNAMES_ANNOTATION, endpoint_key
from kube.object import ObjectKey
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.route53 import world as route53
from tests.helm.cluster import Cluster, running
from tests.helm.rights import Right, right_needed

Object = dict[str, Any]

RETIRED = "dns.appthrust.io/address=c0000251"

HOSTED = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
EXTERNAL = {"name": "external.dns.appthrust.io", "version": "v1alpha1"}
_OTHER_PROVIDERS = "only a hosted zone has endpoints here"
NOT_NEEDED_HERE = {
    "dns-api-manager: get hostedzones.hosted.dns.appthrust.io": "a snapshot is read again when another manager made it first",
    "dns-api-manager: get providers.dns.appthrust.io": "admission asks for a Provider that its cache does not have yet",
    "dns-api-manager: get zones.dns.appthrust.io": "admission asks for a Zone that its cache does not have yet",
    "dns-api-manager: patch events": "an event that comes again is counted up",
    "dns-api-manager: get configmaps extension-apiserver-authentication in kube-system": "a role of the cluster has it",
    "dns-api-server: get hostedzones.hosted.dns.appthrust.io": "what reads a kind is given all three verbs of reading",
    "dns-api-manager: create endpointrecordsetconversions.endpoint.cloudflare.dns.appthrust.io": _OTHER_PROVIDERS,
    "dns-api-manager: create endpointrecordsetconversions.endpoint.external.dns.appthrust.io": _OTHER_PROVIDERS,
    "dns-api-manager: create endpointrecordsetconversions.endpoint.route53.dns.appthrust.io": _OTHER_PROVIDERS,
}
"""Rights that no step above uses, each with what it is for."""


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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster in which everything has happened once, from the first claim to the last deletion."""
    with running(tmp_path_factory.mktemp("cluster")) as started:
        _hosted(started)
        _endpoint(started)
        _external(started)
        _providers(started)
        _delete_everything(started)
        yield started


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
        "apply", "-f", "-", stdin=yaml.safe_dump_all([*manifests, cloudflare.zone(), cloudflare.a("www", "192.0.2.1")])
    )
    aws = cluster.kubectl.within("aws")
    own = [route53.identity(accountID=route53.ACCOUNT), route53.zone_class(zoneDeletionPolicy="Delete"), route53.zone()]
    aws.ok("apply", "-f", "-", stdin=yaml.safe_dump_all([*own, route53.a("www", "192.0.2.1")]))
    for kubectl in (team, aws):
        kubectl.ok("wait", "--for=condition=Programmed", "zone,recordset", "--all", "--timeout=25s")


def _delete_everything(cluster: Cluster) -> None:
    cluster.kubectl.ok("delete", "service", "shop")
    cluster.kubectl.ok("wait", "--for=delete", "endpointrecordset", "--all", "--timeout=25s")
    for namespace in ("default", cloudflare.TEAM, "aws"):
        kubectl = cluster.kubectl.within(namespace)
        kubectl.ok("delete", "recordset,recordwithdrawal", "--all", "--timeout=25s")
        kubectl.ok("delete", "zone", "--all", "--timeout=25s")
        assert kubectl.ok("get", "zoneunits,hostedzones", "-o", "name") == ""


def test_nothing_that_the_programs_ask_for_is_refused(cluster: Cluster) -> None:
    assert set(map(str, cluster.manager_gate.refused)) == set()
    assert set(map(str, cluster.server_gate.refused)) == set()


def test_no_right_is_there_for_nothing(cluster: Cluster) -> None:
    unused = {
        f"{account}: {right}"
        for account, gate in (("dns-api-manager", cluster.manager_gate), ("dns-api-server", cluster.server_gate))
        for right in cluster.rights(account) - gate.used
    }
    assert unused == set(NOT_NEEDED_HERE)


@pytest.mark.parametrize(
    ("method", "target", "needed"),
    [
        ("GET", "/api/v1/namespaces?limit=500", Right("", "namespaces", "list")),
        ("GET", "/api/v1/namespaces/a", Right("", "namespaces", "get", None, "a")),
        ("GET", "/apis/g/v1/namespaces/a/things/b", Right("g", "things", "get", "a", "b")),
        ("GET", "/apis/g/v1/things?watch=1", Right("g", "things", "watch")),
        ("PATCH", "/apis/g/v1/namespaces/a/things/b/status?force=true", Right("g", "things/status", "patch", "a", "b")),
        ("DELETE", "/apis/g/v1/namespaces/a/things", Right("g", "things", "deletecollection", "a")),
        ("POST", "/apis/g/v1/namespaces/a/things", Right("g", "things", "create", "a")),
        ("PUT", "/apis/g/v1/namespaces/a/things/b", Right("g", "things", "update", "a", "b")),
        ("GET", "/apis", None),
        ("GET", "/apis/g/v1", None),
    ],
)
def test_requests_are_judged_as_a_cluster_does(method: str, target: str, needed: Right | None) -> None:
    assert right_needed(method, target) == needed
