"""Resources whose objects are answered at their creation: served like any other, stored nowhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kube.access import Access
from kube.client import Client
from kube.discovery import Discovery
from kube.errors import BadRequest, Invalid, KubeError, ResourceNotServed
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer

SUMS = ResourceRef("sums.test", "v1", "sums", "Sum", namespaced=False)
SCHEMA = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["terms"],
            "properties": {"terms": {"type": "array", "minItems": 1, "items": {"type": "integer"}}},
        },
        "status": {"type": "object", "properties": {"sum": {"type": "integer"}}},
    },
}


def add(obj: Mapping[str, Any]) -> dict[str, Any]:
    total = sum(obj["spec"]["terms"])
    if total > 100:
        raise ValueError(f"found a sum of {total}, allowed are sums up to 100")
    return {**obj, "status": {"sum": total}}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with ApiServer(tmp_path) as server, Client(Access(server.url)) as client:
        server.register_answered(SUMS.group, SUMS.version, SUMS.plural, SUMS.kind, SCHEMA, add)
        yield client


def question(*terms: int, **more: Any) -> dict[str, Any]:
    return {"apiVersion": SUMS.api_version, "kind": SUMS.kind, "metadata": {}, "spec": {"terms": list(terms)}, **more}


async def test_an_object_is_answered_and_not_stored(client: Client) -> None:
    before = (await client.read("/api/v1/namespaces"))["metadata"]["resourceVersion"]
    assert (await client.create(SUMS, question(1, 2)))["status"] == {"sum": 3}
    assert (await client.read("/api/v1/namespaces"))["metadata"]["resourceVersion"] == before


async def test_it_can_be_created_only(client: Client) -> None:
    with pytest.raises(KubeError) as refused:
        await client.list(SUMS)
    assert refused.value.code == 405
    with pytest.raises(KubeError) as refused:
        await client.get(SUMS, name="one")
    assert refused.value.code == 405


async def test_discovery_and_openapi_tell_of_it(client: Client) -> None:
    assert await Discovery(client).resource_of(SUMS.api_version, SUMS.kind) == SUMS
    document = await client.read("/openapi/v3/apis/sums.test/v1")
    assert set(document["paths"]["/apis/sums.test/v1/sums"]) >= {"post"}


async def test_what_is_wrong_is_named(client: Client) -> None:
    with pytest.raises(Invalid) as refused:
        await client.create(SUMS, question())
    assert [each.field for each in refused.value.causes] == ["spec.terms"]
    with pytest.raises(Invalid) as refused:
        await client.create(SUMS, question(99, 2))
    assert "a sum of 101" in refused.value.message
    with pytest.raises(BadRequest):
        await client.create(SUMS, {**question(1), "apiVersion": "sums.test/v2"})


async def test_what_is_not_registered_is_not_served(client: Client) -> None:
    with pytest.raises(ResourceNotServed):
        await client.create(ResourceRef("sums.test", "v1", "others", "Other", namespaced=False), question(1))
