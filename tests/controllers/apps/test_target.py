"""What counts as a target of an object, and what becomes of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.apps.gateway.kind import GATEWAYS
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES
from controllers.apps.target import read_targets
from controllers.runtime.recorder import EVENTS
from tests.cluster.control_plane import programs
from tests.controllers.apps.conftest import NAMESPACE, World

RECORD = ("shop", "A", "192.0.2.1")


@pytest.mark.parametrize(
    ("addresses", "names", "found", "faults"),
    [
        pytest.param(["192.0.2.1"], ["lb.test"], ["192.0.2.1"], 0, id="addresses win"),
        pytest.param(["2001:DB8:0::1", "2001:db8::1"], [], ["2001:db8::1"], 0, id="canonical, once"),
        pytest.param(
            ["192.0.2.2", "2001:db8::1", "192.0.2.1"], [], ["192.0.2.1", "192.0.2.2", "2001:db8::1"], 0, id="ordered"
        ),
        pytest.param(["nonsense", "192.0.2.1"], [], ["192.0.2.1"], 1, id="the good ones count"),
        pytest.param(["fe80::1%eth0"], [], [], 1, id="a zone"),
        pytest.param([], ["LB.Cloud.test."], ["lb.cloud.test"], 0, id="names in any case"),
        pytest.param(["nonsense"], ["lb.test"], ["lb.test"], 1, id="a name in place of no address"),
        pytest.param([], ["bad..test", "*.test"], [], 2, id="no names"),
        pytest.param([], [], [], 0, id="nothing"),
    ],
)
def test_what_is_a_target(addresses: list[str], names: list[str], found: list[str], faults: int) -> None:
    targets = read_targets(addresses, names)
    assert [each.value for each in targets.good] == found
    assert len(targets.faults) == faults
    assert targets.unknown is (not found and faults > 0)


def test_of_too_many_targets_it_is_always_the_same_that_are_left_out_and_told() -> None:
    addresses = [f"10.0.{number}.1" for number in range(103)]
    targets = read_targets(addresses, ())
    assert targets == read_targets(reversed(addresses), ())
    assert (len(targets.good), len(targets.faults)) == (100, 3)


@given(st.lists(st.ip_addresses().map(str), max_size=300), st.lists(st.text(max_size=300), max_size=5))
def test_there_are_never_more_targets_than_an_endpoint_takes(addresses: list[str], names: list[str]) -> None:
    targets = read_targets(addresses, names).good
    assert len(targets) == len(set(targets)) <= 100


@pytest.mark.skipif(programs() is not None, reason="a real API takes no such address in a Service's status")
async def test_addresses_that_cannot_be_read_are_told_and_withdraw_nothing(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test,www.example.test", "192.0.2.1")
    await world.until_records(RECORD, ("www", "A", "192.0.2.1"))
    await world.status(SERVICES, "shop", {"loadBalancer": {"ingress": [{"ip": "999.0.2.1"}]}})
    await world.until(lambda: told(world, "shop", "'999.0.2.1' is no IPv4 or IPv6 address"))
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "shop.example.test"})
    await world.until_records(RECORD)
    await world.balance("shop", "192.0.2.2")
    await world.until_records(("shop", "A", "192.0.2.2"))


async def test_a_gateway_is_published_with_those_addresses_that_can_be_read(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "nonsense", "192.0.2.1")
    await world.route("one", "edge", "shop.example.test")
    await world.until_records(RECORD)
    await world.until(lambda: told(world, "edge", "'nonsense' is no IPv4 or IPv6 address"))
    addresses = [{"type": "NamedAddress", "value": "some-name"}, {"type": "Hostname", "value": "lb.test"}]
    await world.status(GATEWAYS, "edge", {"addresses": addresses})
    await world.until_records(("shop", "CNAME", "lb.test"))


async def told(world: World, name: str, words: str) -> bool:
    events = (await world.client.list(EVENTS, namespace=NAMESPACE)).items
    found = [
        each for each in events if (each["reason"], each["involvedObject"]["name"]) == ("EndpointTargetUnusable", name)
    ]
    return any(words in each["message"] for each in found)
