"""One ledger and the reconciler that keeps it, without an API server: core, caches, clock and writes are played here.

Owns the turns: a round is one look of the provider, after which core takes out what is gone and the clock stands where the provider
wants to look again. AWS is asked over HTTP as always.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from controllers.api.group import CORE_FINALIZER, PROVIDER_FINALIZER, PROVIDERS, ZONE_UNITS
from controllers.api.provider import Provider, parse_provider
from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.api.zone_unit import ZoneUnit, parse_zone_unit
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.ledger.context import LedgerContext
from controllers.ledger.surroundings import CLASS_INDEX, ZONE_INDEX, LedgerInformers, Surroundings
from controllers.providers.route53.binding import Patience, Route53Config
from controllers.providers.route53.class_rule import TermsRule
from controllers.providers.route53.contract import provider_manifest
from controllers.providers.route53.identity.resource import Route53Identity, parse_identity
from controllers.providers.route53.operation import Means
from controllers.providers.route53.session import Sessions
from controllers.providers.route53.state import read_mark
from controllers.providers.route53.throttle import Throttle, Throttles
from controllers.providers.route53.zone_unit import ZoneUnitReconciler
from controllers.runtime.recorder import EventRecorder
from kube.client import Client
from kube.errors import Invalid
from kube.informer import Informer
from kube.object import ObjectKey
from standalone.patch.error import PatchError
from standalone.patch.json_patch import json_patch
from tests.controllers.providers.route53 import world
from tests.controllers.providers.route53.fake.server import FakeAws

KEY = ObjectKey(world.TEAM, "zone")
PATIENCE = Patience(change_s=1.0, refusal_s=60.0, retry_s=1.0, retry_limit_s=10.0, outage_s=1.0)
CREATED = "2026-01-01T00:00:00Z"

Object = dict[str, Any]


def item(owner: str, address: str, *, generation: int = 1) -> Object:
    """An A record set as it stands in the ledger; the claim has the name of its owner."""
    return {
        "recordSetNamespace": world.TEAM,
        "recordSetName": owner,
        "observedGeneration": generation,
        "name": owner,
        "type": "A",
        "ttl": 60,
        "a": {"addresses": [address]},
    }


class LoneLedger:
    """Use `running`."""

    def __init__(self, aws: FakeAws, **parameters: Any) -> None:
        self.domain = world.DOMAIN
        self.released = False
        self.events: list[tuple[str, str, str]] = []
        self._aws = aws
        self._generations: dict[str, int] = {}
        self._ahead_s = 0.0
        self._class = parse_zone_class(_ready(world.zone_class(**parameters), ("Accepted", "Accepted")))
        self._identity = parse_identity(_ready(world.identity(), ("Accepted", "Accepted"), ("Ready", "Ready")))
        self._provider = parse_provider({**provider_manifest(), "apiVersion": PROVIDERS.api_version})
        self.unit: Object = {
            "apiVersion": ZONE_UNITS.api_version,
            "kind": ZONE_UNITS.kind,
            "metadata": {
                "namespace": KEY.namespace,
                "name": KEY.name,
                "uid": "unit",
                "generation": 1,
                "resourceVersion": "1",
                "finalizers": [CORE_FINALIZER],
                "annotations": {},
                "creationTimestamp": CREATED,
            },
            "spec": {
                "provider": world.PROVIDER,
                "zone": {
                    "ref": {"namespace": KEY.namespace, "name": KEY.name},
                    "observedGeneration": 1,
                    "domainName": self.domain,
                    "zoneClassRef": {"namespace": world.TEAM, "name": "class"},
                },
                "part": 0,
                "recordSets": [],
            },
            "status": {},
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have worker threads for as long as the context is entered."""
        with ThreadPoolExecutor(4) as self._threads:
            self.restart()
            yield

    def restart(self) -> None:
        """Forget everything but the ledger, as a new process has."""
        informers = LedgerInformers(
            providers=cast("Informer[Provider]", _Cache(lambda _: self._provider)),
            zone_classes=cast("Informer[ZoneClass]", _Cache(lambda _: self._class)),
            zone_units=cast("Informer[ZoneUnit]", _Cache(lambda _: self._parsed(), self._index)),
        )
        surroundings = Surroundings(
            cast("Client", self), informers, cast("EventRecorder", _Recorder(self.events)), self.wall_clock, self.clock
        )
        binding = Route53Config().binding
        context = LedgerContext(surroundings, binding, cast("StoredClasses", _Stored()))
        identities: Callable[[ObjectKey], Route53Identity | None] = lambda _: self._identity  # noqa: E731
        means = Means(Sessions(self._aws.url, self.wall_clock), _Unthrottled(), self._threads)
        self._reconciler = ZoneUnitReconciler(context, TermsRule(identities), means, PATIENCE)

    def clock(self) -> float:
        return time.monotonic() + self._ahead_s

    def wall_clock(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead_s)

    def fqdn(self, owner: str) -> str:
        name = f"{owner}.{self.domain}." if owner != "@" else f"{self.domain}."
        return name.replace("*", "\\052")

    def put(self, entry: Object) -> None:
        """Claim a record set, or change what is claimed; one that is on its way out stays so."""
        key = entry["recordSetName"]
        known = self._item(key)
        if known is not None and known.get("deletionRequested"):
            return
        generation = self._generations.get(key, 0) + 1
        self._generations[key] = generation
        others = [each for each in self._items if each["recordSetName"] != key]
        self._compose([*others, {**entry, "observedGeneration": generation}])

    def ask_deletion(self, owner: str) -> None:
        if self._item(owner) is not None:
            self._compose(
                [
                    {**each, "deletionRequested": True} if each["recordSetName"] == owner else each
                    for each in self._items
                ]
            )

    def delete(self) -> None:
        """Have the ledger be deleted, as core does when nothing is left in it."""
        self.unit["metadata"]["deletionTimestamp"] = CREATED
        self._moved(generation=True)
        self.released = PROVIDER_FINALIZER not in self.unit["metadata"]["finalizers"]

    def wanted(self) -> dict[str, list[str]]:
        """What Route 53 should hold of ours."""
        return {
            self.fqdn(each["name"]): each["a"]["addresses"] for each in self._items if not each.get("deletionRequested")
        }

    def is_marked(self, owner: str) -> bool:
        """Say whether the record set is noted as ours beyond doubt."""
        for entry in self.unit["status"].get("recordSets", ()):
            if entry["recordSetName"] == owner:
                mark = read_mark(entry.get("provider", {}).get("state"))
                return mark is not None and mark.intent is None
        return False

    async def round(self) -> None:
        """Let the provider look once, and core after it."""
        again = await self._reconciler.reconcile(KEY)
        self._take_out_what_is_gone()
        if again is not None:
            self._ahead_s += min(again.after_s, 60.0)

    async def until(self, holds: Callable[[], bool], rounds: int) -> None:
        for _ in range(rounds):
            if holds():
                return
            await self.round()
        raise AssertionError(f"this did not come about in {rounds} rounds: {self.unit['status']}")

    async def until_settled(self, rounds: int) -> None:
        """Go on until the zone and all of its record sets are Programmed."""
        await self.until(self._is_settled, rounds)

    async def look_again(self) -> None:
        """Ask for a fresh look at everything."""
        annotations = self.unit["metadata"]["annotations"]
        annotations["dns.appthrust.io/reconcile-request"] = str(len(annotations)) + str(self.clock())
        self._moved()
        await self.round()

    # What the reconciler takes for an API client.

    async def patch_json(
        self,
        ref: object,
        ops: Sequence[Mapping[str, Any]],
        *,
        name: str,
        namespace: str,
        subresource: str | None = None,
    ) -> Object:
        try:
            patched = json_patch(copy.deepcopy(self.unit), [dict(each) for each in ops])
        except PatchError as error:
            raise Invalid(str(error)) from error
        if subresource == "status":
            self.unit["status"] = patched["status"]
        else:
            self.unit["metadata"]["finalizers"] = patched["metadata"]["finalizers"]
        self._moved()
        self.released = "deletionTimestamp" in self.unit["metadata"] and (
            PROVIDER_FINALIZER not in self.unit["metadata"]["finalizers"]
        )
        return self.unit

    @property
    def _items(self) -> list[Object]:
        found: list[Object] = self.unit["spec"]["recordSets"]
        return found

    def _item(self, key: str) -> Object | None:
        return next((each for each in self._items if each["recordSetName"] == key), None)

    def _compose(self, items: list[Object]) -> None:
        if items != self._items:
            self.unit["spec"] = {**self.unit["spec"], "recordSets": items}
            self._moved(generation=True)

    def _moved(self, *, generation: bool = False) -> None:
        metadata = self.unit["metadata"]
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        if generation:
            metadata["generation"] += 1

    def _take_out_what_is_gone(self) -> None:
        status = self.unit["status"]
        if status.get("observedGeneration") != self.unit["metadata"]["generation"]:
            return
        there = {each["recordSetName"] for each in status.get("recordSets", ())}
        self._compose(
            [each for each in self._items if not each.get("deletionRequested") or each["recordSetName"] in there]
        )

    def _is_settled(self) -> bool:
        status = self.unit["status"]
        if status.get("observedGeneration") != self.unit["metadata"]["generation"]:
            return False
        results = [status.get("zone", {}), *status.get("recordSets", ())]
        conditions = [
            each for result in results for each in result.get("conditions", ()) if each["type"] == "Programmed"
        ]
        return len(conditions) == len(results) == len(self._items) + 1 and all(
            each["status"] == "True" for each in conditions
        )

    def _parsed(self) -> ZoneUnit:
        return parse_zone_unit(copy.deepcopy(self.unit))

    def _index(self, name: str, value: object) -> list[ZoneUnit]:
        assert name in {ZONE_INDEX, CLASS_INDEX}
        return [self._parsed()]


