"""A Provider of the test's own, whose controller the test plays itself, over the API as any controller would.

Owns its contract's versions and what that controller writes: statuses of ZoneClasses and of ZoneUnits.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from controllers.api.group import PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from tests.product.claim import ZONE, ZONE_CLASS, Claim, manifest
from tests.product.stage import Object, Stage

NOW = "2026-01-01T00:00:00Z"
ABOUT = "What a test needs."
TYPES = ["A", "TXT"]
IDENTITY = {"resource": {"group": "contract.test", "kind": "Account"}}
BUNDLE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n").decode()
NOBODY = {
    "clientConfig": {"service": {"namespace": "contract-test", "name": "nobody"}, "caBundle": BUNDLE},
    "timeoutSeconds": 1,
}

Told = tuple[str, str, str]
"""A condition's type, status and reason."""


def version(name: str = "v1", *, storage: bool = True, **parts: Any) -> Object:
    """A version of a contract; `parts` replace or add parts of it."""
    return {"name": name, "served": True, "storage": storage, "recordSet": {"supportedTypes": TYPES}, **parts}


def payload(**properties: Mapping[str, Any]) -> Object:
    """A schema of an opaque payload."""
    described = {name: {"description": ABOUT, **each} for name, each in properties.items()}
    return {"openAPIV3Schema": {"type": "object", "description": ABOUT, "properties": described}}


def texts_of_one_version(kind: str, field: str, to_storage: Object) -> list[Object]:
    """Two versions, of which the storage version knows other values of the payload's field `mode` than the one before."""
    others: Object = {"supportedTypes": TYPES} if kind == "recordSet" else {}
    old, new = ({"schemas": {field: payload(mode={"type": "string", "enum": [mode]})}, **others} for mode in ("a", "b"))
    converted = {**old, "conversion": {"toStorage": to_storage}}
    return [{**version(storage=False), kind: converted}, {**version("v2"), kind: new}]


@dataclass(frozen=True, slots=True)
class OtherProvider:
    """The Provider of one stage."""

    stage: Stage

    @property
    def name(self) -> str:
        return f"{self.stage.namespace}.contract.test"

    async def install(self, *versions: Object) -> None:
        """Apply the Provider; without versions it has one, which says little."""
        spec = {"display": {"name": "Contract"}, "versions": list(versions or [version()])}
        obj = {"apiVersion": PROVIDERS.api_version, "kind": "Provider", "metadata": {"name": self.name}, "spec": spec}
        await self.stage.client.apply(PROVIDERS, obj, manager="test", force=True)

    async def uninstall(self) -> None:
        await self.stage.client.delete(PROVIDERS, name=self.name)

    async def apply_class(self, **spec: Any) -> None:
        own = {"provider": self._ref(), "controllerName": f"{self.name}/controller"}
        await self.stage.apply(manifest("ZoneClass", ZONE_CLASS, {**own, **spec}))

    async def apply_zone(self, **spec: Any) -> None:
        own = {"domainName": self.stage.domain, "zoneClassRef": {"name": ZONE_CLASS}, "provider": self._ref()}
        await self.stage.apply(manifest("Zone", ZONE, {**own, **spec}))

    async def apply_record_set(self, each: Claim, **spec: Any) -> None:
        found = each.manifest()
        found["spec"] |= {"provider": self._ref(), **spec}
        await self.stage.apply(found)

    async def judge_class(self, status: str = "True", reason: str = "Accepted") -> None:
        """Write what the ZoneClass's controller says of it."""
        found = await self.stage.until_there(ZONE_CLASSES, ZONE_CLASS, lambda _: True)
        generation = found["metadata"]["generation"]
        told = {"observedGeneration": generation, "conditions": _conditions([("Accepted", status, reason)], generation)}
        await self._write(ZONE_CLASSES, ZONE_CLASS, told)

    async def set_up(self, *claims: Claim) -> None:
        """Have a Zone and its claims in the ledger; the provider has not said a word yet."""
        await self.install()
        await self.apply_class()
        await self.judge_class()
        await self.apply_zone()
        for each in claims:
            await self.apply_record_set(each)
        await self.stage.until_there(ZONE_UNITS, ZONE, lambda unit: len(_items(unit)) == len(claims))

    async def say(self, zone: Iterable[Told] = (), records: Iterable[Told] = ()) -> None:
        """Write results into the ledger: these for the zone, those for each of its records."""
        unit = await self.stage.until_there(ZONE_UNITS, ZONE, lambda _: True)
        results = [
            {
                "recordSetNamespace": item["recordSetNamespace"],
                "recordSetName": item["recordSetName"],
                "observedGeneration": item["observedGeneration"],
                "conditions": _conditions(records, item["observedGeneration"]),
            }
            for item in _items(unit)
        ]
        told = {
            "observedGeneration": unit["metadata"]["generation"],
            "zone": {"conditions": _conditions(zone, unit["spec"]["zone"]["observedGeneration"])},
            "recordSets": results,
        }
        await self._write(ZONE_UNITS, ZONE, told)

    def _ref(self) -> Object:
        return {"name": self.name, "version": "v1"}

    async def _write(self, ref: Any, name: str, status: Object) -> None:
        await self.stage.client.patch_merge(
            ref, {"status": status}, namespace=self.stage.namespace, name=name, subresource="status"
        )


def _items(unit: Object) -> list[Object]:
    return list(unit["spec"].get("recordSets", ()))


def _conditions(told: Iterable[Told], generation: int) -> list[Object]:
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": f"As the provider says: {reason}.",
            "observedGeneration": generation,
            "lastTransitionTime": NOW,
        }
        for kind, status, reason in told
    ]
