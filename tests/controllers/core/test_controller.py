"""The composer on an API: when a status that may only be on its way is written, and when it looks again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from controllers.api.crd import custom_resource_definitions
from controllers.api.group import CORE_FINALIZER, NAMESPACES, PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.provider import parse_provider
from controllers.api.record_set import parse_record_set
from controllers.api.zone import parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import parse_zone_unit
from controllers.core.controller import CONTENDED_AFTER_S, PROVISIONAL_AFTER_S, Composer
from controllers.core.inputs import CoreInformers
from controllers.providers.hosted.contract import provider_manifest
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventRecorder, EventType
from controllers.runtime.refusal import AGAIN_S
from kube.access import Access
from kube.client import Client
from kube.errors import Cause, Conflict, Invalid, ResourceNotServed
from kube.informer import Informer
from kube.object import ObjectKey, ObjectMeta, ObjectReference
from kube.resource import ResourceRef
from kube.timestamp import utc_now
from standalone.apiserver.server import ApiServer
from tests.controllers.core.build import PROVIDER, condition

ZONE, CLAIM = ObjectKey("default", "zone"), ObjectKey("default", "www")
DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
WWW = {
    "zoneRef": {"name": ZONE.name},
    "provider": PROVIDER,
    "type": "A",
    "name": "www",
    "ttl": 60,
    "a": {"addresses": ["192.0.2.1"]},
}
WAIT_S = 60.0


class CountingRecorder(EventRecorder):
    """A recorder that notes each event it is told of, also one that is told again."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, "test")
        self.told: list[str] = []

    def event(
        self,
        regarding: ObjectReference,
        type: EventType | str,  # noqa: A002 - the API's own word
        reason: str,
        message: str,
        related: ObjectReference | None = None,
    ) -> None:
        self.told.append(f"{regarding.kind} {reason}")


