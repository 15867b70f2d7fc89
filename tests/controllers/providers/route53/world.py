"""A whole manager with the Route 53 provider on an embedded API, and the fake of AWS behind it.

Owns what a test says and waits for; claims go in and conditions come out as they would in a cluster.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.core.admission.handler import Handler
from controllers.manager import Manager, ManagerConfig
from controllers.providers.route53.binding import Patience, Route53Config
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from controllers.providers.route53.registration import route53
from controllers.runtime.recorder import EVENTS
from kube.access import Access
from kube.client import Client
from kube.errors import NotFound
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.fake.zone import HostedZone
from tests.standalone.installed import installed

SYSTEM = "dns-api-system"
TEAM = "team"
ACCOUNT = "111111111111"
OTHER_ACCOUNT = "222222222222"
KEY_ID, SECRET = "AKIAPLANTEDKEY000001", "planted/secret+access/key/of/the/test/00"
PROVIDER = {"name": "route53.dns.appthrust.io", "version": "v1alpha1"}
CONTROLLER = "route53.dns.appthrust.io/controller"
DOMAIN = "example.test"
PATIENCE = Patience(
    observe_s=600.0, change_s=0.05, refusal_s=600.0, retry_s=0.02, retry_limit_s=0.3, outage_s=0.2, credential_s=600.0
)
WAIT_S = 60.0

Object = dict[str, Any]
T = TypeVar("T")
REFS = {each.kind: each for each in (ZONE_CLASSES, ZONES, RECORD_SETS, ROUTE53_IDENTITIES, ZONE_UNITS)}


class World:
    """Use `entering`. `config` may be changed before a manager is started."""

    def __init__(self, api: ApiServer, client: Client, aws: FakeAws) -> None:
        self.aws = aws
        self.client = client
        self.api = api
        self.config = Route53Config(requests_per_s=2000.0, endpoint_url=aws.url, patience=PATIENCE)
        self.manager: Manager | None = None
        self._task: asyncio.Task[None] | None = None
        self._handlers: dict[str, Handler] = {}

    async def start_manager(self) -> None:
        """Run a manager with empty memory, as after a restart."""
        config = replace(self.config, endpoint_url=self.aws.url)
        manager = Manager(self.client, ManagerConfig("manager", SYSTEM, (route53(config),)))
        if self.manager is None:
            for hook in manager.admission.hooks():
                ref, handler = hook.resource, partial(self._admit, hook.path)
                self.api.register_admission(
                    ref.group, ref.version, ref.plural, hook.subresource, hook.operations, handler, name="test"
                )
        self.manager = manager
        self._handlers = {hook.path: hook.handler for hook in manager.admission.hooks()}
        self._task = asyncio.create_task(manager.run())
        await manager.synced.wait()

    async def _admit(self, path: str, review: Mapping[str, Any]) -> Object:
        """Ask the manager that runs, or the one that ran last."""
        return await self._handlers[path](review)

    async def stop_manager(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def restart_manager(self) -> None:
        await self.stop_manager()
        await self.start_manager()

    @property
    def zones(self) -> list[HostedZone]:
        return list(self.aws.route53.zones.values())

    @property
    def zone(self) -> HostedZone:
        (zone,) = self.zones
        return zone

    def records(self, zone: HostedZone | None = None) -> dict[tuple[str, str], Object]:
        """What the hosted zone holds beside its own NS and SOA, by name and type as the service writes them."""
        found = (zone or self.zone).sorted()
        shown = [
            each.shown()
            for each in found
            if not (each.labels == (zone or self.zone).labels and each.type in {"NS", "SOA"})
        ]
        return {(each["Name"], each["Type"]): each for each in shown}

    async def apply(self, *manifests: Object) -> None:
        for each in manifests:
            own = {**each, "metadata": {"namespace": TEAM, **each["metadata"]}}
            await self.client.apply(REFS[each["kind"]], own, manager="test", force=True)

    async def delete(self, ref: ResourceRef, name: str) -> None:
        await self.client.delete(ref, name=name, namespace=TEAM)

    async def get(self, ref: ResourceRef, name: str) -> Object:
        return await self.client.get(ref, name=name, namespace=TEAM)

    async def find(self, ref: ResourceRef, name: str) -> Object | None:
        with suppress(NotFound):
            return await self.get(ref, name)
        return None

    async def set_up(self, *records: Object, parameters: Object | None = None) -> None:
        """Make identity, class, zone and record sets, and wait until all of it is Programmed."""
        await self.apply(identity(), zone_class(**(parameters or {})), zone(), *records)
        await self.programmed(ZONES, "zone")
        for each in records:
            await self.programmed(RECORD_SETS, each["metadata"]["name"])

    async def programmed(self, ref: ResourceRef, name: str) -> Object:
        return await self.condition(ref, name, "Programmed", "True", "Programmed")

    async def condition(self, ref: ResourceRef, name: str, kind: str, status: str, reason: str) -> Object:
        """Wait for a condition of the object's newest generation, and return it."""
        seen: list[Any] = []

        async def holds() -> Object | None:
            obj = await self.find(ref, name)
            seen[:] = [(obj or {}).get("status")]
            found = condition_of(obj, kind) if obj is not None else None
            return found if found is not None and (found["status"], found["reason"]) == (status, reason) else None

        return await self.until(holds, lambda: f"{ref.kind} {name} is not {kind}={status}/{reason}: {seen}")

    async def gone(self, ref: ResourceRef, name: str) -> None:
        async def holds() -> bool | None:
            return True if await self.find(ref, name) is None else None

        await self.until(holds, lambda: f"{ref.kind} {name} is still there")

    async def until(self, holds: Callable[[], Awaitable[T | None]], what: Callable[[], str]) -> T:
        """Ask until the answer is not None."""
        try:
            async with asyncio.timeout(WAIT_S):
                while (found := await holds()) is None:  # noqa: ASYNC110 - only the other side knows
                    await asyncio.sleep(0.01)
                return found
        except TimeoutError:
            raise AssertionError(what()) from None

    async def quiet(self, rounds: int = 3) -> None:
        """Wait until the provider has looked at everything again that often without asking for anything new."""
        for number in range(rounds):
            before = self.aws.count("ListResourceRecordSets")
            await self.request_look(f"{number}-{before}")

            async def looked(before: int = before) -> bool | None:
                return True if self.aws.count("ListResourceRecordSets") > before else None

            await self.until(looked, lambda: "the provider did not look again")

    async def request_look(self, value: str) -> None:
        patch = {"metadata": {"annotations": {"dns.appthrust.io/reconcile-request": value}}}
        await self.client.patch_merge(ZONES, patch, name="zone", namespace=TEAM)

    async def events(self) -> list[Object]:
        return list((await self.client.list(EVENTS, namespace=TEAM)).items)

    async def event(self, about: str, reason: str) -> Object:
        async def holds() -> Object | None:
            found = await self.events()
            return next(
                (each for each in found if (each["involvedObject"]["name"], each["reason"]) == (about, reason)), None
            )

        return await self.until(holds, lambda: f"there is no event {reason} about {about}")


