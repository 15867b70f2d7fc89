"""Services of type LoadBalancer publish the hostnames that they name."""

from __future__ import annotations

import pytest

from controllers.api.endpoint import ENDPOINT_RECORD_SETS, MANAGED_BY_LABEL, RETIREMENT_ANNOTATION
from controllers.apps.service.source import (
    HOSTNAMES_ANNOTATION,
    LEGACY_ANNOTATION,
    LEGACY_CONTROLLER,
    LEGACY_TARGET,
    SERVICES,
    endpoint_key,
)
from controllers.runtime.recorder import EVENTS
from kube.object import ObjectKey
from tests.cluster.control_plane import programs
from tests.controllers.apps.conftest import NAMESPACE, Gate, World

SHOP = endpoint_key(ObjectKey(NAMESPACE, "shop"))
RECORD = ("shop", "A", "192.0.2.1")


async def test_a_service_is_published_with_its_addresses(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test, www.example.test", "192.0.2.1", "2001:db8::1")
    await world.until_records(
        RECORD, ("shop", "AAAA", "2001:db8::1"), ("www", "A", "192.0.2.1"), ("www", "AAAA", "2001:db8::1")
    )


@pytest.mark.skipif(programs() is not None, reason="a real API takes no such hostname in a Service's status")
async def test_the_name_of_a_load_balancer_becomes_a_cname(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "LB-1.cloud.test.")
    await world.until_records(("shop", "CNAME", "lb-1.cloud.test"))


async def test_the_annotation_of_external_dns_is_read_as_external_dns_reads_it(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "Shop.example.test.", "192.0.2.1", annotation=LEGACY_ANNOTATION)
    await world.until_records(RECORD)
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "www.example.test"})
    await world.until_records(("www", "A", "192.0.2.1"))


async def test_addresses_and_hostnames_are_followed_until_the_service_goes(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test")
    await world.balance("shop", "192.0.2.1")
    await world.until_records(RECORD)
    await world.balance("shop", "192.0.2.2")
    await world.until_records(("shop", "A", "192.0.2.2"))
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: None})
    await world.until_records()
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "shop.example.test"})
    await world.until_records(("shop", "A", "192.0.2.2"))
    await world.client.delete(SERVICES, namespace=NAMESPACE, name="shop")
    await world.until_records()
    assert await world.endpoints() == {}


async def test_a_service_that_is_no_load_balancer_any_more_gives_its_names_up(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.until_records(RECORD)
    await world.client.patch_merge(SERVICES, {"spec": {"type": "ClusterIP"}}, namespace=NAMESPACE, name="shop")
    await world.until_records()


async def test_a_service_that_went_while_no_manager_ran_is_cleaned_up_after(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.until_records(RECORD)
    await world.stop_manager()
    await world.client.delete(SERVICES, namespace=NAMESPACE, name="shop")
    await world.start_manager()
    await world.until_records()


async def test_a_hostname_that_is_none_is_left_out_and_the_status_says_why(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test,bad_name.example.test", "192.0.2.1")
    await world.until_records(RECORD)
    await world.until_reason(SHOP.name, "bad_name.example.test", "False/InvalidHostname")
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "shop.example.test"})
    await world.until_reason(SHOP.name, "bad_name.example.test", "")


async def test_an_endpoint_of_somebody_else_stays_as_it_is(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint(SHOP.name, ["mine.example.test"])
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.service("other", "other.example.test", "192.0.2.2")
    await world.until_records(("mine", "A", "192.0.2.1"), ("other", "A", "192.0.2.2"))
    await world.client.delete(SERVICES, namespace=NAMESPACE, name="shop")
    await world.client.delete(SERVICES, namespace=NAMESPACE, name="other")
    await world.until_records(("mine", "A", "192.0.2.1"))


async def test_the_intent_to_retire_addresses_travels_with_the_endpoint(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.until_records(RECORD)
    await world.annotate(SERVICES, "shop", {RETIREMENT_ANNOTATION: "disabled"})

    async def travelled() -> bool:
        metadata = (await world.get(ENDPOINT_RECORD_SETS, SHOP.name))["metadata"]
        return bool(metadata.get("annotations", {}).get(RETIREMENT_ANNOTATION) == "disabled")

    await world.until(travelled)
    labels = (await world.get(ENDPOINT_RECORD_SETS, SHOP.name))["metadata"]["labels"]
    assert labels[MANAGED_BY_LABEL] == "dns-api-service"
    await world.annotate(SERVICES, "shop", {RETIREMENT_ANNOTATION: None})

    async def taken_back() -> bool:
        return not await travelled()

    await world.until(taken_back)


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (LEGACY_TARGET, "lb.elsewhere.test", "asks for another target"),
        (LEGACY_TARGET, "", "asks for another target"),
        (LEGACY_CONTROLLER, "somebody-else", "gives the Service to 'somebody-else'"),
    ],
)
async def test_what_external_dns_would_publish_otherwise_is_left_out_and_told(
    world: World, annotation: str, value: str, words: str
) -> None:
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "192.0.2.1", annotation=LEGACY_ANNOTATION)
    await world.until_records(RECORD)
    await world.annotate(SERVICES, "shop", {annotation: value})
    await world.until_records()

    async def told() -> bool:
        events = (await world.client.list(EVENTS, namespace=NAMESPACE)).items
        found = [each for each in events if each["reason"] == "EndpointHostnameLeftOut"]
        return any(
            each["involvedObject"]["name"] == "shop"
            and "shop.example.test" in each["message"]
            and words in each["message"]
            for each in found
        )

    await world.until(told)
    await world.annotate(SERVICES, "shop", {HOSTNAMES_ANNOTATION: "www.example.test"})
    await world.until_records(("www", "A", "192.0.2.1"))


async def test_what_is_meant_for_external_dns_by_name_is_read(world: World) -> None:
    await world.zone("zone", "example.test")
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    annotations = {LEGACY_ANNOTATION: "shop.example.test,.", LEGACY_CONTROLLER: "dns-controller"}
    await world.create(SERVICES, "shop", spec, annotations=annotations)
    await world.balance("shop", "192.0.2.1")
    await world.until_records(RECORD)
    await world.until_reason(SHOP.name, ".", "False/InvalidHostname")


async def test_an_endpoint_that_the_api_refused_is_tried_again_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controllers.apps.source.REFUSED_AGAIN_S", 0.2)
    gate = Gate(world, ENDPOINT_RECORD_SETS)
    await world.zone("zone", "example.test")
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.until(gate.was_asked)
    gate.open = True
    await world.until_records(RECORD)


async def test_a_name_that_somebody_else_gives_free_is_taken_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controllers.apps.source.REFUSED_AGAIN_S", 0.2)
    await world.zone("zone", "example.test")
    await world.endpoint(SHOP.name, ["mine.example.test"])
    await world.service("shop", "shop.example.test", "192.0.2.1")
    await world.until_records(("mine", "A", "192.0.2.1"))
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name=SHOP.name)
    await world.until_records(RECORD)
