"""What `zone export` needs to know of a Zone, read from an API server.

Owns which objects belong together. Never writes, never interprets a spec beyond its references.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.api.connection import connect, run
from cli.api.refusal import CommandError
from cli.zone.manifest import Manifest
from cli.zone.membership import zone_of
from controllers.api.group import HOSTED_ZONES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.client import Client
from kube.errors import NotFound, ResourceNotServed
from kube.resource import ResourceRef


@dataclass(frozen=True, slots=True)
class ZoneQuery:
    """The Zone whose objects are wanted, and the API to ask, found as by every daily command when it is not named."""

    name: str
    namespace: str | None
    kubeconfig: Path | None
    context: str | None = None


def read_zone_objects(query: ZoneQuery) -> list[Manifest]:
    """Return the Zone, its RecordSets of every namespace, its ZoneClass and its HostedZone, those that exist.

    Ends the command with a message when the API cannot be asked or has no such Zone.
    """
    connection = connect(query.kubeconfig, query.context)
    found: list[Manifest] = []

    async def read(client: Client) -> int:
        try:
            found.extend(await gather(client, query.name, query.namespace or connection.namespace))
        except NotFound as error:
            raise CommandError(f"Zone {query.namespace or connection.namespace}/{query.name} does not exist") from error
        return 0

    run(connection, read)
    return found


async def gather(client: Client, name: str, namespace: str) -> list[Manifest]:
    """Return the objects of a Zone; raises KubeError, NotFound when there is no such Zone."""
    zone = await client.get(ZONES, name=name, namespace=namespace)
    reference = zone["spec"]["zoneClassRef"]
    zone_class = await _get_any(client, ZONE_CLASSES, reference["name"], reference.get("namespace", namespace))
    hosted = await _get_any(client, HOSTED_ZONES, name, namespace)
    listed = await client.list(RECORD_SETS)
    members = [each for each in listed.items if zone_of(each) == (namespace, name)]
    found = [(ZONES, zone), (ZONE_CLASSES, zone_class), (HOSTED_ZONES, hosted)] + [
        (RECORD_SETS, each) for each in members
    ]
    return [{**manifest, **_type(ref)} for ref, manifest in found if manifest is not None]


async def _get_any(client: Client, ref: ResourceRef, name: str, namespace: str) -> dict[str, Any] | None:
    try:
        return await client.get(ref, name=name, namespace=namespace)
    except (NotFound, ResourceNotServed):
        return None


def _type(ref: ResourceRef) -> dict[str, str]:
    """Objects of a list need not say what they are."""
    return {"apiVersion": ref.api_version, "kind": ref.kind}