@asynccontextmanager
async def entering(folder: Path, aws: FakeAws, *, start: bool = True) -> AsyncIterator[World]:
    """Have the world run for as long as the context is entered."""
    aws.identities.add_user(KEY_ID, SECRET, ACCOUNT)
    async with installed(folder / "data", _install) as api, Client(Access(api.url), field_manager="test") as client:
        world = World(api, client, aws)
        if start:
            await world.start_manager()
        try:
            yield world
        finally:
            await world.stop_manager()


async def _install(client: Client) -> None:
    await install(client)
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})


def runtime_credentials() -> dict[str, str]:
    """The environment that gives the SDK its credential, and nothing of the machine's own."""
    nowhere = os.devnull
    return {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_CONFIG_FILE": nowhere,
        "AWS_SHARED_CREDENTIALS_FILE": nowhere,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def identity(name: str = "identity", **spec: Any) -> Object:
    body = {"accountID": ACCOUNT, "region": "eu-central-1", "credentials": {"runtime": {}}, **spec}
    return manifest("Route53Identity", name, body, "route53.dns.appthrust.io/v1alpha1")


def zone_class(name: str = "class", identity: str = "identity", **parameters: Any) -> Object:
    spec = {
        "provider": PROVIDER,
        "controllerName": CONTROLLER,
        "identityRef": {"name": identity},
        "parameters": parameters,
    }
    return manifest("ZoneClass", name, spec)


def zone(name: str = "zone", domain: str = DOMAIN, adopt: str | None = None, zone_class: str = "class") -> Object:
    spec: Object = {"domainName": domain, "zoneClassRef": {"name": zone_class}, "provider": PROVIDER}
    if adopt is not None:
        spec["adoption"] = {"hostedZoneId": adopt}
    return manifest("Zone", name, spec)


def record(name: str, owner: str, rdtype: str, body: Object | None = None, ttl: int | None = 60, **more: Any) -> Object:
    spec: Object = {"zoneRef": {"name": "zone"}, "provider": PROVIDER, "type": rdtype, "name": owner, **more}
    if ttl is not None:
        spec["ttl"] = ttl
    if body is not None:
        spec[rdtype.lower()] = body
    return manifest("RecordSet", name, spec)


def a(owner: str, *addresses: str, name: str | None = None, **more: Any) -> Object:
    return record(name or owner, owner, "A", {"addresses": list(addresses or ("192.0.2.1",))}, **more)


def txt(owner: str, *values: str, name: str | None = None, **more: Any) -> Object:
    return record(name or owner, owner, "TXT", {"values": list(values)}, **more)


def cname(owner: str, target: str, name: str | None = None, **more: Any) -> Object:
    return record(name or owner, owner, "CNAME", {"target": target}, **more)


def alias(
    owner: str, dns_name: str, zone_id: str = "Z14GRHDCWA56QT", *, rdtype: str = "A", name: str | None = None
) -> Object:
    target = {"dnsName": dns_name, "hostedZoneID": zone_id, "evaluateTargetHealth": True}
    return record(name or owner, owner, rdtype, None, None, options={"alias": target})


def manifest(kind: str, name: str, spec: Object, api_version: str = "dns.appthrust.io/v1alpha1") -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def condition_of(obj: Object, kind: str) -> Object | None:
    """The condition of that type, when it speaks of the object's newest generation."""
    generation = obj["metadata"]["generation"]
    conditions: Iterable[Object] = obj.get("status", {}).get("conditions", ())
    return next(
        (each for each in conditions if each["type"] == kind and each["observedGeneration"] == generation), None
    )


def wire(name: str, rdtype: str, *values: str, ttl: int = 60, **more: Any) -> Object:
    """A record set as somebody else writes it into Route 53."""
    return {
        "Name": name,
        "Type": rdtype,
        "TTL": str(ttl),
        "ResourceRecords": [{"Value": value} for value in values],
        **more,
    }
