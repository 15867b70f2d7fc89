"""What the NetworkPolicies let through, judged as networks that enforce them do (networking.k8s.io/v1)."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from tests.helm.chart import Manifest, one, only, render

ON = "networkPolicy.enabled=true"
LABELS = {
    component: {"app.kubernetes.io/name": "dns-api", "app.kubernetes.io/component": component}
    for component in ("manager", "server")
}
AWS = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23"]
"""Where AWS gives credentials: instance metadata, tasks of ECS, EKS Pod Identity."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The other side: an address, or a pod of the release's namespace with labels."""

    address: str = "203.0.113.9"
    component: str | None = None


ANYBODY = Peer()


def allowed(manifests: list[Manifest], component: str, way: str, peer: Peer, port: int, protocol: str) -> bool:
    """Say whether a packet passes the policies of a component; `way` is `ingress` or `egress`."""
    policy = one(manifests, "NetworkPolicy", f"dns-api-{component}")["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= LABELS[component].items()
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    return any(_passes(rule, "from" if way == "ingress" else "to", peer, port, protocol) for rule in policy[way])


def _passes(rule: Manifest, side: str, peer: Peer, port: int, protocol: str) -> bool:
    at_port = any((each["port"], each["protocol"]) == (port, protocol) for each in rule["ports"])
    return at_port and any(_is(each, peer) for each in rule.get(side, [{}]))


def _is(selector: dict[str, Any], peer: Peer) -> bool:
    if not selector:
        return True
    if "ipBlock" in selector:
        network = ip_network(selector["ipBlock"]["cidr"])
        return peer.component is None and ip_address(peer.address) in network
    labels = LABELS.get(peer.component or "", {})
    return bool(selector["podSelector"]["matchLabels"].items() <= labels.items())


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
def test_managers_ask_name_servers_of_their_own_over_both_transports(protocol: str) -> None:
    manifests = render(*only("hosted"), ON)
    assert allowed(manifests, "manager", "egress", Peer(component="server"), 5353, protocol)
    assert not allowed(manifests, "manager", "egress", ANYBODY, 5353, protocol)
    on_nodes = render(*only("hosted"), ON, "providers.hosted.server.hostNetwork=true")
    assert allowed(on_nodes, "manager", "egress", ANYBODY, 5353, protocol), "the addresses are those of nodes"


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
@pytest.mark.parametrize("component", ["manager", "server"])
def test_dns_is_asked_anywhere(component: str, protocol: str) -> None:
    assert allowed(render(*only("hosted"), ON), component, "egress", ANYBODY, 53, protocol)


@pytest.mark.parametrize("address", AWS)
def test_credentials_of_aws_are_reached_when_route53_is_on(address: str) -> None:
    assert allowed(render(*only("route53"), ON), "manager", "egress", Peer(address), 80, "TCP")
    assert not allowed(render(*only("cloudflare"), ON), "manager", "egress", Peer(address), 80, "TCP")
    assert not allowed(render(*only("route53"), ON), "manager", "egress", ANYBODY, 80, "TCP")


def test_apis_of_providers_are_reached_when_there_are_any() -> None:
    direct = ("networkPolicy.apiServerPorts={6443}", ON)
    for name in ("route53", "cloudflare"):
        assert allowed(render(*only(name), *direct), "manager", "egress", ANYBODY, 443, "TCP")
    none = render(*only("hosted", "external"), *direct)
    assert not allowed(none, "manager", "egress", ANYBODY, 443, "TCP")
    for component in ("manager", "server"):
        assert allowed(none, component, "egress", ANYBODY, 6443, "TCP"), "the API server is always"


def test_everybody_may_ask_name_servers_and_the_api_server_the_webhook() -> None:
    manifests = render(*only("hosted"), ON, "providers.hosted.server.tls.enabled=true")
    for port, protocol in ((5353, "UDP"), (5353, "TCP"), (8853, "TCP")):
        assert allowed(manifests, "server", "ingress", ANYBODY, port, protocol)
    assert allowed(manifests, "manager", "ingress", ANYBODY, 9443, "TCP")
    assert not allowed(render(ON, "webhook.service.enabled=false"), "manager", "ingress", ANYBODY, 9443, "TCP")
    assert not allowed(render(*only("hosted"), ON), "server", "ingress", ANYBODY, 8853, "TCP")


@pytest.mark.parametrize("component", ["manager", "server"])
def test_metrics_are_for_whom_they_are_said_to_be(component: str) -> None:
    narrowed = "networkPolicy.metricsFrom[0].ipBlock.cidr=198.51.100.0/24"
    manifests = render(*only("hosted"), ON, narrowed)
    assert allowed(manifests, component, "ingress", Peer("198.51.100.7"), 8080, "TCP")
    assert not allowed(manifests, component, "ingress", ANYBODY, 8080, "TCP")
    assert allowed(render(*only("hosted"), ON), component, "ingress", ANYBODY, 8080, "TCP")


@pytest.mark.parametrize("component", ["manager", "server"])
def test_more_can_be_let_through(component: str) -> None:
    own = f"networkPolicy.{component}"
    settings = (
        f"{own}.extraEgressPorts[0].port=5300",
        f"{own}.extraEgressPorts[0].protocol=UDP",
        f"{own}.extraEgress[0].ports[0].port=4317",
        f"{own}.extraEgress[0].ports[0].protocol=TCP",
        f"{own}.extraEgress[0].to[0].ipBlock.cidr=198.51.100.0/24",
        f"{own}.extraIngress[0].ports[0].port=7777",
        f"{own}.extraIngress[0].ports[0].protocol=TCP",
    )
    manifests = render(*only("hosted"), ON, *settings)
    assert allowed(manifests, component, "egress", ANYBODY, 5300, "UDP")
    assert allowed(manifests, component, "egress", Peer("198.51.100.7"), 4317, "TCP")
    assert not allowed(manifests, component, "egress", ANYBODY, 4317, "TCP")
    assert allowed(manifests, component, "ingress", ANYBODY, 7777, "TCP")
    other = "server" if component == "manager" else "manager"
    assert not allowed(manifests, other, "ingress", ANYBODY, 7777, "TCP")
