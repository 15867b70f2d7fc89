"""What `zone export` needs to know of a Zone, read from an API server.

Owns which objects belong together. Never writes, never interprets a spec beyond its references.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.zone.manifest import Manifest, ManifestError
from controllers.api.group import HOSTED_ZONES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.client import Client
from kube.errors import KubeError, NotFound, ResourceNotServed
from kube.resource import ResourceRef

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class ZoneQuery:
    """The Zone whose objects are wanted, and the configuration of the API to ask, as `kubectl` finds it when absent."""

    name: str
    namespace: str | None
    kubeconfig: Path | None


def read_zone_objects(query: ZoneQuery) -> list[Manifest]:
    """Return the Zone, its RecordSets of every namespace, its ZoneClass and its HostedZone, those that exist.

    Raises ManifestError when the API cannot be asked or has no such Zone.
    """
    from kube.config import (
        connect,  # takes as long to import as everything else of `zone` together, and import needs none of it
    )

    async def read() -> list[Manifest]:
        async with connect(query.kubeconfig, field_manager="dns-api-zone") as client:
            return await gather(client, query.name, query.namespace or DEFAULT_NAMESPACE)

    try:
        return asyncio.run(read())
    except KubeError as error:
        raise ManifestError(f"cannot read the Zone {query.name} from the API: {error.message}") from error


async def gather(client: Client, name: str, namespace: str) -> list[Manifest]:
    """Return the objects of a Zone; raises KubeError, NotFound when there is no such Zone."""
    zone = await client.get(ZONES, name=name, namespace=namespace)
    reference = zone["spec"]["zoneClassRef"]
    zone_class = await _get_any(client, ZONE_CLASSES, reference["name"], reference.get("namespace", namespace))
    hosted = await _get_any(client, HOSTED_ZONES, name, namespace)
    listed = await client.list(RECORD_SETS)
    members = [each for each in listed.items if _refers_to(each, name, namespace)]
    found = [(ZONES, zone), (ZONE_CLASSES, zone_class), (HOSTED_ZONES, hosted)] + [
        (RECORD_SETS, each) for each in members
    ]
    return [{**manifest, **_type(ref)} for ref, manifest in found if manifest is not None]


async def _get_any(client: Client, ref: ResourceRef, name: str, namespace: str) -> dict[str, Any] | None:
    try:
        return await client.get(ref, name=name, namespace=namespace)
    except (NotFound, ResourceNotServed):
        return None


def _refers_to(record_set: Manifest, name: str, namespace: str) -> bool:
    reference = record_set["spec"]["zoneRef"]
    target = reference.get("namespace", record_set["metadata"]["namespace"]), reference["name"]
    return target == (namespace, name)


def _type(ref: ResourceRef) -> dict[str, str]:
    """Objects of a list need not say what they are."""
    return {"apiVersion": ref.api_version, "kind": ref.kind}
