"""The embedded API with the whole manager on it, admission included, and a Cloudflare that is a fake: claims go in, records come out.

Owns what a person and a cluster do around the manager, and the waiting. What is at Cloudflare is read from the fake's own state.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from controllers.api.condition import Condition, find_condition
from controllers.api.group import NAMESPACES, RECORD_SETS, SECRETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.record_set import RecordSet, parse_record_set
from controllers.api.zone import Zone, parse_zone
from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.api.zone_unit import ZoneUnit, parse_zone_unit
from controllers.manager import Manager, ManagerConfig
from controllers.providers.cloudflare.binding import ApiAddress, CloudflareConfig, Patience
from controllers.providers.cloudflare.identity.resource import CLOUDFLARE_IDENTITIES, CloudflareIdentity, parse_identity
from controllers.providers.cloudflare.pace import PacePolicy
from controllers.providers.cloudflare.registration import cloudflare
from controllers.runtime.recorder import EVENTS
from kube.access import Access
from kube.client import Client
from kube.errors import NotFound
from kube.informer import Informer
from kube.object import ObjectKey
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare

SYSTEM = "dns-api-system"
TEAM = "team"
TOKEN = "v1.0-planted-token-that-must-never-be-shown-0123456789"
SECRET = "cloudflare-token"
IDENTITY, ZONE_CLASS, ZONE = "identity", "class", "zone"
DOMAIN = "example.com"
PROVIDER = {"name": "cloudflare.dns.appthrust.io", "version": "v1alpha1"}
CONTROLLER = "cloudflare.dns.appthrust.io/controller"
PATIENCE = Patience(
    confirm_s=0.02, resync_s=600.0, refusal_s=0.3, outage_s=0.2, grace_s=0.4, retry_s=0.05, retry_at_most_s=0.2
)
PACE = PacePolicy(rate_per_s=10_000, burst=10_000, pause_s=0.05)
WAIT_S = 60.0
REFS = {
    "Secret": SECRETS,
    "CloudflareIdentity": CLOUDFLARE_IDENTITIES,
    "ZoneClass": ZONE_CLASSES,
    "Zone": ZONES,
    "RecordSet": RECORD_SETS,
}

Object = dict[str, Any]


async def prepare(folder: Path) -> None:
    """Leave the data of an API in a folder, with everything installed and the team's namespace."""
    async with ApiServer(folder) as api, Client(Access(api.url), field_manager="test") as client:
        await install(client)
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})


