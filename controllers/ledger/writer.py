"""What a provider writes to a ledger: its finalizer and the status of each part.

Owns the form of each write and what its failure means. Every write names the state that it replaces; a state that has moved on is
raised as Conflict, and the zone is looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.api.group import PROVIDER_FINALIZER, ZONE_UNITS
from controllers.api.patch import Operation, guard
from controllers.api.zone_unit import ZoneUnit
from kube.client import Client
from kube.errors import Conflict, Invalid, NotFound
from kube.object import ObjectKey
from kube.resource import ResourceRef

FINALIZERS: Final = "/metadata/finalizers"
DUPLICATE: Final = "FieldValueDuplicate"
"""The CauseType of what is in a list twice."""


class UnitWriter:
    """Writes through one client; raises KubeError."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def hold(self, unit: ZoneUnit) -> str:
        """Put the provider's finalizer on a part; returns its new resourceVersion."""
        finalizers = list(unit.meta.finalizers)
        if finalizers:
            operations: list[Operation] = [
                {"op": "test", "path": FINALIZERS, "value": finalizers},
                {"op": "add", "path": f"{FINALIZERS}/-", "value": PROVIDER_FINALIZER},
            ]
        else:
            operations = [
                guard(unit.meta.resource_version),
                {"op": "add", "path": FINALIZERS, "value": [PROVIDER_FINALIZER]},
            ]
        return _version(await patch(self._client, ZONE_UNITS, unit.key, operations))

    async def release(self, unit: ZoneUnit) -> None:
        """Take the provider's finalizer off a part."""
        at = f"{FINALIZERS}/{unit.meta.finalizers.index(PROVIDER_FINALIZER)}"
        operations = [{"op": "test", "path": at, "value": PROVIDER_FINALIZER}, {"op": "remove", "path": at}]
        try:
            await patch(self._client, ZONE_UNITS, unit.key, operations)
        except NotFound:
            return

    async def write_status(self, unit: ZoneUnit, operations: Sequence[Operation]) -> str | None:
        """Patch a part's status; returns its new resourceVersion, None when the part is gone."""
        try:
            return _version(await patch(self._client, ZONE_UNITS, unit.key, operations, "status"))
        except NotFound:
            return None


async def patch(
    client: Client, ref: ResourceRef, key: ObjectKey, operations: Sequence[Operation], subresource: str | None = None
) -> dict[str, Any]:
    """Patch an object and return it as it is now. Raises Conflict when it is not what was patched; KubeError."""
    try:
        return await client.patch_json(ref, operations, name=key.name, namespace=key.namespace, subresource=subresource)
    except Invalid as error:
        # A refused object has its faults as causes; a failed `test` operation has none. An entry that is there twice was added by a
        # view that had missed its first addition: nobody puts one there twice on purpose.
        if any(each.reason != DUPLICATE for each in error.causes):
            raise
        raise Conflict(error.message, code=error.code, reason=error.reason) from error


def _version(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["resourceVersion"])
