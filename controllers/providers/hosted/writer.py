"""What the provider writes beside the ledgers: HostedZone objects.

Owns the form of each write and what its failure means. Every write names the state that it replaces; a state that has moved on is
raised as Conflict, and the zone is looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from controllers.api.group import HOSTED_ZONES, ZONE_UNITS
from controllers.api.patch import Operation, guard
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.writer import patch
from controllers.providers.hosted.hosted_object import HostedObject, Manifest, PageObject, parse_hosted_object
from controllers.providers.hosted.layout import Layout, PagePlan
from kube.client import Client
from kube.errors import AlreadyExists, Conflict, KubeError, NotFound
from kube.object import ObjectKey, ObjectMeta
from zonemodel.hosted_zone import PageRef, Source


class HostedWriter:
    """Writes through one client; raises KubeError."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def fetch(self, key: ObjectKey) -> dict[str, Any]:
        """Return a whole HostedZone. Raises NotFound."""
        return await self._client.get(HOSTED_ZONES, name=key.name, namespace=key.namespace)

    async def create_page(self, key: ObjectKey, owner: ZoneUnit, page: PagePlan) -> ObjectMeta:
        """Create a page. A page's name is made of its digest, so one that exists already is the same; raises KubeError when not."""
        spec = {
            "page": {
                "zone": key.name,
                "digest": page.digest,
                "recordSets": [orjson.Fragment(line.json) for line in page.lines],
            }
        }
        try:
            obj = await self._client.create(HOSTED_ZONES, _manifest(key.namespace, page.name, owner, spec))
        except AlreadyExists:
            obj = await self.fetch(ObjectKey(key.namespace, page.name))
            found = parse_hosted_object(obj)
            if not isinstance(found, PageObject) or found.digest != page.digest:
                raise _in_the_way(found) from None
        return ObjectMeta.parse(obj)

    async def publish(
        self, key: ObjectKey, owner: ZoneUnit, layout: Layout, serial: int, before: Manifest | None
    ) -> Manifest:
        """Commit a snapshot whose pages are there, in place of `before`; returns the manifest as it is now."""
        spec = _spec(owner, layout, serial)
        if before is None:
            obj = await self._create_manifest(key, _manifest(key.namespace, key.name, owner, spec))
        else:
            try:
                obj = await patch(self._client, HOSTED_ZONES, key, _replacement(before, owner, spec))
            except NotFound as error:
                raise Conflict(error.message, code=error.code, reason=error.reason) from error
        found = parse_hosted_object(obj)
        assert isinstance(found, Manifest), "its spec has no page"
        return found

    async def _create_manifest(self, key: ObjectKey, manifest: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await self._client.create(HOSTED_ZONES, manifest)
        except AlreadyExists:
            found = parse_hosted_object(await self.fetch(key))
            if isinstance(found, Manifest):
                raise
            raise _in_the_way(found) from None

    async def delete(self, meta: ObjectMeta) -> None:
        """Delete a HostedZone; one that is gone already, or is another one by now, is left alone."""
        try:
            await self._client.delete(HOSTED_ZONES, name=meta.name, namespace=meta.namespace, uid=meta.uid)
        except (NotFound, Conflict):
            return


def _in_the_way(found: HostedObject) -> KubeError:
    kind = f"a page of {found.zone_key}" if isinstance(found, PageObject) else f"the snapshot of {found.zone_key}"
    return KubeError(f"HostedZone {found.meta.key} is in the way: it is {kind}")


def _manifest(namespace: str, name: str, owner: ZoneUnit, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": HOSTED_ZONES.api_version,
        "kind": HOSTED_ZONES.kind,
        "metadata": {"namespace": namespace, "name": name, "ownerReferences": [_owner_reference(owner)]},
        "spec": spec,
    }


def _owner_reference(owner: ZoneUnit) -> dict[str, Any]:
    return {
        "apiVersion": ZONE_UNITS.api_version,
        "kind": ZONE_UNITS.kind,
        "name": owner.meta.name,
        "uid": owner.meta.uid,
        "controller": True,
    }


def _spec(owner: ZoneUnit, layout: Layout, serial: int) -> dict[str, Any]:
    head = layout.head
    spec: dict[str, Any] = {
        "domainName": head.domain_name,
        "source": Source(name=owner.meta.name, uid=owner.meta.uid, generation=owner.meta.generation).dump(),
        "serial": serial,
        "soa": head.soa.dump(),
        "nameServers": [server.dump() for server in head.name_servers],
        "transfer": head.transfer.dump(),
        "digest": layout.digest,
    }
    if layout.page_count:
        spec["pages"] = [PageRef(name=page.name, digest=page.digest).dump() for page in layout.pages]
    else:
        spec["recordSets"] = [orjson.Fragment(line.json) for line in layout.inline]
    return spec


def _replacement(before: Manifest, owner: ZoneUnit, spec: Mapping[str, Any]) -> list[Operation]:
    """The servers' reports move the resourceVersion but are nothing to us, so the snapshot itself is what is tested."""
    operations: list[Operation] = [{"op": "test", "path": "/metadata/uid", "value": before.meta.uid}]
    if before.spec.digest is None or before.spec.serial is None:  # somebody else's attempt at a manifest
        operations = [guard(before.meta.resource_version)]
    else:
        operations.append({"op": "test", "path": "/spec/digest", "value": before.spec.digest})
        operations.append({"op": "test", "path": "/spec/serial", "value": before.spec.serial})
    operations.append({"op": "replace", "path": "/spec", "value": spec})
    if owner.meta.uid not in before.meta.owner_uids:
        operations.append({"op": "add", "path": "/metadata/ownerReferences", "value": [_owner_reference(owner)]})
    return operations
