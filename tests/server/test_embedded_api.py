"""A name server against the embedded API server: the fake of the other tests is held to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube.access import Access
from kube.client import Client
from kube.resource import ResourceRef
from server.app import NameServer
from server.config import ServerConfig
from server.hosted.object import HOSTED_ZONES
from standalone.apiserver.server import ApiServer
from tests.server.hosted_api import NAMESPACE, a, manifest, paged
from tests.server.process import ROOT
from tests.server.running import ANY_PORT, becomes, running, until

NAMESPACES = ResourceRef("", "v1", "namespaces", "Namespace", namespaced=False)
DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
DEFINITION_FILE = ROOT / "crds" / "hostedzones.hosted.dns.appthrust.io.yaml"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a server that serves HostedZones."""
    definition = yaml.safe_load(DEFINITION_FILE.read_text())
    async with ApiServer(tmp_path / "api") as api, Client(Access(api.url), field_manager="manager") as opened:
        await opened.create(DEFINITIONS, definition)
        await opened.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield opened


def following(client: Client, name: str) -> Any:
    return running(ServerConfig((ANY_PORT,), name=name, client=client))


async def entries(client: Client, name: str) -> dict[str, Any]:
    obj = await client.get(HOSTED_ZONES, namespace=NAMESPACE, name=name)
    return {entry["name"]: entry for entry in obj.get("status", {}).get("servers", ())}


async def put(client: Client, obj: dict[str, Any]) -> None:
    """Write spec as the manager does."""
    metadata = {key: value for key, value in obj["metadata"].items() if key in {"namespace", "name"}}
    await client.apply(HOSTED_ZONES, {**obj, "metadata": metadata}, manager="manager", force=True)


async def reported(client: Client, name: str, servers: set[str], serial: int) -> None:
    async def look() -> bool:
        found = await entries(client, name)
        return found.keys() == servers and all(entry["serial"] == serial for entry in found.values())

    await until(look, f"serial {serial} reported by {sorted(servers)}")


async def test_two_servers_serve_and_report_side_by_side(client: Client) -> None:
    await put(client, manifest("shop", a("www", "192.0.2.1")))
    async with following(client, "pod-a") as first, following(client, "pod-b") as second:
        for server in (first, second):
            await becomes(server, "www.shop.example", ["192.0.2.1"])
        await reported(client, "shop", {"pod-a", "pod-b"}, 1)
        await put(client, manifest("shop", a("www", "192.0.2.2"), serial=2))
        for server in (first, second):
            await becomes(server, "www.shop.example", ["192.0.2.2"])
        await reported(client, "shop", {"pod-a", "pod-b"}, 2)
        await _stays_as_it_is(client, "shop", first)


async def _stays_as_it_is(client: Client, name: str, server: NameServer) -> None:
    """Once all is said, nobody writes: another zone's whole life passes without a change here."""
    before = (await client.get(HOSTED_ZONES, namespace=NAMESPACE, name=name))["metadata"]["resourceVersion"]
    await put(client, manifest("marker", a("www", "192.0.2.9")))
    await becomes(server, "www.marker.example", ["192.0.2.9"])
    await client.delete(HOSTED_ZONES, namespace=NAMESPACE, name="marker")
    await becomes(server, "www.marker.example", "REFUSED")
    after = (await client.get(HOSTED_ZONES, namespace=NAMESPACE, name=name))["metadata"]["resourceVersion"]
    assert after == before


async def test_pages_and_a_rejection(client: Client) -> None:
    whole, pages = paged("large", *(a(f"host-{number}", "192.0.2.7") for number in range(60)), count=3)
    for obj in (*pages, whole):
        await put(client, obj)
    async with following(client, "pod-a") as server:
        await becomes(server, "host-59.large.example", ["192.0.2.7"])
        await put(client, manifest("shop", a("www", "192.0.2.1"), digest="sha256:" + "0" * 64))

        async def rejected() -> bool:
            return bool((await entries(client, "shop")).get("pod-a", {}).get("state") == "Rejected")

        await until(rejected, "the rejection reported")


async def test_the_entry_of_a_gone_server_is_removed(client: Client) -> None:
    await put(client, manifest("shop", a("www", "192.0.2.1")))
    gone = {
        "name": "gone",
        "observedGeneration": 1,
        "serial": 1,
        "digest": "sha256:" + "1" * 64,
        "state": "Serving",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    await client.apply(
        HOSTED_ZONES,
        {
            "apiVersion": HOSTED_ZONES.api_version,
            "kind": HOSTED_ZONES.kind,
            "metadata": {"namespace": NAMESPACE, "name": "shop"},
            "status": {"servers": [gone]},
        },
        manager="dns-api-server-gone",
        subresource="status",
    )
    async with following(client, "pod-a"):
        await reported(client, "shop", {"pod-a"}, 1)
