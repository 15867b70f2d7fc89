"""A name server as the provider sees one: it follows HostedZones and applies its own entry to their status.

Holds snapshots to the rules that the real server holds them to, but answers no query.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controllers.api.group import ENDPOINT_SLICES, HOSTED_ZONES
from kube.client import Client
from kube.errors import NotFound
from kube.informer import Informer
from kube.object import ObjectKey
from kube.store import Change
from zonemodel.hosted_zone import HostedZoneSpec, Page
from zonemodel.snapshot import Snapshot, SnapshotError, assemble


@dataclass(frozen=True)
class Seen:
    """One HostedZone with everything in it."""

    generation: int
    spec: HostedZoneSpec


def parse_seen(obj: Mapping[str, Any]) -> Seen:
    return Seen(obj["metadata"]["generation"], HostedZoneSpec.model_validate(obj["spec"]))


@dataclass
class FakeNameServer:
    """Serves every HostedZone unless paused; `refusal` is what it says of snapshots that it is to reject."""

    client: Client
    name: str
    served: dict[ObjectKey, Snapshot] = field(default_factory=dict)
    serials: list[int] = field(default_factory=list)
    paused: bool = False
    refusal: str = ""
    reports: int = 0

    def __post_init__(self) -> None:
        self.informer = Informer(self.client, HOSTED_ZONES, parse_seen)
        self._wake = asyncio.Event()
        self._reported: dict[ObjectKey, tuple[int, str]] = {}

    async def run(self) -> None:
        self.informer.subscribe(self._note)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.informer.run())
            while True:
                await self._wake.wait()
                self._wake.clear()
                if not self.paused:
                    await self._follow()

    def resume(self) -> None:
        self.paused = False
        self._wake.set()

    def records(self, key: ObjectKey) -> dict[tuple[str, str], Any]:
        """What is served of a zone, by owner name and type."""
        snapshot = self.served.get(key)
        return {(each.name, each.type): each for each in snapshot.record_sets} if snapshot is not None else {}

    def _note(self, change: Change[Seen]) -> None:
        self._wake.set()

    async def _follow(self) -> None:
        zones = {key: seen for key, seen in self.informer.items() if seen.spec.page is None}
        for key in self.served.keys() - zones.keys():
            del self.served[key]
            self._reported.pop(key, None)
        for key, seen in zones.items():
            if self._reported.get(key) != (seen.generation, self.refusal):
                await self._take(key, seen)

    async def _take(self, key: ObjectKey, seen: Seen) -> None:
        before = self.served.get(key)
        refusal = self.refusal
        try:
            snapshot = None if refusal else assemble(seen.spec, self._pages(key))
        except SnapshotError as error:
            snapshot, refusal = None, str(error)
        if isinstance(snapshot, Snapshot):
            self.served[key] = before = snapshot
            self.serials.append(snapshot.serial)
        elif not refusal:
            return
        entry = {
            "name": self.name,
            "observedGeneration": seen.generation,
            "serial": before.serial if before is not None else 0,
            "digest": before.digest if before is not None else "",
            "state": "Rejected" if refusal else "Serving",
            "message": refusal,
            "lastTransitionTime": "2024-05-01T00:00:00Z",
        }
        body = {
            "apiVersion": HOSTED_ZONES.api_version,
            "kind": HOSTED_ZONES.kind,
            "metadata": {"namespace": key.namespace, "name": key.name},
            "status": {"servers": [entry]},
        }
        self._reported[key] = seen.generation, self.refusal
        self.reports += 1
        try:
            await self.client.apply(HOSTED_ZONES, body, manager=self.name, force=True, subresource="status")
        except NotFound:
            return

    def _pages(self, key: ObjectKey) -> dict[str, Page]:
        return {
            other.name: seen.spec.page
            for other, seen in self.informer.items()
            if seen.spec.page is not None and other.namespace == key.namespace
        }


async def announce(client: Client, namespace: str, service: str, ready: Mapping[str, bool]) -> None:
    """Write the EndpointSlice of the server Service: name of each server and whether it is ready."""
    endpoints = [
        {
            "addresses": [f"192.0.2.{number}"],
            "conditions": {"ready": is_ready},
            "targetRef": {"kind": "Pod", "namespace": namespace, "name": name},
        }
        for number, (name, is_ready) in enumerate(ready.items(), 1)
    ]
    body = {
        "apiVersion": ENDPOINT_SLICES.api_version,
        "kind": ENDPOINT_SLICES.kind,
        "metadata": {
            "namespace": namespace,
            "name": f"{service}-abcde",
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"name": "dns", "port": 53, "protocol": "UDP"}],
    }
    await client.apply(ENDPOINT_SLICES, body, manager="endpointslice-controller", force=True)
