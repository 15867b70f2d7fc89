"""Random writes to classes, zones, grants and claims, with manager and name server ended and started meanwhile.

Whenever all is quiet, the ledger, the statuses and the answers are what a small model of its own says.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import AlreadyExists, NotFound
from tests.product.claim import ZONE_CLASS, zone, zone_class
from tests.product.contract.eyes import KEYS, LABELS, claim_of, domain_of, look, wrong_answers
from tests.product.contract.model import HOMES, ONE, OWNER, TEAM, TWO, ClaimState, Key, Model
from tests.product.contract.small_world import SmallWorld
from tests.product.stage import Object

LIMIT_S = 20.0
POLL_S = 0.05
QUIET_S = 0.4
TEAM_LABELS = {"team": "web"}

T = TypeVar("T")
seldom = st.sampled_from((True, False, False, False))
keys = st.sampled_from(sorted(KEYS.values()))
values = st.integers(0, 65535)
zones = st.sampled_from((ONE, ONE, TWO))
pauses_s = st.sampled_from((0.0, 0.0, 0.002, 0.02))


class Interleavings(RuleBasedStateMachine):
    """One product and its model; `attended` says whether a manager may have seen a write since all was settled."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="dns-api-interleavings-")
        self.runner = asyncio.Runner()
        self.world = SmallWorld(Path(self.folder.name))
        self.model = Model()
        self.attended = True
        self.run(self.world.start())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            self.run(self.world.stop())
            self.runner.close()
            self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        for name, labels in ((OWNER, {}), (TEAM, TEAM_LABELS)):
            metadata = {"name": name, "labels": labels}
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            self.run(self.world.client.create(NAMESPACES, manifest))
        self.set_class("All", 0.0)
        self.make_zone(ONE, 0.0)
        self.make_zone(TWO, 0.0)
        self.grant(frozenset(LABELS[:1]), 0.0)

    @rule(
        wanted=st.lists(st.tuples(keys, values), min_size=2, max_size=6, unique_by=lambda each: each[0]),
        pause_s=pauses_s,
    )
    def make_claims(self, wanted: list[tuple[Key, int]], pause_s: float) -> None:
        for key, value in wanted:
            self.make_claim(key, value, pause_s)

    def make_claim(self, key: Key, value: int, pause_s: float) -> None:
        if key in self.model.claims and not self.model.claims[key].deleting:
            self.edit_claim(key, value, pause_s)
            return
        manifest = _manifest(key, value)
        with suppress(AlreadyExists):  # the former one is on its way out
            obj = self.run(self.world.client.create(RECORD_SETS, manifest))
            self.model.claims[key] = ClaimState(value, 1, obj["metadata"]["creationTimestamp"])
            self.model.owned.pop(key, None)
        self.wrote(pause_s)

    @precondition(lambda self: any(not each.deleting for each in self.model.claims.values()))
    @rule(data=st.data(), value=values, pause_s=pauses_s)
    def edit_any_claim(self, data: st.DataObject, value: int, pause_s: float) -> None:
        self.edit_claim(self.draw_claim(data), value, pause_s)

    @precondition(lambda self: any(not each.deleting for each in self.model.claims.values()))
    @rule(data=st.data(), pause_s=pauses_s)
    def delete_claim(self, data: st.DataObject, pause_s: float) -> None:
        key = self.draw_claim(data)
        self.run(self.world.client.delete(RECORD_SETS, name=key.name, namespace=key.namespace))
        self.model.claims[key].deleting = True
        self.wrote(pause_s)

    @rule(zone=zones, pause_s=pauses_s)
    def make_zone(self, zone: str, pause_s: float) -> None:
        with suppress(AlreadyExists):
            self.run(self.world.client.create(ZONES, self.zone_manifest(zone)))
            self.model.zones[zone] = False
            self.model.forget_zone(zone)
        self.wrote(pause_s)

    @rule(zone=zones, pause_s=pauses_s, chance=seldom)
    def delete_zone(self, zone: str, pause_s: float, chance: bool) -> None:
        if not chance:
            return
        with suppress(NotFound):
            self.run(self.world.client.delete(ZONES, name=zone, namespace=HOMES[zone]))
            self.model.zones[zone] = True
        self.wrote(pause_s)

    @rule(labels=st.frozensets(st.sampled_from(LABELS)), pause_s=pauses_s)
    def grant(self, labels: frozenset[str], pause_s: float) -> None:
        if self.model.zones.get(ONE, True):
            return
        self.model.grants = labels
        spec = {"allowedRecordSets": self.zone_manifest(ONE)["spec"].get("allowedRecordSets")}
        self.run(self.world.client.patch_merge(ZONES, {"spec": spec}, name=ONE, namespace=OWNER))
        self.wrote(pause_s)

    @rule(namespaces=st.sampled_from(("All", "All", "Same")), pause_s=pauses_s)
    def set_class(self, namespaces: str, pause_s: float) -> None:
        manifest = zone_class(ZONE_CLASS)
        manifest["metadata"]["namespace"] = OWNER
        manifest["spec"]["allowedZones"] = {"namespaces": {"from": namespaces}}
        self.run(self.world.client.apply(ZONE_CLASSES, manifest, manager="test", force=True))
        self.model.zone_class = namespaces
        self.wrote(pause_s)

    @rule(pause_s=pauses_s, chance=seldom)
    def delete_class(self, pause_s: float, chance: bool) -> None:
        if not chance:
            return
        with suppress(NotFound):
            self.run(self.world.client.delete(ZONE_CLASSES, name=ZONE_CLASS, namespace=OWNER))
        self.model.zone_class = None
        self.wrote(pause_s)

    @rule()
    def kill_manager(self) -> None:
        self.run(self.world.kill_manager())

    @rule()
    def start_manager(self) -> None:
        if not self.world.has_manager:
            self.run(self.world.start_manager())
            self.attended = True

    @rule()
    def stop_server(self) -> None:
        self.run(self.world.stop_server())

    @rule()
    def start_server(self) -> None:
        self.run(self.world.start_server())

    @rule()
    def settle_and_pause(self) -> None:
        """What follows is written without a manager, and seen by the next one at once."""
        self.settle()
        self.run(self.world.kill_manager())
        self.attended = False

    @rule()
    def settle(self) -> None:
        """Have everything run and become quiet, and hold it against the model."""
        self.model.unattended = not self.attended
        self.run(self.until_settled())
        self.attended = True

    async def until_settled(self) -> None:
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

    def wrote(self, pause_s: float) -> None:
        """Note what is so after a write, and let the product work for a moment."""
        self.model.note()
        self.run(asyncio.sleep(pause_s))

    def edit_claim(self, key: Key, value: int, pause_s: float) -> None:
        patch = {"spec": _manifest(key, value)["spec"]}
        obj = self.run(self.world.client.patch_merge(RECORD_SETS, patch, name=key.name, namespace=key.namespace))
        self.model.claims[key].value = value
        self.model.claims[key].generation = obj["metadata"]["generation"]
        self.wrote(pause_s)

    def draw_claim(self, data: st.DataObject) -> Key:
        return data.draw(st.sampled_from(sorted(key for key, each in self.model.claims.items() if not each.deleting)))

    def zone_manifest(self, name: str) -> Object:
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


def _manifest(key: Key, value: int) -> Object:
    found = claim_of(key, value).manifest(name=key.name, zone=key.zone)
    found["metadata"]["namespace"] = key.namespace
    found["spec"]["zoneRef"]["namespace"] = HOMES[key.zone]
    return found


def _hold(examples: int, steps: int, *, derandomize: bool = False) -> None:
    run_state_machine_as_test(
        Interleavings,
        _min_steps=steps,  # hypothesis begins with the shortest runs, which say little
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=derandomize,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_few_writes_end_as_the_model_says() -> None:
    _hold(3, 25, derandomize=True)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_writes_end_as_the_model_says() -> None:
    _hold(8, 200)