class World:
    """Use as an asynchronous context manager; `account` is the one that the planted token sees."""

    def __init__(
        self, folder: Path, installation: Path, *, records_per_page: int = 500, patience: Patience = PATIENCE
    ) -> None:
        shutil.copytree(installation, folder / "api")
        self.api = ApiServer(folder / "api")
        self.cloudflare = FakeCloudflare()
        self.patience = patience
        self._per_page = records_per_page
        self._stack = AsyncExitStack()
        self._changed = asyncio.Event()
        self._manager: asyncio.Task[None] | None = None

    async def __aenter__(self) -> World:
        await self._stack.enter_async_context(self.api)
        await self._stack.enter_async_context(self.cloudflare)
        self.account = self.cloudflare.state.add_account()
        self.cloudflare.state.add_token(TOKEN, self.account)
        self.client = await self._stack.enter_async_context(Client(Access(self.api.url), field_manager="test"))
        self.identities = Informer(self.client, CLOUDFLARE_IDENTITIES, parse_identity)
        self.classes = Informer(self.client, ZONE_CLASSES, parse_zone_class)
        self.zones = Informer(self.client, ZONES, parse_zone)
        self.record_sets = Informer(self.client, RECORD_SETS, parse_record_set)
        self.units = Informer(self.client, ZONE_UNITS, parse_zone_unit)
        self._tasks = await self._stack.enter_async_context(_Tasks())
        for informer in (self.identities, self.classes, self.zones, self.record_sets, self.units):
            informer.subscribe(lambda _: self._changed.set())
            self._tasks.start(informer.run())
            await informer.synced.wait()
        await self.start_manager()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_manager()
        await self._stack.aclose()

    async def start_manager(self) -> None:
        """Run a manager with empty memory, as after a restart."""
        address = ApiAddress(self.cloudflare.url, self._per_page)
        config = CloudflareConfig(address=address, patience=self.patience, pace=PACE)
        manager = Manager(self.client, ManagerConfig("manager", SYSTEM, (cloudflare(config),)))
        for hook in manager.admission.hooks():
            ref = hook.resource
            self.api.register_admission(
                ref.group,
                ref.version,
                ref.plural,
                hook.subresource,
                hook.operations,
                hook.handler,
                name="validate.test",
            )
        self._manager = asyncio.create_task(manager.run())
        await manager.synced.wait()

    async def stop_manager(self) -> None:
        """End the manager; what it was doing is cut off."""
        task, self._manager = self._manager, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def apply(self, manifest: Object) -> Object:
        return await self.client.apply(REFS[manifest["kind"]], manifest, manager="test", force=True)

    async def set_up(
        self, *, parameters: Object | None = None, adoption: Object | None = None, domain: str = DOMAIN
    ) -> None:
        """Make the Secret, the identity, the class and the Zone."""
        for manifest in (secret(), identity(), zone_class(parameters), zone(adoption, domain)):
            await self.apply(manifest)

    async def ready_zone(self, **more: Any) -> str:
        """Make everything up to a Zone that is Programmed; returns the identifier of the zone at Cloudflare."""
        await self.set_up(**more)
        await self.until(lambda: self.says(self.zone, "Programmed", "True", "Programmed"))
        return self.zone_id

    async def publish(self, manifest: Object) -> None:
        """Apply a RecordSet and wait until it is Programmed."""
        name = (await self.apply(manifest))["metadata"]["name"]
        await self.until(lambda: self.is_programmed(name))

    async def delete(self, ref: ResourceRef, name: str) -> None:
        await self.client.delete(ref, namespace=TEAM, name=name)

    async def delete_and_wait(self, ref: ResourceRef, name: str) -> None:
        await self.delete(ref, name)
        await self.until_gone(ref, name)

    async def until_gone(self, ref: ResourceRef, name: str) -> None:
        async def gone() -> bool:
            try:
                await self.client.get(ref, namespace=TEAM, name=name)
            except NotFound:
                return True
            return False

        await self.until_async(gone)

    @property
    def zone_id(self) -> str:
        (found,) = [each["id"] for each in self.cloudflare.state.zones.values() if each["name"] == DOMAIN]
        return str(found)

    def records(self, zone_id: str | None = None) -> list[Object]:
        """What is at Cloudflare, in the order of creation."""
        return list(self.cloudflare.state.records[zone_id or self.zone_id].values())

    def contents(self) -> set[tuple[str, str, str]]:
        """Name, type and content of every record at Cloudflare."""
        return {(each["name"], each["type"], each["content"]) for each in self.records()}

    @property
    def identity(self) -> CloudflareIdentity | None:
        return self.identities.get(ObjectKey(TEAM, IDENTITY))

    @property
    def zone_class(self) -> ZoneClass | None:
        return self.classes.get(ObjectKey(TEAM, ZONE_CLASS))

    @property
    def zone(self) -> Zone | None:
        return self.zones.get(ObjectKey(TEAM, ZONE))

    @property
    def unit(self) -> ZoneUnit | None:
        return self.units.get(ObjectKey(TEAM, ZONE))

    def record_set(self, name: str) -> RecordSet | None:
        return self.record_sets.get(ObjectKey(TEAM, name))

    def record_ids(self, name: str) -> list[str]:
        """The identifiers in a RecordSet's status."""
        found = self.record_set(name)
        data = found.status.provider.data if found is not None and found.status.provider is not None else None
        return list((data or {}).get("recordIDs", ()))

    def condition(self, found: Any, kind: str) -> Condition | None:
        """The condition of an object's present generation."""
        each = find_condition(found.status.conditions, kind) if found is not None else None
        return each if each is not None and each.observed_generation == found.meta.generation else None

    def says(self, found: Any, kind: str, status: str, reason: str) -> bool:
        each = self.condition(found, kind)
        return each is not None and (each.status, each.reason) == (status, reason)

    def is_programmed(self, name: str) -> bool:
        return self.says(self.record_set(name), "Programmed", "True", "Programmed")

    def record_says(self, name: str, status: str, reason: str) -> bool:
        return self.says(self.record_set(name), "Programmed", status, reason)

    @property
    def all_refs(self) -> tuple[ResourceRef, ...]:
        """Every kind in which the provider could show something."""
        return CLOUDFLARE_IDENTITIES, ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS, EVENTS

    async def events(self, name: str) -> list[Object]:
        """Events about objects of a name."""
        found = await self.client.list(EVENTS, namespace=TEAM)
        return [obj for obj in found.items if obj["involvedObject"]["name"] == name]

    async def until_event(self, name: str, reason: str) -> Object:
        async def there() -> bool:
            return any(each["reason"] == reason for each in await self.events(name))

        await self.until_async(there)
        return next(each for each in await self.events(name) if each["reason"] == reason)

    async def look_again(self) -> None:
        """Ask for a look at the zone, and wait until there was one."""
        before = len(self.cloudflare.calls)
        annotations = {"dns.appthrust.io/reconcile-request": str(before)}
        await self.client.patch_merge(ZONES, {"metadata": {"annotations": annotations}}, namespace=TEAM, name=ZONE)
        await self.until_async(lambda: _truth(len(self.cloudflare.calls) > before))
        await self.quiet()

    async def until(self, condition: Callable[[], bool], wait_s: float = WAIT_S) -> None:
        """Return once the condition holds; it is asked whenever a cache has changed."""
        try:
            async with asyncio.timeout(wait_s):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"it did not come to that; {self._summary()}") from None

    async def until_async(self, condition: Callable[[], Awaitable[bool]], wait_s: float = WAIT_S) -> None:
        try:
            async with asyncio.timeout(wait_s):
                while not await condition():
                    await self._change_within(0.05)
        except TimeoutError:
            raise AssertionError(f"it did not come to that; {self._summary()}") from None

    async def quiet(self, calm_s: float = 0.15) -> None:
        """Return once neither a cache nor Cloudflare has seen anything for a while."""
        calls = -1
        while len(self.cloudflare.calls) != calls or await self._change_within(calm_s):
            calls = len(self.cloudflare.calls)

    async def _change_within(self, wait_s: float) -> bool:
        self._changed.clear()
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _summary(self) -> str:
        every = [self.identity, self.zone_class, self.zone, *(each for _, each in self.record_sets.items())]
        return "; ".join(
            f"{each.meta.name}: {[(c.type, c.status, c.reason, c.message) for c in each.status.conditions]}"
            for each in every
            if each is not None
        )


