"""A world whose provider writes into a notebook: with zone classes whose zones are provided at once, once there is a pen, and never."""

from __future__ import annotations

from typing import Any

from controllers.api.endpoint import ENDPOINT_RECORD_SETS
from controllers.api.group import API_VERSION, RECORD_SETS, ZONE_CLASSES, ZONES
from tests.controllers.apps.conftest import NAMESPACE, NOTEBOOK, World
from tests.controllers.ledger.notebook import BINDING, PENS

PROVIDER = NOTEBOOK.provider.dump()
READY, UNREADY, CLOSED = {"name": "ready"}, {"name": "unready"}, {"name": "closed", "namespace": "elsewhere"}


class Shelf(World):
    """A world with zone classes whose zones are provided at once, once there is a pen, and never."""

    async def __aenter__(self) -> Shelf:
        await super().__aenter__()
        await self.namespace("elsewhere")
        await self.zone_class("ready", pen="pen")
        await self.zone_class("unready", pen="later")
        await self.zone_class("closed", pen="pen", namespace="elsewhere")
        await self.pen("pen")
        await self.pen("pen", namespace="elsewhere")
        return self

    async def zone_class(self, name: str, pen: str, namespace: str = NAMESPACE) -> None:
        spec = {"provider": PROVIDER, "controllerName": BINDING.controller_name, "identityRef": {"name": pen}}
        await self.create(ZONE_CLASSES, name, {**spec, "parameters": {}}, namespace, API_VERSION)

    async def pen(self, name: str, namespace: str = NAMESPACE) -> None:
        await self.create(PENS, name, {"colour": "blue"}, namespace)

    async def page(self, name: str, domain: str, zone_class: dict[str, str]) -> None:
        await self.zone(name, domain, provider=PROVIDER, zone_class=zone_class)

    async def accept(self, kind: str, name: str) -> None:
        """Wait until a Zone has been accepted (True) or refused (False)."""

        async def judged() -> bool:
            found = (await self.get(ZONES, name)).get("status", {}).get("conditions", ())
            return any((each["type"], each["status"]) == ("Accepted", kind) for each in found)

        await self.until(judged)

    async def until_programmed(self, name: str) -> None:
        async def programmed() -> bool:
            return name in {each["spec"]["name"] for each in await self.made() if is_programmed(each)}

        await self.until(programmed)

    async def until_conflict(self) -> None:
        """Wait until one of two RecordSets of a name has been told that the other one has it."""

        async def conflict() -> bool:
            found = [each for one in await self.made() for each in one.get("status", {}).get("conditions", ())]
            return "RecordSetConflict" in {each["reason"] for each in found}

        await self.until(conflict)

    async def made(self) -> list[dict[str, Any]]:
        return list((await self.client.list(RECORD_SETS)).items)

    async def let_class_in(self, origin: str) -> None:
        spec = {"allowedZones": {"namespaces": {"from": origin}}}
        await self.client.patch_merge(ZONE_CLASSES, {"spec": spec}, namespace="elsewhere", name="closed")

    async def retarget(self, *addresses: str) -> None:
        spec = {"targets": [{"type": "IPAddress", "value": each} for each in addresses]}
        await self.client.patch_merge(ENDPOINT_RECORD_SETS, {"spec": spec}, namespace=NAMESPACE, name="one")


def is_programmed(record_set: dict[str, Any]) -> bool:
    found = record_set.get("status", {}).get("conditions", ())
    return any((each["type"], each["status"]) == ("Programmed", "True") for each in found)