class Bench:
    """A composer with a clock in the test's hand; it reconciles only when the test says so."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.now = 1000.0
        self.core = CoreInformers(
            providers=Informer(client, PROVIDERS, parse_provider),
            zone_classes=Informer(client, ZONE_CLASSES, parse_zone_class),
            zones=Informer(client, ZONES, parse_zone),
            record_sets=Informer(client, RECORD_SETS, parse_record_set),
            zone_units=Informer(client, ZONE_UNITS, parse_zone_unit),
            namespaces=Informer(client, NAMESPACES, ObjectMeta.parse),
        )
        self.core.register_indexes()
        self._following: list[asyncio.Task[None]] = []
        self.recorder = CountingRecorder(client)
        self.today: datetime = utc_now()
        self._composer = Composer(
            client, self.core, self.recorder, clock=lambda: self.now, wall_clock=lambda: self.today
        )

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        core = self.core
        return core.providers, core.zone_classes, core.zones, core.record_sets, core.zone_units, core.namespaces

    async def follow(self, tasks: asyncio.TaskGroup) -> None:
        """Run the caches."""
        self._following = [tasks.create_task(each.run()) for each in self.informers]
        for each in self.informers:
            await each.synced.wait()

    def stop_following(self) -> None:
        """Leave the caches as they are, whatever happens from now on."""
        for task in self._following:
            task.cancel()

    async def reconcile_at(self, after_s: float) -> float | None:
        """Reconcile that long after the start; returns when the zone is to be looked at again, in seconds from then."""
        self.now = 1000.0 + after_s
        again = await self._composer.reconcile(ZONE)
        assert again is None or isinstance(again, Requeue)
        return again.after_s if again is not None else None

    async def create(self, ref: ResourceRef, key: ObjectKey, spec: dict[str, Any]) -> None:
        metadata = {"namespace": key.namespace, "name": key.name}
        obj = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec}
        await self.client.create(ref, obj)
        await until(lambda: any(found == key for each in self.informers for found, _ in each.items()))

    async def create_accepted_class(self, name: str) -> None:
        key = ObjectKey("default", name)
        await self.create(ZONE_CLASSES, key, {"provider": PROVIDER, "controllerName": "a.test/b", "parameters": {}})
        accepted = condition("Accepted", "True", "Accepted")
        await self.client.patch_merge(
            ZONE_CLASSES, {"status": {"conditions": [accepted]}}, namespace="default", name=name, subresource="status"
        )
        await until(lambda: bool((found := self.core.zone_classes.get(key)) and found.status.conditions))

    async def until_seen(self, ref: ResourceRef, key: ObjectKey, version: str) -> None:
        """Wait until the cache of a resource shows a version of an object."""
        refs = (PROVIDERS, ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS, NAMESPACES)
        informer = self.informers[refs.index(ref)]

        def shows() -> bool:
            found = informer.get(key)
            meta = found if isinstance(found, ObjectMeta) else getattr(found, "meta", None)
            return meta is not None and meta.resource_version == version

        await until(shows)

    async def taken_up(self) -> set[ObjectKey]:
        """Return the zones that wait for being looked at, which they do no longer."""
        queue, found = self._composer.controller.queue, set()
        while len(queue):
            found.add(key := await queue.get())
            queue.done(key)
        return found

    async def has_status(self, ref: ResourceRef, key: ObjectKey) -> bool:
        return "status" in await self.client.get(ref, namespace=key.namespace, name=key.name)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with ApiServer(tmp_path) as api, Client(Access(api.url)) as client:
        for definition in custom_resource_definitions():
            await client.create(DEFINITIONS, definition)
        await _until_served(client)
        await client.create(PROVIDERS, provider_manifest())
        bench = Bench(client)
        async with asyncio.TaskGroup() as tasks:
            await bench.follow(tasks)
            yield bench
            bench.stop_following()


async def test_what_may_be_on_its_way_is_told_when_its_own_time_has_come(bench: Bench) -> None:
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "none"}, "provider": PROVIDER})
    assert await bench.reconcile_at(0) == PROVISIONAL_AFTER_S
    await bench.create(RECORD_SETS, CLAIM, WWW)

    assert await bench.reconcile_at(0.75) == 0.25
    assert not await bench.has_status(ZONES, ZONE)

    assert await bench.reconcile_at(1) == 0.75
    assert await bench.has_status(ZONES, ZONE)
    assert not await bench.has_status(RECORD_SETS, CLAIM)
    await until(lambda: bool((zone := bench.core.zones.get(ZONE)) and zone.status.conditions))

    assert await bench.reconcile_at(1.75) is None
    assert await bench.has_status(RECORD_SETS, CLAIM)


@pytest.mark.parametrize("how", ["gone", "edited"])
async def test_a_claim_that_changed_before_it_was_held_is_left_for_the_next_time(bench: Bench, how: str) -> None:
    """The others go on: whoever edits a claim all the time holds up nobody but himself."""
    await bench.create_accepted_class("hosted")
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER})
    await bench.create(RECORD_SETS, CLAIM, WWW)
    other = ObjectKey(CLAIM.namespace, "other")
    await bench.create(RECORD_SETS, other, {**WWW, "name": "other"})
    bench.stop_following()
    if how == "gone":
        await bench.client.delete(RECORD_SETS, namespace=CLAIM.namespace, name=CLAIM.name)
    else:
        edited = {"metadata": {"annotations": {"edited": "just now"}}}
        await bench.client.patch_merge(RECORD_SETS, edited, namespace=CLAIM.namespace, name=CLAIM.name)

    assert await bench.reconcile_at(0) == CONTENDED_AFTER_S

    (unit,) = (await bench.client.list(ZONE_UNITS)).items
    assert [item["recordSetName"] for item in unit["spec"]["recordSets"]] == ["other"]


async def test_a_status_is_not_written_to_a_claim_that_came_under_the_name(bench: Bench) -> None:
    await bench.create(RECORD_SETS, CLAIM, WWW)
    await bench.reconcile_at(0)
    bench.stop_following()
    await bench.client.delete(RECORD_SETS, namespace=CLAIM.namespace, name=CLAIM.name)
    metadata = {"namespace": CLAIM.namespace, "name": CLAIM.name}
    obj = {"apiVersion": RECORD_SETS.api_version, "kind": RECORD_SETS.kind, "metadata": metadata, "spec": WWW}
    await bench.client.create(RECORD_SETS, obj)

    with pytest.raises(Conflict):
        await bench.reconcile_at(PROVISIONAL_AFTER_S)

    assert not await bench.has_status(RECORD_SETS, CLAIM)


async def test_a_status_that_is_refused_without_a_cause_is_no_conflict(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever meets a conflict tries again at once, and somebody's webhook may refuse for ever."""
    await bench.create(RECORD_SETS, CLAIM, WWW)
    await bench.reconcile_at(0)

    async def refuse(*_: Any, **__: Any) -> dict[str, Any]:
        raise Invalid("no", code=422, reason="Invalid")

    monkeypatch.setattr(bench.client, "patch_json", refuse)
    with pytest.raises(Invalid):
        await bench.reconcile_at(PROVISIONAL_AFTER_S)


