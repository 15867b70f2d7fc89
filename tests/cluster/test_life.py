"""A whole life of zones at every provider and of endpoints of both sources, with the rights that the chart gives and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controllers.api.endpoint_conversion import CONVERSION_PLURAL
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, endpoint_key
from kube.object import ObjectKey
from tests.cluster.audit import asked, used
from tests.cluster.installation import SETTINGS
from tests.cluster.stand import Stand, standing
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.route53 import world as route53
from tests.helm.chart import PROVIDERS, render
from tests.helm.life import CLOUDS, EXTERNAL, begin, delete_everything, example, load_balancer
from tests.helm.rights import Right, rights_of
from tests.product.patience import until

BALANCED = '{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.70"}]}}}'
GATEWAY = {"apiVersion": "gateway.networking.k8s.io/v1"}
HOSTED = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
SERVERS = {"nameServers": [{"name": "ns1.example.net"}, {"name": "ns2.example.net"}]}
ACCEPTED = (
    '{"status":{"parents":[{"parentRef":{"name":"edge"},"controllerName":"test/test","conditions":[{"type":"Accepted",'
    '"status":"True","reason":"Accepted","observedGeneration":1,"lastTransitionTime":"2020-01-01T00:00:00Z","message":""}]}]}}'
)


@pytest.fixture(scope="module")
def stand(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with standing(tmp_path_factory.mktemp("stand"), programs) as stand:
        yield stand
    assert stand.product.complaints() == ""


def test_zones_at_every_provider_come_and_go_with_their_endpoints(stand: Stand) -> None:
    begin(stand)
    zones = ((cloudflare.TEAM, CLOUDS), ("aws", route53.DOMAIN))
    for namespace, domain in zones:
        _publish_door(stand, namespace, domain)
    _until_asked(stand, "hosted", "cloudflare", "route53")
    for namespace, _ in zones:
        stand.kubectl.ok("delete", "service", "door", "-n", namespace)
        endpoint = f"endpointrecordset/{endpoint_key(ObjectKey(namespace, 'door')).name}"
        stand.kubectl.ok("wait", "--for=delete", endpoint, "-n", namespace, "--timeout=25s")
    delete_everything(stand)


def _publish_door(stand: Stand, namespace: str, domain: str) -> None:
    service = load_balancer("192.0.2.70")
    service["metadata"] |= {"namespace": namespace, "name": "door"}
    service["metadata"]["annotations"] = {HOSTNAMES_ANNOTATION: f"door.{domain}"}
    stand.apply(service)
    stand.kubectl.ok("patch", "service/door", "-n", namespace, "--subresource=status", "--type=merge", "-p", BALANCED)


def _until_asked(stand: Stand, *providers: str) -> None:
    groups = {f"endpoint.{provider}.dns.appthrust.io" for provider in providers}
    until(lambda: _asked_conversions(stand) >= groups, "a question to the conversion APIs")


def _asked_conversions(stand: Stand) -> set[str]:
    return {
        each.right.group for each in asked(stand.product.plane.audit_log) if each.right.resource == CONVERSION_PLURAL
    }


def test_hostnames_of_a_gateway_are_published(stand: Stand) -> None:
    stand.apply(
        example(
            "ZoneClass", "class", provider=HOSTED, controllerName=f"{HOSTED['name']}/controller", parameters=SERVERS
        ),
        example("Zone", "gateways", domainName="gateways.example", zoneClassRef={"name": "class"}, provider=HOSTED),
    )
    stand.wait("zone/gateways")
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    route = {"hostnames": ["shop.gateways.example"], "parentRefs": [{"name": "edge"}]}
    metadata = {"namespace": "default", "name": "edge"}
    stand.apply(
        {
            **GATEWAY,
            "kind": "Gateway",
            "metadata": metadata,
            "spec": {"gatewayClassName": "any", "listeners": listeners},
        },
        {**GATEWAY, "kind": "HTTPRoute", "metadata": metadata, "spec": route},
    )
    for kind, status in (
        ("gateway", '{"status":{"addresses":[{"type":"IPAddress","value":"192.0.2.90"}]}}'),
        ("httproute", ACCEPTED),
    ):
        stand.kubectl.ok("patch", f"{kind}/edge", "--subresource=status", "--type=merge", "-p", status)
    stand.kubectl.ok("wait", "--for=create", "endpointrecordset", "--all", "--timeout=25s")
    stand.kubectl.ok("wait", "--for=condition=Resolved", "endpointrecordset", "--all", "--timeout=25s")


def test_an_observed_zone_is_asked_what_becomes_of_an_endpoint(stand: Stand) -> None:
    binding = {"provider": EXTERNAL, "controllerName": f"{EXTERNAL['name']}/controller"}
    parameters = {"probeTimeout": "1s", "nameServers": [f"127.0.0.1:{stand.dns_port}"]}
    stand.apply(
        example("ZoneClass", "watched", **binding, parameters=parameters),
        example("Zone", "watched", domainName="watched.example", zoneClassRef={"name": "watched"}, provider=EXTERNAL),
    )
    stand.wait("zone/watched", "Accepted")
    _publish_door(stand, "default", "watched.example")
    _until_asked(stand, *PROVIDERS)


def test_the_manager_asks_for_nothing_that_it_has_no_right_to(stand: Stand) -> None:
    rights = rights_of(render(*SETTINGS), "dns-api-manager")
    requests = [each for each in asked(stand.product.plane.audit_log) if each.account == "dns-api-manager"]
    assert len(requests) > 100
    assert {str(right) for _, right in used(requests) if not any(each.covers(right) for each in rights)} == set()
    assert {str(each.right) for each in requests if each.code in (401, 403)} == set()


def test_a_name_server_reads_snapshots_and_patches_their_status_and_nothing_else(stand: Stand) -> None:
    requests = [each for each in asked(stand.product.plane.audit_log) if each.account == "dns-api-server"]
    snapshots = {Right("hosted.dns.appthrust.io", "hostedzones", verb) for verb in ("get", "list", "watch")}
    allowed = {*snapshots, Right("hosted.dns.appthrust.io", "hostedzones/status", "patch")}
    assert rights_of(render(*SETTINGS), "dns-api-server") == allowed
    asked_for = {(right.resource, right.verb) for _, right in used(requests)}
    assert asked_for == {("hostedzones", "list"), ("hostedzones", "watch"), ("hostedzones/status", "patch")}
