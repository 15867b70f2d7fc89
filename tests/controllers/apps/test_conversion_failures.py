"""Every way in which a conversion can fail: its reason, and that nothing which is published is lost by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from controllers.api.endpoint import ENDPOINT_PROVIDER_CAPABILITIES, ENDPOINT_RECORD_SETS
from controllers.providers.hosted.endpoint import ENDPOINT as HOSTED
from kube.errors import BadRequest, Forbidden, KubeError, ResourceNotServed, ServerTimeout, Unauthorized, Unavailable
from tests.controllers.apps.conftest import NAMESPACE, Fault, World

UNAVAILABLE = "Unknown/EndpointRecordSetConversionUnavailable"
DENIED = "False/EndpointRecordSetConversionDenied"
INVALID = "False/EndpointRecordSetConversionInvalid"
FAILED = "False/EndpointRecordSetConversionFailed"
UNSUPPORTED = "False/EndpointRecordSetConversionUnsupported"
APP = ("app", "A", "192.0.2.1")
FRAGMENT: dict[str, Any] = {"type": "A", "name": "app", "ttl": 60, "a": {"addresses": ["192.0.2.1"]}}


def raising(error: KubeError) -> Fault:
    async def fault(question: Mapping[str, Any]) -> dict[str, Any]:
        raise error

    return fault


def answering(change: Callable[[dict[str, Any]], None]) -> Fault:
    """The right answer, spoilt by the change."""

    async def fault(question: Mapping[str, Any]) -> dict[str, Any]:
        status = {
            "uid": question["spec"]["uid"],
            "result": {"status": "Success"},
            "output": {"fragments": [dict(FRAGMENT)]},
        }
        change(status)
        return {**question, "status": status}

    return fault


async def silent(question: Mapping[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(60)
    raise AssertionError("nobody waits that long")


def uid(status: dict[str, Any]) -> None:
    status["uid"] = "another"


def no_status(status: dict[str, Any]) -> None:
    status.clear()


def nothing(status: dict[str, Any]) -> None:
    status["output"] = {"fragments": []}


def no_output(status: dict[str, Any]) -> None:
    del status["output"]


def with_fragment(**change: Any) -> Callable[[dict[str, Any]], None]:
    def spoil(status: dict[str, Any]) -> None:
        status["output"]["fragments"][0] |= change

    return spoil


def twice(status: dict[str, Any]) -> None:
    status["output"]["fragments"] *= 2


def failure(status: dict[str, Any]) -> None:
    status["result"] = {"status": "Failure", "reason": "UnknownAliasTarget", "message": "It is no load balancer."}
    del status["output"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(silent, UNAVAILABLE, id="timeout"),
        pytest.param(raising(Unavailable("down", code=503)), UNAVAILABLE, id="503"),
        pytest.param(raising(Unavailable("broken", code=500)), UNAVAILABLE, id="500"),
        pytest.param(raising(ServerTimeout("late", code=504)), UNAVAILABLE, id="504"),
        pytest.param(raising(Unavailable("no connection")), UNAVAILABLE, id="connection"),
        pytest.param(raising(ResourceNotServed("no such group", code=404)), UNAVAILABLE, id="discovery"),
        pytest.param(raising(Forbidden("rbac", code=403)), DENIED, id="403"),
        pytest.param(raising(Unauthorized("who", code=401)), DENIED, id="401"),
        pytest.param(raising(BadRequest("what", code=400)), INVALID, id="400"),
        pytest.param(answering(no_status), INVALID, id="malformed"),
        pytest.param(answering(uid), INVALID, id="uid"),
        pytest.param(answering(nothing), INVALID, id="no fragments"),
        pytest.param(answering(no_output), INVALID, id="no output"),
        pytest.param(answering(with_fragment(name="other")), INVALID, id="name"),
        pytest.param(answering(with_fragment(type="SRV")), INVALID, id="unknown type"),
        pytest.param(answering(with_fragment(type="MX")), INVALID, id="type that is not converted to"),
        pytest.param(answering(with_fragment(ttl=0)), INVALID, id="ttl"),
        pytest.param(answering(with_fragment(cname={"target": "x.test"})), INVALID, id="two bodies"),
        pytest.param(answering(with_fragment(a=None)), INVALID, id="no body"),
        pytest.param(answering(twice), INVALID, id="a type twice"),
        pytest.param(answering(failure), FAILED, id="failure"),
    ],
)
async def test_a_failure_has_its_reason(world: World, fault: Fault, reason: str) -> None:
    world.converting.fault = fault
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", reason)
    assert await world.records() == set()


async def test_a_failure_tells_what_the_provider_said(world: World) -> None:
    world.converting.fault = answering(failure)
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", FAILED)
    told = (await world.hostname("one", "app.example.test"))["conditions"][0]["message"]
    assert told == "UnknownAliasTarget: It is no load balancer."


async def test_without_a_capability_it_is_unsupported(world: World) -> None:
    await world.client.delete(ENDPOINT_PROVIDER_CAPABILITIES, name=HOSTED.capability()["metadata"]["name"])
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", UNSUPPORTED)
    await world.client.create(ENDPOINT_PROVIDER_CAPABILITIES, HOSTED.capability())
    await world.until_records(APP)


async def test_two_capabilities_for_one_provider_version_are_a_conflict(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    second = HOSTED.capability()
    second["metadata"]["name"] = "second"
    await world.client.create(ENDPOINT_PROVIDER_CAPABILITIES, second)
    await world.until_reason("one", "app.example.test", "False/EndpointProviderCapabilityConflict")
    assert await world.records() == {APP}
    await world.client.delete(ENDPOINT_PROVIDER_CAPABILITIES, name="second")
    await world.until_reason("one", "app.example.test", "True/Resolved")


@pytest.mark.parametrize("fault", [silent, raising(Unavailable("down", code=503)), raising(Forbidden("no", code=403))])
async def test_conversions_go_away_and_come_back_without_losing_records(world: World, fault: Fault) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", "True/Resolved")
    uids = {each["metadata"]["uid"] for each in (await all_record_sets(world))}
    world.converting.fault = fault
    spec = {"targets": [{"type": "IPAddress", "value": "192.0.2.9"}]}
    await world.client.patch_merge(ENDPOINT_RECORD_SETS, {"spec": spec}, namespace=NAMESPACE, name="one")

    async def in_doubt() -> bool:
        return not (await world.reason("one", "app.example.test")).startswith("True")

    await world.until(in_doubt)
    told = await world.hostname("one", "app.example.test")
    assert (await world.records(), len(told["recordSets"])) == ({APP}, 1)
    assert "stays as it is" in told["conditions"][0]["message"]
    world.converting.fault = None
    # What was denied is asked again by the minute only; whoever changes something need not wait.
    await world.annotate(ENDPOINT_RECORD_SETS, "one", {"asked": "again"})
    await world.until_records(("app", "A", "192.0.2.9"))
    assert {each["metadata"]["uid"] for each in (await all_record_sets(world))} == uids


async def test_an_api_that_is_away_is_not_asked_for_each_endpoint(world: World) -> None:
    world.converting.fault = silent
    await world.zone("zone", "example.test")
    for number in range(40):
        await world.endpoint(f"e{number}", [f"app{number}.example.test"])
    await world.until_reason("e39", "app39.example.test", UNAVAILABLE)
    assert world.converting.asked < 40
    world.converting.fault = None
    for number in range(40):
        await world.until_reason(f"e{number}", f"app{number}.example.test", "True/Resolved")


async def all_record_sets(world: World) -> list[dict[str, Any]]:
    from controllers.api.group import RECORD_SETS

    return (await world.client.list(RECORD_SETS)).items