async def test_a_ledger_that_lost_its_finalizer_is_held_again(bench: Bench) -> None:
    await bench.create_accepted_class("hosted")
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER})
    await bench.reconcile_at(0)
    await until(lambda: bench.core.zone_units.get(ZONE) is not None)
    await bench.client.patch_merge(
        ZONE_UNITS, {"metadata": {"finalizers": None}}, namespace=ZONE.namespace, name=ZONE.name
    )
    await until(lambda: bool((unit := bench.core.zone_units.get(ZONE)) and not unit.meta.finalizers))

    await bench.reconcile_at(0)

    unit = await bench.client.get(ZONE_UNITS, namespace=ZONE.namespace, name=ZONE.name)
    assert unit["metadata"]["finalizers"] == [CORE_FINALIZER]


async def test_an_event_tells_of_a_change_of_status_or_reason_only(bench: Bench) -> None:
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "none"}, "provider": PROVIDER})
    await bench.create(RECORD_SETS, CLAIM, WWW)
    await bench.reconcile_at(0)
    await bench.reconcile_at(1)
    told = ["Zone ZoneClassNotResolved", "RecordSet ZoneClassNotResolved"]
    assert bench.recorder.told == told
    await until(lambda: bool((told := bench.core.record_sets.get(CLAIM)) and told.status.conditions))

    edited = {"spec": {"ttl": 61}}
    await bench.client.patch_merge(RECORD_SETS, edited, namespace=CLAIM.namespace, name=CLAIM.name)
    await until(lambda: bool((claim := bench.core.record_sets.get(CLAIM)) and claim.meta.generation == 2))
    await bench.reconcile_at(2)
    await bench.reconcile_at(3)

    await until(lambda: bool((told := bench.core.record_sets.get(CLAIM)) and told.status.observed_generation == 2))
    assert bench.recorder.told == told


@pytest.mark.parametrize("foreign", [False, True])
async def test_a_result_that_admission_refuses_is_told_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, foreign: bool
) -> None:
    """However often the zone is looked at, and whatever stands in the status that admission would not have let in."""
    await bench.create_accepted_class("hosted")
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER})
    await bench.create(RECORD_SETS, CLAIM, WWW)
    if foreign:
        await _patch_status(bench, RECORD_SETS, CLAIM, {"conditions": [condition("Foreign", "True", "Found")]})
        await until(lambda: bool((claim := bench.core.record_sets.get(CLAIM)) and claim.status.conditions))
    await bench.reconcile_at(0)
    await until(lambda: bool((unit := bench.core.zone_units.get(ZONE)) and unit.spec.record_sets))
    results = [condition("Accepted", "True", "Accepted"), condition("Programmed", "False", "QuotaIsUsedUp")]
    result = {"recordSetNamespace": CLAIM.namespace, "recordSetName": CLAIM.name, "observedGeneration": 1}
    given = {"observedGeneration": 1, "recordSets": [{**result, "conditions": results}]}
    await _patch_status(bench, ZONE_UNITS, ZONE, given)
    await until(lambda: bool((unit := bench.core.zone_units.get(ZONE)) and unit.status.record_sets))
    refusals = _refuse(monkeypatch, bench.client, "QuotaIsUsedUp", "Foreign")

    versions = set()
    for after_s in range(1, 5):
        bench.today += timedelta(hours=1)
        again_s = await bench.reconcile_at(after_s)
        assert again_s == AGAIN_S - max(after_s - 1 - foreign, 0), "nothing else may ever happen to the zone"
        claim = await bench.client.get(RECORD_SETS, namespace=CLAIM.namespace, name=CLAIM.name)
        assert [each["reason"] for each in claim["status"]["conditions"]] == ["Accepted", "ReconcileError"]
        version = claim["metadata"]["resourceVersion"]
        versions.add(version)
        await bench.until_seen(RECORD_SETS, CLAIM, version)

    assert len(versions) == 1
    # With a status that nobody has touched it is the same refusal each time, which is asked for anew after a while only.
    assert len(refusals) == 1 + foreign
    await bench.reconcile_at(5 + AGAIN_S)
    assert len(refusals) == 2 + foreign


