"""Writes to the product as its users do, one write at a time, and tells the model of each.

Owns what is done, and the clock that rivals are told apart by; whether it is done right is the model's to say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from random import Random
from typing import Any

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import AlreadyExists, NotFound
from kube.resource import ResourceRef
from tests.product.claim import ZONE_CLASS, zone, zone_class
from tests.product.contract.eyes import KEYS, LABELS, claim_of, domain_of, look, wrong_answers
from tests.product.contract.model import HOMES, ONE, OWNER, TEAM, TWO, ClaimState, Key, Model
from tests.product.contract.small_world import SmallWorld
from tests.product.stage import Object

LIMIT_S = 60.0
POLL_S = 0.05
QUIET_S = 0.4
PAUSES_S = (0.0, 0.0, 0.002, 0.02)
TEAM_LABELS = {"team": "web"}
VALUES = 65536


class Hands:
    """One product, its model, and what is done to both; `luck` decides what nobody has asked for."""

    def __init__(self, world: SmallWorld) -> None:
        self.world = world
        self.model = Model()
        self.luck = Random(0)
        self.operations = 0
        """Writes that the API took, and ends and starts of processes."""
        self._attended = True
        """Whether a manager may have seen a write since all was settled."""

    async def begin(self) -> None:
        """Start the product with a class and two zones, one of which lets another namespace in."""
        await self.world.start()
        for name in (OWNER, TEAM):
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await self.world.client.create(NAMESPACES, manifest)
        await self.label_team(True)
        await self.set_class("All")
        await self.make_zone(ONE)
        await self.make_zone(TWO)
        await self.grant(frozenset(LABELS[:1]))

    # One write each

    async def make_claim(self, key: Key) -> None:
        """Create a claim, or edit the one that is there."""
        if self._lives(key):
            await self.edit_claim(key)
            return
        value = self.luck.randrange(VALUES)
        with suppress(AlreadyExists):  # the former one is on its way out
            obj = await self.world.client.create(RECORD_SETS, _manifest(key, value))
            self.model.claims[key] = ClaimState(value, 1, obj["metadata"]["creationTimestamp"])
            self.model.owned.pop(key, None)
        await self._wrote()

    async def edit_claim(self, key: Key) -> None:
        value = self.luck.randrange(VALUES)
        obj = await self._patch(RECORD_SETS, key.namespace, key.name, {"spec": _manifest(key, value)["spec"]})
        self.model.claims[key].value = value
        self.model.claims[key].generation = obj["metadata"]["generation"]
        await self._wrote()

    async def delete_claim(self, key: Key) -> None:
        await self.world.client.delete(RECORD_SETS, name=key.name, namespace=key.namespace)
        self.model.claims[key].deleting = True
        await self._wrote()

    async def make_zone(self, name: str) -> None:
        with suppress(AlreadyExists):
            await self.world.client.create(ZONES, self._zone_manifest(name))
            self.model.zones[name] = False
            self.model.forget_zone(name)
        await self._wrote()

    async def delete_zone(self, name: str) -> None:
        with suppress(NotFound):
            await self.world.client.delete(ZONES, name=name, namespace=HOMES[name])
            self.model.zones[name] = True
        await self._wrote()

    async def grant(self, labels: frozenset[str]) -> None:
        """Have zone one let the other namespace have these names."""
        self.model.grants = labels
        if not self.model.zones.get(ONE, True):
            spec = {"allowedRecordSets": self._zone_manifest(ONE)["spec"].get("allowedRecordSets")}
            await self._patch(ZONES, OWNER, ONE, {"spec": spec})
        await self._wrote()

    async def label_team(self, labelled: bool) -> None:
        """Give the other namespace the labels that the grant asks for, or take them away."""
        labels = TEAM_LABELS if labelled else dict.fromkeys(TEAM_LABELS)
        await self._patch(NAMESPACES, "", TEAM, {"metadata": {"labels": labels}})
        self.model.labelled = labelled
        await self._wrote()

    async def set_class(self, namespaces: str) -> None:
        """Have the class be there, and let zones of these namespaces in: Same or All."""
        manifest = zone_class(ZONE_CLASS)
        manifest["metadata"]["namespace"] = OWNER
        manifest["spec"]["allowedZones"] = {"namespaces": {"from": namespaces}}
        await self.world.client.apply(ZONE_CLASSES, manifest, manager="test", force=True)
        self.model.zone_class = namespaces
        await self._wrote()

    async def delete_class(self) -> None:
        with suppress(NotFound):
            await self.world.client.delete(ZONE_CLASSES, name=ZONE_CLASS, namespace=OWNER)
        self.model.zone_class = None
        await self._wrote()

    # Processes

    async def kill_manager(self) -> None:
        await self._do(self.world.kill_manager())

    async def start_manager(self) -> None:
        if not self.world.has_manager:
            await self._do(self.world.start_manager())
            self._attended = True

    async def stop_server(self) -> None:
        await self._do(self.world.stop_server())

    async def start_server(self) -> None:
        await self._do(self.world.start_server())

    async def settle_and_pause(self) -> None:
        """What follows is written without a manager, and seen by the next one at once."""
        await self.settle()
        await self.kill_manager()
        self._attended = False

    async def settle(self) -> None:
        """Have everything run and become quiet, and hold it against the model."""
        self.model.unattended = not self._attended
        await self.world.start_server()
        await self.world.start_manager()
        differences = ["nothing was looked at"]
        try:
            async with asyncio.timeout(LIMIT_S):
                while differences:
                    await asyncio.sleep(POLL_S)
                    writes = self.world.writes
                    seen = await look(self.world)
                    differences = list(self.model.differences(seen))
                    if not differences:
                        await asyncio.sleep(QUIET_S)
                        differences = ["it is not quiet"] if writes != self.world.writes else []
        except TimeoutError:
            raise AssertionError("\n".join(differences)) from None
        wrong = await wrong_answers(self.world, self.model, seen)
        assert not wrong, "\n".join(wrong)
        self.model.settle(seen)
        self._attended = True

    # Several in a row, which chance alone would seldom put together

    async def have_rivals_come(self) -> None:
        """Let several want one name while nobody looks; those who come later are not later by name as well."""
        zone, label = self.luck.choice((ONE, ONE, TWO)), self.luck.choice(LABELS)
        await self.open_up(zone)
        if self.luck.random() < 0.7:
            await self._clear(zone, label)
        await self.settle_and_pause()
        free = [key for key in _keys(zone, label) if not self._lives(key)]
        for key in self.luck.sample(free, min(len(free), self.luck.randint(2, 4))):
            await self.make_claim(key)
            if self.luck.random() < 0.5:
                await _next_second()
        await self.settle()

    async def shut_out(self) -> None:
        """Take back what the other namespace was granted and has used, and go on with what it has there."""
        key = self.luck.choice([key for label in LABELS for key in _keys(ONE, label) if key.namespace == TEAM])
        await self.open_up(ONE)
        await self._clear(ONE, key.label)
        await self.grant(self.model.grants | {key.label})
        await self.label_team(True)
        await self.make_claim(key)
        await self.settle()
        if self.luck.random() < 0.5:
            await self.kill_manager()
        if self.luck.random() < 0.5:
            await self.grant(self.model.grants - {key.label})
        else:
            await self.label_team(False)
        if self.luck.random() < 0.7:
            await self.settle()
        await self._live_on_with(key)

    async def _live_on_with(self, key: Key) -> None:
        """Do to a claim that is shut out what its owner or others may do."""
        rival = self.luck.choice([each for each in _keys(ONE, key.label) if each.is_rival_of(key)])
        acts: dict[str, Callable[[], Awaitable[None]]] = {
            "edit": lambda: self.edit_claim(key),
            "rival": lambda: self.make_claim(rival),
            "settle": self.settle,
            "class": self.delete_class,
            "delete": lambda: self.delete_claim(key),
            "again": lambda: self.grant(self.model.grants | {key.label}),
        }
        for name in sorted(self.luck.sample(sorted(acts), self.luck.randint(0, 4)), key=list(acts).index):
            await acts[name]()
        await self.settle()

    async def have_the_class_go(self) -> None:
        """Take the class away for a while, in which claims come and go."""
        await self.set_class("All")
        await self.settle()
        await self.delete_class()
        if self.luck.random() < 0.7:
            await self.settle()
        for key in self.luck.sample(sorted(KEYS.values()), 2):
            await self.make_claim(key)
        for key in self.living()[:1]:
            await self.delete_claim(key)
        await self.settle()
        await self.set_class("All")
        await self.settle()

    async def open_up(self, zone: str) -> None:
        """Have a zone be there that core accepts."""
        if self.model.zone_class != "All":
            await self.set_class("All")
        if self.model.zones.get(zone):
            await self._delete_all(key for key in self.living() if key.zone == zone)
            await self.settle()
        if zone not in self.model.zones:
            await self.make_zone(zone)

    def living(self) -> list[Key]:
        """The claims that are there and are not being deleted."""
        return sorted(key for key in self.model.claims if self._lives(key))

    async def _clear(self, zone: str, label: str) -> None:
        """Have nobody own anything at a name."""
        await self._delete_all(key for key in _keys(zone, label) if self._lives(key))
        await self.settle()

    async def _delete_all(self, keys: Iterable[Key]) -> None:
        for key in list(keys):
            await self.delete_claim(key)

    def _lives(self, key: Key) -> bool:
        return key in self.model.claims and not self.model.claims[key].deleting

    async def _do(self, work: Awaitable[None]) -> None:
        await work
        self.operations += 1

    async def _wrote(self) -> None:
        """Note what is so after a write, and let the product work for a moment."""
        self.operations += 1
        self.model.note()
        await asyncio.sleep(self.luck.choice(PAUSES_S))

    async def _patch(self, ref: ResourceRef, namespace: str, name: str, patch: dict[str, Any]) -> Object:
        return await self.world.client.patch_merge(ref, patch, name=name, namespace=namespace)

    def _zone_manifest(self, name: str) -> Object:
        found = zone(domain_of(name), name)
        found["metadata"]["namespace"] = HOMES[name]
        found["spec"]["zoneClassRef"]["namespace"] = OWNER
        if name == ONE and self.model.grants:
            pattern = "|".join(sorted(self.model.grants))
            granted = {"name": {"pattern": pattern}, "types": ["A", "TXT", "CNAME"]}
            found["spec"]["allowedRecordSets"] = [
                {"namespaces": {"selector": {"matchLabels": TEAM_LABELS}}, "records": [granted]}
            ]
        return found


def _keys(zone: str, label: str) -> list[Key]:
    return sorted(key for key in KEYS.values() if (key.zone, key.label) == (zone, label))


def _manifest(key: Key, value: int) -> Object:
    found = claim_of(key, value).manifest(name=key.name, zone=key.zone)
    found["metadata"]["namespace"] = key.namespace
    found["spec"]["zoneRef"]["namespace"] = HOMES[key.zone]
    return found


async def _next_second() -> None:
    """Wait until the API's clock, which has whole seconds, tells another time."""
    await asyncio.sleep(1.0 - time.time() % 1.0)
