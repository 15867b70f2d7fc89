"""The rendered rights are enough for everything that the product does, and what nothing here needs is named with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helm.cluster import Cluster, running
from tests.helm.life import live
from tests.helm.rights import Right, right_needed

_OTHER_PROVIDERS = "only a hosted zone has endpoints here"
BY_CHANCE = {
    "dns-api-manager: get hostedzones.hosted.dns.appthrust.io": "a snapshot is read again when another manager made it first",
    "dns-api-manager: get providers.dns.appthrust.io": "admission asks for a Provider that its cache does not have yet",
    "dns-api-manager: get zones.dns.appthrust.io": "admission asks for a Zone that its cache does not have yet",
    "dns-api-manager: patch events": "an event that comes again is counted up",
}
"""Rights that are used when one thing comes before another, each with what it is for."""
NOT_NEEDED_HERE = {
    "dns-api-manager: get configmaps extension-apiserver-authentication in kube-system": "a role of the cluster has it",
    "dns-api-server: get hostedzones.hosted.dns.appthrust.io": "what reads a kind is given all three verbs of reading",
    "dns-api-manager: create endpointrecordsetconversions.endpoint.cloudflare.dns.appthrust.io": _OTHER_PROVIDERS,
    "dns-api-manager: create endpointrecordsetconversions.endpoint.external.dns.appthrust.io": _OTHER_PROVIDERS,
    "dns-api-manager: create endpointrecordsetconversions.endpoint.route53.dns.appthrust.io": _OTHER_PROVIDERS,
}
"""Rights that no step above uses, each with what it is for."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster in which everything has happened once, from the first claim to the last deletion."""
    with running(tmp_path_factory.mktemp("cluster")) as started:
        live(started)
        yield started


def test_nothing_that_the_programs_ask_for_is_refused(cluster: Cluster) -> None:
    assert set(map(str, cluster.manager_gate.refused)) == set()
    assert set(map(str, cluster.server_gate.refused)) == set()


def test_no_right_is_there_for_nothing(cluster: Cluster) -> None:
    unused = {
        f"{account}: {right}"
        for account, gate in (("dns-api-manager", cluster.manager_gate), ("dns-api-server", cluster.server_gate))
        for right in cluster.rights(account) - gate.used
    }
    assert unused - BY_CHANCE.keys() == NOT_NEEDED_HERE.keys()
    assert BY_CHANCE.keys() <= {f"dns-api-manager: {right}" for right in cluster.rights("dns-api-manager")}


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
