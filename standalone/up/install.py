"""What an installation puts into the API before anything runs: definitions, Providers, its namespace, its name server's endpoint.

Owns the order: objects of a kind are applied once its definition is established. Applying again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from controllers.api.group import ENDPOINT_SLICES, NAMESPACES
from controllers.manifests import manifests
from kube.client import Client
from kube.discovery import Discovery
from kube.resource import ResourceRef
from standalone.up.config import FIELD_MANAGER, SERVER_NAME, SERVER_SERVICE, SYSTEM_NAMESPACE

DEFINITIONS: Final = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
ESTABLISHED_POLL_S: Final = 0.02
ESTABLISHED_TIMEOUT_S: Final = 30.0


async def install(client: Client) -> None:
    """Apply everything; raises KubeError when the API refuses, TimeoutError when a definition is not established in time."""
    discovery = Discovery(client)
    rest = []
    for manifest in manifests():
        if manifest["kind"] == DEFINITIONS.kind:
            await client.apply(DEFINITIONS, dict(manifest), manager=FIELD_MANAGER, force=True)
        else:
            rest.append(manifest)
    await _until_established(client)
    await _ensure_namespace(client)
    for manifest in rest:
        ref = await discovery.resource_of(manifest["apiVersion"], manifest["kind"])
        await client.apply(ref, dict(manifest), manager=FIELD_MANAGER, force=True)


async def announce_server(client: Client, address: str, port: int) -> None:
    """Publish this process's name server as the ready endpoint of the server Service, as a cluster would."""
    family = "IPv6" if ":" in address else "IPv4"
    endpoint = {
        "addresses": [address],
        "conditions": {"ready": True},
        "targetRef": {"kind": "Pod", "namespace": SYSTEM_NAMESPACE, "name": SERVER_NAME},
    }
    ports = [{"name": "dns", "port": port, "protocol": "UDP"}, {"name": "dns-tcp", "port": port, "protocol": "TCP"}]
    slice_ = {
        "apiVersion": ENDPOINT_SLICES.api_version,
        "kind": ENDPOINT_SLICES.kind,
        "metadata": {
            "namespace": SYSTEM_NAMESPACE,
            "name": SERVER_SERVICE,
            "labels": {"kubernetes.io/service-name": SERVER_SERVICE},
        },
        "addressType": family,
        "endpoints": [endpoint],
        "ports": ports,
    }
    await client.apply(ENDPOINT_SLICES, slice_, manager=FIELD_MANAGER, force=True)


async def _ensure_namespace(client: Client) -> None:
    namespace = {
        "apiVersion": NAMESPACES.api_version,
        "kind": NAMESPACES.kind,
        "metadata": {"name": SYSTEM_NAMESPACE},
    }
    await client.apply(NAMESPACES, namespace, manager=FIELD_MANAGER, force=True)


async def _until_established(client: Client) -> None:
    async with asyncio.timeout(ESTABLISHED_TIMEOUT_S):
        while not all(map(_is_established, (await client.list(DEFINITIONS)).items)):  # noqa: ASYNC110 - only the API knows
            await asyncio.sleep(ESTABLISHED_POLL_S)


def _is_established(definition: Mapping[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or ()  # null at first, as kube-apiserver says it
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
