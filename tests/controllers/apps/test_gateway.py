"""Gateways publish the hostnames of their accepted HTTPRoutes."""

from __future__ import annotations

import re
from typing import Any

from controllers.api.endpoint import ENDPOINT_RECORD_SETS
from controllers.apps.gateway.kind import GATEWAYS, HTTP_ROUTES, Gateway, HttpRoute, parse_gateway, parse_http_route
from controllers.apps.gateway.source import endpoint_key, endpoint_of
from controllers.apps.hostname_list import Hostnames
from controllers.apps.left_out import LIMIT
from kube.object import ObjectKey
from kube.timestamp import time_text, utc_now
from tests.controllers.apps.conftest import NAMESPACE, World

EDGE = endpoint_key(ObjectKey(NAMESPACE, "edge")).name
A = ("a", "A", "192.0.2.1")
B = ("b", "A", "192.0.2.1")


async def test_one_endpoint_has_the_hostnames_of_all_accepted_routes(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("one", "edge", "a.example.test")
    await world.route("two", "edge", "b.example.test", "a.example.test")
    await world.until_records(A, B)
    ((key, found),) = (await world.endpoints()).items()
    assert re.fullmatch(r"default-edge-[0-9a-f]{10}", key.name)
    labels = found["metadata"]["labels"]
    assert labels["gateway.endpoint.dns.appthrust.io/gateway-namespace"] == NAMESPACE
    assert labels["gateway.endpoint.dns.appthrust.io/gateway-name"] == "edge"


async def test_a_route_is_published_only_when_every_parent_accepts_it(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("one", "edge", "a.example.test")
    parents = [{"name": "edge"}, {"name": "other"}]
    await world.create(HTTP_ROUTES, "two", {"hostnames": ["b.example.test"], "parentRefs": parents})
    await world.judge("two", "edge", accepted=True)
    await world.until_records(A)
    await world.until_reason(EDGE, "b.example.test", "False/RouteNotAccepted")
    told = (await world.hostname(EDGE, "b.example.test"))["conditions"][0]["message"]
    assert "Gateway default/other" in told


async def test_listener_and_route_narrow_one_another(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1", hostname="*.example.test")
    await world.route("one", "edge", "a.example.test", "a.elsewhere.test")
    await world.until_records(A)
    await world.until_reason(EDGE, "a.elsewhere.test", "False/NoMatchingListener")
    told = (await world.hostname(EDGE, "a.elsewhere.test"))["conditions"][0]["message"]
    assert told == "No listener of Gateway default/edge that takes HTTPRoute default/one has the hostname."
    await world.route("two", "edge")
    await world.until_records(A, ("*", "A", "192.0.2.1"))


async def test_a_wildcard_that_listeners_narrow_is_not_left_out(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1", hostname="a.example.test")
    await world.route("one", "edge", "*.example.test")
    await world.until_records(A)
    await world.until_reason(EDGE, "a.example.test", "True/Resolved")
    assert await world.hostname(EDGE, "*.example.test") == {}


async def test_nobody_names_a_hostname_so_nothing_is_published(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("none", "edge")
    await world.gateway("second", "192.0.2.1")
    await world.route("some", "second", "b.example.test")
    await world.until_records(B)
    assert len(await world.endpoints()) == 1


async def test_a_route_that_loses_its_acceptance_stays_published_for_a_time(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("one", "edge", "a.example.test")
    await world.until_records(A)
    await world.judge("one", "edge", accepted=False, since=time_text(utc_now()))
    await world.status(HTTP_ROUTES, "one", {"parents": []})
    await world.route("two", "edge", "b.example.test")
    await world.until_records(A, B)
    await world.judge("one", "edge", accepted=False, since="2020-01-01T00:00:00Z")
    await world.until_records(B)
    await world.until_reason(EDGE, "a.example.test", "False/RouteNotAccepted")


async def test_a_gateway_that_goes_takes_its_names_along_at_once(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("one", "edge", "a.example.test")
    await world.until_records(A)
    await world.client.delete(GATEWAYS, namespace=NAMESPACE, name="edge")
    await world.until_records()
    assert await world.is_gone(ENDPOINT_RECORD_SETS, EDGE)


async def test_a_route_that_goes_takes_its_names_along(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.gateway("edge", "192.0.2.1")
    await world.route("one", "edge", "a.example.test")
    await world.route("two", "edge", "b.example.test")
    await world.until_records(A, B)
    await world.client.delete(HTTP_ROUTES, namespace=NAMESPACE, name="one")
    await world.until_records(B)
    await world.status(GATEWAYS, "edge", {"addresses": [{"type": "IPAddress", "value": "192.0.2.5"}]})
    await world.until_records(("b", "A", "192.0.2.5"))


async def test_a_gateway_with_a_long_name_that_went_while_no_manager_ran_is_cleaned_up_after(world: World) -> None:
    name = "edge-" + "x" * 100
    await world.zone("zone", "example.test")
    await world.gateway(name, "192.0.2.1")
    await world.route("one", name, "a.example.test")
    await world.until_records(A)
    await world.stop_manager()
    await world.client.delete(GATEWAYS, namespace=NAMESPACE, name=name)
    await world.start_manager()
    await world.until_records()


def edge(namespaces: str, hostname: str = "*.example.test") -> Gateway:
    listener = {
        "name": "web",
        "port": 80,
        "protocol": "HTTP",
        "hostname": hostname,
        "allowedRoutes": {"namespaces": {"from": namespaces}},
    }
    metadata = {"namespace": NAMESPACE, "name": "edge", "uid": "u", "resourceVersion": "1"}
    return parse_gateway({"metadata": metadata, "spec": {"listeners": [listener]}})


def route(namespace: str, *hostnames: str, name: str = "route", accepted: bool = True) -> HttpRoute:
    parent = {"name": "edge", "namespace": NAMESPACE}
    said: dict[str, Any] = {"type": "Accepted", "status": "True", "observedGeneration": 1}
    return parse_http_route(
        {
            "metadata": {"namespace": namespace, "name": name, "uid": "u", "resourceVersion": "1", "generation": 1},
            "spec": {"hostnames": list(hostnames), "parentRefs": [parent]},
            "status": {"parents": [{"parentRef": parent, "conditions": [said]}] if accepted else []},
        }
    )


def sorted_out(gateway: Gateway, *routes: HttpRoute, published: frozenset[str] = frozenset()) -> Hostnames:
    return endpoint_of(gateway, routes, {}, published, utc_now()).endpoint.hostnames


def many(number: int, suffix: str) -> list[str]:
    return [f"a{each:04}.{suffix}" for each in range(number)]


def test_whom_no_listener_lets_in_does_not_take_the_place_of_others_in_what_is_left_out() -> None:
    strangers = route("evil", *many(500, "elsewhere.test"))
    ours = route(NAMESPACE, *(f"z{each:02}.elsewhere.test" for each in range(90)))
    told = sorted_out(edge("Same"), strangers, ours).left_out
    assert len(told) == LIMIT
    assert sum(each.hostname.startswith("z") for each in told) == 90
    assert sorted_out(edge("Same"), ours, strangers).left_out == told


def test_of_what_is_left_out_each_namespace_has_its_turn() -> None:
    crowd = [route("evil", *many(16, f"n{number}.elsewhere.test"), name=f"r{number}") for number in range(40)]
    others = [route(f"team-{number}", f"z{number}.elsewhere.test") for number in range(10)]
    told = sorted_out(edge("All"), *crowd, *others).left_out
    assert len(told) == LIMIT
    assert {each.hostname for each in told if each.hostname.startswith("z")} == {
        f"z{number}.elsewhere.test" for number in range(10)
    }


def test_a_hostname_that_both_sides_leave_out_is_told_once_and_as_its_own_route_has_it() -> None:
    name = "a.elsewhere.test"
    (told,) = sorted_out(edge("Same"), route("evil", name), route(NAMESPACE, name)).left_out
    assert f"HTTPRoute {NAMESPACE}/route" in told.message


def test_what_is_published_keeps_its_place_when_there_are_too_many_hostnames() -> None:
    ours = "z.example.test"
    routes = [
        route(NAMESPACE, ours),
        *(route("evil", *many(16, f"n{number:02}.example.test"), name=f"r{number}") for number in range(40)),
    ]
    found = sorted_out(edge("All"), *routes, published=frozenset({ours}))
    assert ours in found.published
    assert len(found.published) == 500
    assert list(found.published) == sorted(found.published)