class _Cache:
    def __init__(
        self, get: Callable[[ObjectKey], Any], index: Callable[[str, object], list[Any]] | None = None
    ) -> None:
        self.get = get
        self.by_index = index


class _Stored:
    def get(self, zone_class: ZoneClass, provider: object) -> ZoneClass:
        return zone_class


class _Recorder:
    def __init__(self, events: list[tuple[str, str, str]]) -> None:
        self._events = events

    def event(self, regarding: Any, type: str, reason: str, message: str, related: object = None) -> None:  # noqa: A002
        self._events.append((regarding.name, reason, message))


class _Freely(Throttle):
    async def slot(self) -> None:
        return

    def complain(self, retry_after_s: float | None) -> None:
        return


class _Unthrottled(Throttles):
    def __init__(self) -> None:
        super().__init__(1.0, time.monotonic)
        self._freely = _Freely(1.0, time.monotonic)

    def of(self, account: str) -> Throttle:
        return self._freely


def _ready(manifest: Object, *conditions: tuple[str, str]) -> Object:
    """An object as its controller leaves it."""
    found = [
        {"type": kind, "status": "True", "reason": reason, "observedGeneration": 1, "lastTransitionTime": CREATED}
        for kind, reason in conditions
    ]
    metadata = {"namespace": world.TEAM, "uid": manifest["kind"], "generation": 1, **manifest["metadata"]}
    return {**manifest, "metadata": metadata, "status": {"conditions": found, "observedGeneration": 1}}
