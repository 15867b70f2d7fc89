"""Writers that create, edit and delete RecordSets, and remember what the API has acknowledged.

Owns the judgement of what may be there after a crash: what was acknowledged, or, where the answer to a write never came, either side
of that write; nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from controllers.api.group import RECORD_SETS
from kube.errors import AlreadyExists, RetryableError
from tests.product.claim import Claim, claim
from tests.product.stage import Object, Stage

DELETED_SHARE = 0.2
VALUES: dict[str, Callable[[int], str]] = {
    "A": lambda number: f"192.0.{number % 256}.{number // 256 % 256}",
    "AAAA": lambda number: f"2001:db8::{number % 65536:x}",
    "TXT": lambda number: f"value {number}",
    "MX": lambda number: f"{number % 1000} mx{number}.example.net",
    "CNAME": lambda number: f"target-{number}.example.net",
}


@dataclass(slots=True)
class Slot:
    """One name of the zone and what is known of its claim.

    `states` are the claims that may be stored now, None for no claim; one that is known for sure stands alone. `window` are all
    that may have been served since the last time that everything had settled.
    """

    owner: str
    type: str
    states: list[Claim | None] = field(default_factory=lambda: [None])
    window: set[Claim | None] = field(default_factory=lambda: {None})

    @property
    def name(self) -> str:
        return claim(self.owner, self.type).name

    @property
    def state(self) -> Claim | None:
        """The claim that is stored for sure."""
        (state,) = self.states
        return state

    def resolve(self, obj: Object | None) -> None:
        """Learn from an object what is stored; fails when that is nothing that it may be."""
        deleting = obj is not None and "deletionTimestamp" in obj["metadata"]
        if obj is None or deleting:
            assert None in self.states, f"{self.name} was acknowledged and is lost; it may be {self.states}"
            self.states = [None]
            return
        found = [each for each in self.states if each is not None and each.manifest()["spec"] == obj["spec"]]
        assert found, f"{self.name} is {obj['spec']}, it may be {self.states}"
        self.states = [found[0]]

    def settle(self) -> None:
        """Note that everything is served as it is stored."""
        self.window = {self.state}


def make_slots(count: int) -> list[Slot]:
    """Slots of all types in turn."""
    types = list(VALUES)
    return [Slot(f"name-{number}", types[number % len(types)]) for number in range(count)]


class Writer:
    """Writes to its own slots, one write at a time."""

    def __init__(self, slots: list[Slot], seed: int) -> None:
        self.acknowledged = 0
        self._slots = slots
        self._random = random.Random(seed)

    async def run(self, stage: Stage) -> None:
        """Write until the API no longer answers."""
        try:
            while True:
                await self._write(stage, self._random.choice(self._slots))
        except RetryableError:
            return

    async def _write(self, stage: Stage, slot: Slot) -> None:
        if slot.state is None:
            await self._attempt(slot, self._new(slot), lambda wanted: _create(stage, wanted))
        elif self._random.random() < DELETED_SHARE:
            await self._attempt(slot, None, lambda _: _delete(stage, slot))
        else:
            await self._attempt(slot, self._new(slot), lambda wanted: _edit(stage, wanted))

    async def _attempt(self, slot: Slot, wanted: Claim | None, write: Callable[[Any], Awaitable[bool]]) -> None:
        before = slot.state
        slot.states = [before, wanted]
        slot.window.add(wanted)
        done = await write(wanted)  # where no answer comes, both states stay possible
        slot.states = [wanted if done else before]
        self.acknowledged += done

    def _new(self, slot: Slot) -> Claim:
        number = self._random.randrange(2**32)
        return claim(slot.owner, slot.type, VALUES[slot.type](number), ttl=1 + number % 1000)


async def _create(stage: Stage, wanted: Claim) -> bool:
    manifest = wanted.manifest()
    manifest["metadata"]["namespace"] = stage.namespace
    try:
        await stage.client.create(RECORD_SETS, manifest)
    except AlreadyExists:  # the former one is on its way out
        return False
    return True


async def _edit(stage: Stage, wanted: Claim) -> bool:
    patch = {"spec": wanted.manifest()["spec"]}
    await stage.client.patch_merge(RECORD_SETS, patch, namespace=stage.namespace, name=wanted.name)
    return True


async def _delete(stage: Stage, slot: Slot) -> bool:
    await stage.delete(RECORD_SETS, slot.name)
    return True
