"""What one test works on: a namespace and a domain of its own in a running product, over the API and over DNS.

Owns the verbs and the waiting. An answer is asked for once, at the moment when the API says that it is served: never again and
again until it is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

import dns.flags
import dns.message
import dns.rcode

from controllers.api.group import HOSTED_ZONES, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.runtime.recorder import EVENTS
from kube.client import Client, ObjectList
from kube.errors import NotFound, TooManyRequests
from kube.resource import ResourceRef
from tests.product.claim import ZONE, Claim, Record, zone, zone_class
from tests.server.question import Target, records

LIMIT_S = 60.0
REFS = {"ZoneClass": ZONE_CLASSES, "Zone": ZONES, "RecordSet": RECORD_SETS}
EVERYTHING = (ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS, HOSTED_ZONES)

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stage:
    """One namespace and one domain."""

    client: Client
    server: Target
    namespace: str
    domain: str

    async def set_up(self, *claims: Claim) -> None:
        """Make the ZoneClass, the Zone and RecordSets, and wait until all of it is Programmed."""
        for manifest in (zone_class(), zone(self.domain)):
            await self.apply(manifest)
        for each in claims:
            await self.apply(each.manifest())
        await self.until_programmed(ZONES, ZONE)
        for each in claims:
            await self.until_programmed(RECORD_SETS, each.name)

    async def apply(self, manifest: Object, *, force: bool = True) -> Object:
        own = {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}
        return await self.client.apply(REFS[manifest["kind"]], own, manager="test", force=force)

    async def publish(self, each: Claim) -> Object:
        """Apply a claim and wait until it is Programmed."""
        await self.apply(each.manifest())
        return await self.until_programmed(RECORD_SETS, each.name)

    async def delete(self, ref: ResourceRef, name: str) -> None:
        await self.client.delete(ref, name=name, namespace=self._scope(ref))

    async def delete_if_there(self, ref: ResourceRef, name: str) -> None:
        with suppress(NotFound):
            await self.delete(ref, name)

    async def find(self, ref: ResourceRef, name: str) -> Object | None:
        try:
            return await self.client.get(ref, name=name, namespace=self._scope(ref))
        except NotFound:
            return None

    async def names(self, ref: ResourceRef) -> list[str]:
        """The names of all objects of a resource, in order."""
        found = await self._list(ref, self.namespace)
        return sorted(each["metadata"]["name"] for each in found.items)

    async def remains(self) -> dict[str, list[str]]:
        """The names of everything of ours that is left in the namespace, by kind."""
        return {ref.kind: names for ref in EVERYTHING if (names := await self.names(ref))}

    async def until(self, ref: ResourceRef, name: str, holds: Callable[[Object | None], bool]) -> Object | None:
        """Follow one object until something holds of it, None being an object that is not there."""
        selector, namespace = f"metadata.name={name}", self._scope(ref)
        last: Object | None = None
        try:
            async with asyncio.timeout(LIMIT_S):
                listing = await self._list(ref, namespace, selector)
                last = next(iter(listing.items), None)
                if holds(last):
                    return last
                version = listing.resource_version
                events = self.client.watch(
                    ref, resource_version=version, namespace=namespace, field_selector=selector, bookmarks=False
                )
                async with aclosing(events):
                    async for event in events:
                        last = None if event.type == "DELETED" else dict(event.object)
                        if holds(last):
                            return last
        except TimeoutError:
            pass
        raise AssertionError(f"{ref.kind} {name} did not get there, it is {_summary(last)}")

    async def until_there(self, ref: ResourceRef, name: str, holds: Callable[[Object], bool]) -> Object:
        """Follow one object until it is there and something holds of it."""
        found = await self.until(ref, name, lambda obj: obj is not None and holds(obj))
        assert found is not None
        return found

    async def until_programmed(self, ref: ResourceRef, name: str) -> Object:
        return await self.until_there(ref, name, is_programmed)

    async def until_all_programmed(self, ref: ResourceRef, names: Iterable[str], limit_s: float = LIMIT_S) -> None:
        """Follow a resource until all the named objects are there and Programmed."""
        waiting = set(names)
        try:
            async with asyncio.timeout(limit_s):
                listing = await self._list(ref, self.namespace)
                waiting -= {obj["metadata"]["name"] for obj in listing.items if is_programmed(obj)}
                version = listing.resource_version
                events = self.client.watch(ref, resource_version=version, namespace=self.namespace, bookmarks=False)
                async with aclosing(events):
                    while waiting:
                        obj = (await anext(events)).object
                        if is_programmed(obj):
                            waiting.discard(obj["metadata"]["name"])
        except TimeoutError:
            raise AssertionError(f"{len(waiting)} are not Programmed: {sorted(waiting)[:10]}") from None

    async def until_condition(self, ref: ResourceRef, name: str, kind: str, status: str, reason: str) -> Object:
        """Wait for a condition of the object's newest generation and return it."""

        def holds(obj: Object) -> bool:
            found = condition(obj, kind)
            return found is not None and (found["status"], found["reason"]) == (status, reason)

        found = condition(await self.until_there(ref, name, holds), kind)
        assert found is not None
        return found

    async def until_event(self, name: str, reason: str) -> Object:
        """Wait for an event about an object of that name."""
        async with asyncio.timeout(LIMIT_S):
            listing = await self.client.list(EVENTS, namespace=self.namespace)
            for obj in listing.items:
                if (obj["involvedObject"]["name"], obj["reason"]) == (name, reason):
                    return obj
            version = listing.resource_version
            events = self.client.watch(EVENTS, resource_version=version, namespace=self.namespace, bookmarks=False)
            async with aclosing(events):
                async for event in events:
                    obj = event.object
                    if (obj["involvedObject"]["name"], obj["reason"]) == (name, reason):
                        return obj
        raise AssertionError(f"there is no event {reason} about {name}")

    async def until_gone(self, ref: ResourceRef, name: str) -> None:
        await self.until(ref, name, lambda obj: obj is None)

    async def until_only(self, ref: ResourceRef, name: str) -> None:
        """Wait until one object is left of a resource."""
        for other in await self.names(ref):
            if other != name:
                await self.until_gone(ref, other)
        assert await self.names(ref) == [name]

    async def until_nothing_remains(self) -> None:
        """Wait until nothing of ours is left in the namespace."""
        for ref in EVERYTHING:
            for name in await self.names(ref):
                await self.until_gone(ref, name)
        assert await self.remains() == {}

    def ask(self, owner: str, rdtype: str, *, tcp: bool = False) -> dns.message.Message:
        """Ask for a name of the domain once."""
        return self.server.ask(self.domain if owner == "@" else f"{owner}.{self.domain}", rdtype, tcp=tcp)

    def rcode(self, owner: str, rdtype: str) -> str:
        return dns.rcode.to_text(self.ask(owner, rdtype).rcode())

    def answer(self, owner: str, rdtype: str, *, tcp: bool = False) -> set[Record]:
        """The answer section of an authoritative reply without error."""
        reply = self.ask(owner, rdtype, tcp=tcp)
        assert reply.rcode() == dns.rcode.NOERROR, reply
        assert reply.flags & dns.flags.AA, reply
        return records(reply.answer)

    def assert_answered(self, claims: Iterable[Claim]) -> None:
        """Hold the answer to each claim's name and type against the claim; not for wildcards and delegations."""
        for each in claims:
            assert self.answer(each.owner, each.type, tcp=True) == each.records(self.domain), each

    async def _list(self, ref: ResourceRef, namespace: str, field_selector: str | None = None) -> ObjectList:
        """List; an API server that has just got to know a kind says for a moment that it is to be asked again."""
        while True:
            try:
                return await self.client.list(ref, namespace=namespace, field_selector=field_selector)
            except TooManyRequests as error:
                await asyncio.sleep(error.retry_after_s or 0.1)

    def _scope(self, ref: ResourceRef) -> str:
        return self.namespace if ref.namespaced else ""

    def serial(self) -> int:
        reply = self.ask("@", "SOA")
        assert reply.answer, reply
        return int(reply.answer[0][0].serial)


def condition(obj: Object, kind: str) -> Object | None:
    """The condition of that type, when it speaks of the object's newest generation."""
    generation = obj["metadata"]["generation"]
    conditions = obj.get("status", {}).get("conditions", ())
    return next(
        (each for each in conditions if each["type"] == kind and each["observedGeneration"] == generation), None
    )


def is_programmed(obj: Object) -> bool:
    found = condition(obj, "Programmed")
    return found is not None and found["status"] == "True"


def _summary(obj: Object | None) -> str:
    if obj is None:
        return "not there"
    metadata = obj["metadata"]
    kept = {key: metadata[key] for key in ("generation", "deletionTimestamp", "finalizers") if key in metadata}
    return f"{kept} {obj.get('status', {}).get('conditions')}"