class _Tasks:
    """Background work of a world."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> _Tasks:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def start(self, work: Any) -> None:
        self._tasks.append(asyncio.create_task(work))


async def _truth(value: bool) -> bool:
    return value


def manifest(kind: str, name: str, spec: Object) -> Object:
    ref = REFS[kind]
    return {"apiVersion": ref.api_version, "kind": kind, "metadata": {"namespace": TEAM, "name": name}, "spec": spec}


def secret(token: str = TOKEN, name: str = SECRET) -> Object:
    data = {"token": base64.b64encode(token.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": TEAM, "name": name}, "data": data}


def identity(secret_name: str = SECRET, key: str = "token") -> Object:
    ref = {"name": secret_name, "key": key}
    return manifest("CloudflareIdentity", IDENTITY, {"accessToken": {"secretRef": ref}})


def zone_class(parameters: Object | None = None, **more: Any) -> Object:
    spec: Object = {
        "provider": PROVIDER,
        "controllerName": CONTROLLER,
        "identityRef": {"name": IDENTITY},
        "parameters": parameters or {},
        **more,
    }
    return manifest("ZoneClass", ZONE_CLASS, spec)


def zone(adoption: Object | None = None, domain: str = DOMAIN, name: str = ZONE) -> Object:
    spec: Object = {"domainName": domain, "zoneClassRef": {"name": ZONE_CLASS}, "provider": PROVIDER}
    if adoption is not None:
        spec["adoption"] = adoption
    return manifest("Zone", name, spec)


def record_set(kind: str, owner: str, body: Object, *, name: str = "", ttl: int | None = 300, **more: Any) -> Object:
    """A RecordSet; its object's name is the owner's unless told otherwise."""
    spec: Object = {
        "zoneRef": {"name": ZONE},
        "provider": PROVIDER,
        "type": kind,
        "name": owner,
        kind.lower(): body,
        **more,
    }
    if ttl is not None:
        spec["ttl"] = ttl
    return manifest("RecordSet", name or owner.replace("@", "apex").replace("*", "any"), spec)


def a(owner: str, *addresses: str, **more: Any) -> Object:
    return record_set("A", owner, {"addresses": list(addresses or ("192.0.2.1",))}, **more)


def txt(owner: str, *values: str, **more: Any) -> Object:
    return record_set("TXT", owner, {"values": list(values)}, **more)


def cname(owner: str, target: str, **more: Any) -> Object:
    return record_set("CNAME", owner, {"target": target}, **more)
