from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from kube.client import Client
from kube.discovery import Discovery
from kube.errors import ResourceNotServed
from kube.resource import ResourceRef
from tests.kube.fake_api import FakeApi, Request


def entry(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": True, "verbs": ["get", "list"], **more}


@pytest.fixture
def served(api: FakeApi) -> dict[str, Any]:
    """The discovery documents of the server, by path; a test may change them."""
    documents: dict[str, Any] = {
        "/apis": {
            "groups": [
                {"name": "x.io", "preferredVersion": {"groupVersion": "x.io/v1"}},
                {"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}},
            ]
        },
        "/api/v1": {"resources": [entry("configmaps", "ConfigMap", singularName="configmap", shortNames=["cm"])]},
        "/apis/apps/v1": {"resources": [entry("deployments", "Deployment"), entry("deployments/scale", "Scale")]},
        "/apis/x.io/v1": {"resources": [entry("things", "Thing", namespaced=False)]},
    }

    def answer(request: Request) -> web.Response:
        found = documents.get(request.path)
        return web.json_response(found) if found else web.Response(status=404, text="404 page not found\n")

    api.fault(answer)
    return documents


async def test_the_server_says_which_resource_a_kind_is(served: dict[str, Any], client: Client) -> None:
    discovery = Discovery(client)
    thing = await discovery.resource_of("x.io/v1", "Thing")
    assert thing == ResourceRef("x.io", "v1", "things", "Thing", namespaced=False)
    assert await discovery.resource_of("v1", "ConfigMap") == ResourceRef("", "v1", "configmaps", "ConfigMap")


async def test_a_kind_is_asked_for_again_when_it_was_not_there(
    api: FakeApi, served: dict[str, Any], client: Client
) -> None:
    discovery = Discovery(client)
    with pytest.raises(ResourceNotServed, match=r"kind 'Other' in 'x\.io/v1'"):
        await discovery.resource_of("x.io/v1", "Other")
    served["/apis/x.io/v1"]["resources"].append(entry("others", "Other"))
    assert (await discovery.resource_of("x.io/v1", "Other")).plural == "others"
    asked = len(api.requests)
    await discovery.resource_of("x.io/v1", "Other")
    assert len(api.requests) == asked


async def test_an_unknown_group_is_not_served(served: dict[str, Any], client: Client) -> None:
    with pytest.raises(ResourceNotServed, match=r"kind 'Thing' in 'y\.io/v1'"):
        await Discovery(client).resource_of("y.io/v1", "Thing")


async def test_the_versions_that_have_the_kind_are_named(served: dict[str, Any], client: Client) -> None:
    served["/apis/x.io"] = {"versions": [{"groupVersion": f"x.io/{version}"} for version in ("v2", "v1", "v0")]}
    served["/apis/x.io/v2"] = {"resources": [entry("others", "Other")]}
    with pytest.raises(ResourceNotServed) as refused:
        await Discovery(client).resource_of("x.io/v3", "Thing")
    assert refused.value.message == "the server does not serve kind 'Thing' in 'x.io/v3'; it serves it in 'x.io/v1'"


async def test_everything_is_listed_core_first_without_subresources(served: dict[str, Any], client: Client) -> None:
    del served["/apis/x.io/v1"]  # a group that went away meanwhile
    found = await Discovery(client).all_served()
    assert [resource.ref.plural for resource in found] == ["configmaps", "deployments"]
    assert list(found[0].names()) == ["configmaps", "configmap", "configmap", "cm"]
    assert found[0].verbs == {"get", "list"}
    assert "deployments.apps" in list(found[1].names())
