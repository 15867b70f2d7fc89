"""Waits until what `dns-api up` tells people to try really works. Patience has an end: a claim may never be Programmed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from controllers.api.group import RECORD_SETS, ZONES
from kube.client import Client
from kube.errors import NotFound
from kube.object import ObjectKey
from kube.resource import ResourceRef
from standalone.up.announcement import Example

PATIENCE_S: Final = 5.0
POLL_S: Final = 0.05


async def until_served(client: Client, shown: Example) -> None:
    """Wait until the example and its Zone are Programmed, or patience ends."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            for ref, key in ((RECORD_SETS, shown.record_set), (ZONES, shown.zone)):
                while not await _is_programmed(client, ref, key):  # noqa: ASYNC110 - only the API knows
                    await asyncio.sleep(POLL_S)
    except TimeoutError:
        return


async def _is_programmed(client: Client, ref: ResourceRef, key: ObjectKey) -> bool:
    try:
        claim = await client.get(ref, name=key.name, namespace=key.namespace)
    except NotFound:
        return False
    conditions: list[Mapping[str, Any]] = claim.get("status", {}).get("conditions", [])
    return any(
        each["type"] == "Programmed"
        and each["status"] == "True"
        and each.get("observedGeneration") == claim["metadata"]["generation"]
        for each in conditions
    )
