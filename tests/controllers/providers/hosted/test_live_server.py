"""Live name servers and where they listen, from EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.probe.address import Address
from controllers.probe.round import Server
from controllers.providers.hosted.live_server import live_endpoints, live_servers, parse_server_slice

UDP = {"name": "dns", "port": 5353, "protocol": "UDP"}
TCP = {"name": "dns-tcp", "port": 5353, "protocol": "TCP"}


def slice_of(*endpoints: dict[str, Any], ports: list[dict[str, Any]] | None = None) -> Any:
    body = {"endpoints": list(endpoints), "ports": [UDP, TCP] if ports is None else ports}
    return parse_server_slice({"metadata": {"namespace": "dns", "name": "s"}, **body})


def endpoint(name: str, *addresses: str, ready: bool | None = True) -> dict[str, Any]:
    return {"addresses": list(addresses), "conditions": {"ready": ready}, "targetRef": {"kind": "Pod", "name": name}}


def test_a_server_has_the_addresses_of_all_its_slices() -> None:
    slices = [slice_of(endpoint("b", "192.0.2.2"), endpoint("a", "192.0.2.1")), slice_of(endpoint("a", "2001:db8::1"))]
    assert live_servers(slices) == ("a", "b")
    assert live_endpoints(slices) == (
        Server("a", (Address("192.0.2.1", 5353), Address("2001:db8::1", 5353))),
        Server("b", (Address("192.0.2.2", 5353),)),
    )


def test_a_server_that_is_not_ready_is_not_live() -> None:
    found = [slice_of(endpoint("a", "192.0.2.1", ready=False), endpoint("b", "192.0.2.2", ready=None))]
    assert [each.name for each in live_endpoints(found)] == ["b"]


@pytest.mark.parametrize(
    ("ports", "port"),
    [
        ([UDP], 5353),
        ([{"name": "x", "port": 53, "protocol": "UDP"}], 53),
        ([{"name": "metrics", "port": 9, "protocol": "UDP"}, UDP], 5353),
        ([TCP], None),
        ([], None),
        ([UDP, {"name": "dns-2", "port": 54, "protocol": "UDP"}], None),
    ],
)
def test_the_port_is_that_for_dns_over_udp(ports: list[dict[str, Any]], port: int | None) -> None:
    (server,) = live_endpoints([slice_of(endpoint("a", "192.0.2.1"), ports=ports)])
    assert server.addresses == ((Address("192.0.2.1", port),) if port is not None else ())