async def _patch_status(bench: Bench, ref: ResourceRef, key: ObjectKey, status: dict[str, Any]) -> None:
    await bench.client.patch_merge(
        ref, {"status": status}, namespace=key.namespace, name=key.name, subresource="status"
    )


def _refuse(monkeypatch: pytest.MonkeyPatch, client: Client, *words: str) -> list[str]:
    """Have the API refuse statuses of RecordSets with one of these words in them, as admission does; returns what it has refused."""
    write = client.patch_json
    refusals: list[str] = []

    async def judged(ref: ResourceRef, operations: list[dict[str, Any]], **where: Any) -> dict[str, Any]:
        if ref is RECORD_SETS and (found := [each for each in words if f"'{each}'" in str(operations)]):
            message = f"found {found[0]}"
            refusals.append(message)
            cause = Cause("status.conditions", "FieldValueNotSupported", message)
            raise Invalid(message, code=422, reason="Invalid", causes=(cause,))
        return await write(ref, operations, **where)

    monkeypatch.setattr(client, "patch_json", judged)
    return refusals


async def test_what_was_written_and_is_not_seen_yet_is_waited_for(bench: Bench) -> None:
    await bench.create_accepted_class("hosted")
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER})
    bench.stop_following()
    await bench.reconcile_at(0)
    unit = await bench.client.get(ZONE_UNITS, namespace=ZONE.namespace, name=ZONE.name)

    assert await bench.reconcile_at(0.5) == PROVISIONAL_AFTER_S

    assert await bench.client.get(ZONE_UNITS, namespace=ZONE.namespace, name=ZONE.name) == unit


async def test_a_change_of_anything_that_a_zone_rests_on_is_taken_up(bench: Bench) -> None:
    await bench.create_accepted_class("hosted")
    await bench.create(ZONES, ZONE, {"domainName": "a.test", "zoneClassRef": {"name": "hosted"}, "provider": PROVIDER})
    away = ObjectKey("away", CLAIM.name)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": away.namespace}}
    await bench.client.create(NAMESPACES, namespace)
    await bench.create(RECORD_SETS, away, {**WWW, "zoneRef": {"namespace": ZONE.namespace, "name": ZONE.name}})
    await bench.reconcile_at(0)
    await until(lambda: bench.core.zone_units.get(ZONE) is not None)
    await until(lambda: bool((held := bench.core.zones.get(ZONE)) and held.meta.finalizers))
    await until(lambda: bool((told := bench.core.record_sets.get(away)) and told.status.conditions))
    refused = {"status": {"conditions": [condition("Accepted", "False", "DeniedByPolicy")]}}
    labelled = {"metadata": {"labels": {"dns": "yes"}}}
    for ref, key, patch, subresource in (
        (ZONE_CLASSES, ObjectKey(ZONE.namespace, "hosted"), refused, "status"),
        (ZONE_UNITS, ZONE, {"status": {"observedGeneration": 1}}, "status"),
        (PROVIDERS, ObjectKey("", PROVIDER["name"]), {"spec": {"display": {"name": "Another"}}}, None),
        (NAMESPACES, ObjectKey("", ZONE.namespace), labelled, None),
        (NAMESPACES, ObjectKey("", away.namespace), labelled, None),
        (RECORD_SETS, away, {"spec": {"ttl": 61}}, None),
    ):
        await bench.taken_up()
        changed = await bench.client.patch_merge(
            ref, patch, name=key.name, namespace=key.namespace, subresource=subresource
        )
        await bench.until_seen(ref, key, changed["metadata"]["resourceVersion"])
        assert ZONE in await bench.taken_up(), ref.kind


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not holds():  # noqa: ASYNC110 - several caches, any of which may be the one
            await asyncio.sleep(0.005)


async def _until_served(client: Client) -> None:
    async with asyncio.timeout(WAIT_S):
        for ref in (PROVIDERS, ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS):
            while not await _is_served(client, ref):  # noqa: ASYNC110 - only the API knows
                await asyncio.sleep(0.02)


async def _is_served(client: Client, ref: ResourceRef) -> bool:
    try:
        await client.list(ref)
    except ResourceNotServed:
        return False
    return True
