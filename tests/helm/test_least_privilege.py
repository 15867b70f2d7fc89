"""What the chart gives to a product that lives: rights that are enough, with a reason for what nothing here needs, and
alerts and dashboards that ask for series which managers and name servers have."""

from __future__ import annotations

import re
from collections.abc import Iterator

import dns.message
import dns.query
import pytest

from tests.helm.cluster import Cluster, running
from tests.helm.life import begin, delete_everything
from tests.helm.monitoring import EVERYDAY, FAULTS, PASSED_S, alerts, lasting, panels
from tests.helm.promql import kept_labels, missing_labels, parse
from tests.helm.promql_value import Vector, evaluate, samples_of
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
NOT_LIVED = {
    "dns_api_informer_failures_total": {"resource", "error", "pod"},
    "dns_api_drift_repairs_total": {"provider", "pod"},
    "dns_api_reconcile_errors_total": {"controller", "kind", "pod"},
    "dns_api_watch_restarts_total": {"resource", "pod"},
}
"""Series that only a fault brings, with their labels."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Vector]]:
    """A cluster in which everything has happened once, from the first claim to the last deletion, and its metrics from before that.

    They have what the Prometheus operator says of who was asked.
    """
    with running(tmp_path_factory.mktemp("cluster")) as started:
        begin(started)
        dns.query.udp(dns.message.make_query("example.com", "SOA"), "127.0.0.1", 5, started.dns_port)
        manager, server = started.metrics()
        delete_everything(started)
        yield started, samples_of(manager, pod="dns-api-manager-0") | samples_of(server, pod="dns-api-server-0")


@pytest.fixture(scope="module")
def cluster(lived: tuple[Cluster, Vector]) -> Cluster:
    return lived[0]


@pytest.fixture(scope="module")
def scraped(lived: tuple[Cluster, Vector]) -> Vector:
    return lived[1]


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


def test_alerts_and_panels_ask_for_labels_that_series_have(scraped: Vector) -> None:
    labels: dict[str, set[str]] = dict(NOT_LIVED)
    for each in scraped:
        labels.setdefault(dict(each)["__name__"], set()).update(dict(each))

    def labels_of(name: str) -> set[str]:
        return labels[name] - {"__name__"}

    for title, expression, legend in panels():
        node = parse(expression)
        assert missing_labels(node, labels_of) == set(), title
        assert set(re.findall(r"{{(\w+)}}", legend)) <= kept_labels(node, labels_of), title
    for alert in alerts():
        assert missing_labels(alert.node, labels_of) == set(), alert.name
        told = set(re.findall(r"\$labels\.(\w+)", "".join(alert.annotations.values())))
        assert told <= kept_labels(alert.node, labels_of), alert.name


def test_every_panel_shows_something_of_a_product_that_has_lived(scraped: Vector) -> None:
    history = lasting(scraped)
    empty = {title for title, expression, _ in panels() if not evaluate(parse(expression), history, PASSED_S)}
    assert empty <= {"Failed reconciles", "Repaired drift", "Listings, restarted and failed watches"}


def test_no_alert_fires_while_all_is_well(scraped: Vector) -> None:
    assert [alert.name for alert in alerts() if alert.fires(lasting(scraped))] == []
    for what, events in EVERYDAY.items():
        assert [alert.name for alert in alerts() if alert.fires(lasting(scraped, *events))] == [], what


def test_every_alert_fires_at_the_fault_that_it_is_for_and_no_other_does(scraped: Vector) -> None:
    assert {alert.name for alert in alerts()} == FAULTS.keys()
    for name, faults in FAULTS.items():
        assert [alert.name for alert in alerts() if alert.fires(lasting(scraped, *faults))] == [name], name
