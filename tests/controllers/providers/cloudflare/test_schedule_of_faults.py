"""Random schedules of edits, faults, crashes and doings of others: all ends as declared, and what is theirs is never touched."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from controllers.api.group import RECORD_SETS
from kube.errors import Conflict, NotFound
from tests.controllers.providers.cloudflare.fake.failure import Call, Kind
from tests.controllers.providers.cloudflare.world import DOMAIN, PATIENCE, TEAM, Object, World, a, cname, txt

OWNERS = ("www", "mail", "@")
LIMIT_S = 30.0


@dataclass(frozen=True)
class Step:
    """One thing that happens."""

    verb: str
    owner: str = "www"
    kind: str = "A"
    values: tuple[int, ...] = (1,)
    fault: Kind = Kind.SERVER_ERROR
    where: str = "batch"
    times: int = 1


def claim_name(kind: str, owner: str) -> str:
    return f"{kind.lower()}-{owner.replace('@', 'apex')}"


def claim(step: Step) -> Object:
    name = claim_name(step.kind, step.owner)
    match step.kind:
        case "A":
            return a(step.owner, *(f"192.0.2.{each}" for each in step.values), name=name)
        case "TXT":
            return txt(step.owner, *(f"text {each}" for each in step.values), name=name)
    return cname(step.owner, f"target{step.values[0]}.example.net", name=name)


KINDS = st.sampled_from(["A", "A", "TXT", "CNAME"])
VALUES = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True).map(tuple)
STEPS = st.one_of(
    st.builds(Step, st.just("apply"), st.sampled_from(OWNERS), KINDS, VALUES),
    st.builds(Step, st.just("apply"), st.sampled_from(OWNERS), KINDS, VALUES),
    st.builds(Step, st.just("delete"), st.sampled_from(OWNERS), KINDS),
    st.builds(
        Step,
        st.just("fault"),
        fault=st.sampled_from(list(Kind)),
        where=st.sampled_from(["batch", "batch", "list", "zones", "any"]),
        times=st.integers(1, 3),
    ),
    st.builds(Step, st.just("foreign"), st.sampled_from([*OWNERS, "theirs"]), st.sampled_from(["A", "TXT"])),
    st.builds(Step, st.just("drift"), times=st.integers(0, 5)),
    st.just(Step("restart")),
    st.just(Step("crash")),
    st.just(Step("pause")),
)


def chosen(where: str) -> Any:
    def choose(call: Call) -> bool:
        match where:
            case "batch":
                return call.path.endswith("/batch")
            case "list":
                return call.path.endswith("/dns_records")
            case "zones":
                return call.path.startswith("/zones") and not call.path.endswith(("/batch", "/dns_records"))
        return True

    return choose


class Run:
    """One schedule; `foreign` are the records of others as they were put there."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.foreign: dict[str, Object] = {}

    async def play(self, steps: Sequence[Step]) -> None:
        await self.world.set_up()
        for step in steps:
            await self._do(step)
        self.world.cloudflare.faults.clear()
        await self.world.until(lambda: self.world.says(self.world.zone, "Programmed", "True", "Programmed"))
        await self.world.look_again()  # nobody tells us of what others did there
        await self.world.until_async(self._converged, LIMIT_S)
        await self.world.quiet()
        writes = len(self.world.cloudflare.writes)
        await self.world.look_again()
        assert len(self.world.cloudflare.writes) == writes
        assert await self._converged()
        self._assert_others_untouched()

    async def _do(self, step: Step) -> None:
        world = self.world
        match step.verb:
            case "apply":
                with suppress(Conflict):  # it is on its way out
                    await world.apply(claim(step))
            case "delete":
                with suppress(NotFound):
                    await world.delete(RECORD_SETS, claim_name(step.kind, step.owner))
            case "fault":
                world.cloudflare.fail(step.fault, chosen(step.where), times=step.times)
            case "foreign":
                self._add_foreign(step)
            case "drift":
                self._drift(step)
            case "restart":
                await world.stop_manager()
                await world.start_manager()
            case "crash":
                await self._crash_at_the_next_write()
            case "pause":
                await asyncio.sleep(0.05)

    def _drift(self, step: Step) -> None:
        """Change a record that is known to be ours: one that nobody has on record yet is nobody's."""
        listed = [self.world.record_ids(each.meta.name) for _, each in self.world.record_sets.items()]
        managed = {each for ids in listed for each in ids}
        found = [each for zone in self.world.cloudflare.state.records.values() for each in zone.values()]
        own = [each for each in found if each["id"] in managed]
        if own:
            own[step.times % len(own)]["ttl"] = 3600

    def _add_foreign(self, step: Step) -> None:
        state = self.world.cloudflare.state
        for zone_id, records in state.records.items():
            name = DOMAIN if step.owner == "@" else f"{step.owner}.{DOMAIN}"
            content = "198.51.100.1" if step.kind == "A" else '"theirs"'
            there = [each for each in records.values() if each["name"] == name]
            if any(each["type"] == "CNAME" for each in there) and step.kind == "A":
                return
            if any(each["content"] == content for each in there):
                return
            found = state.add_record(zone_id, type=step.kind, name=name, content=content, ttl=300)
            self.foreign[found] = dict(records[found])

    async def _crash_at_the_next_write(self) -> None:
        """Cut the manager off while a request of its is on the way, if there is one soon."""
        came = asyncio.Event()
        self.world.cloudflare.before_write = lambda _: came.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await came.wait()
        self.world.cloudflare.before_write = lambda _: None
        await self.world.stop_manager()
        await self.world.start_manager()

    async def _converged(self) -> bool:
        """Say whether each claim is as declared or in a conflict that is one, and nothing else of ours is there."""
        world = self.world
        listing = await world.client.list(RECORD_SETS, namespace=TEAM)
        claims = [obj for obj in listing.items if "deletionTimestamp" not in obj["metadata"]]
        if len(claims) < len(listing.items):
            return False
        expected: set[str] = set()
        for obj in claims:
            ids = set((obj.get("status", {}).get("provider") or {}).get("data", {}).get("recordIDs", ()))
            if not self._is_settled(obj, ids):
                return False
            expected |= ids
        return {each["id"] for each in world.records()} == expected | self.foreign.keys()

    def _is_settled(self, obj: Object, ids: set[str]) -> bool:
        said = {
            each["type"]: (each["status"], each["reason"])
            for each in obj.get("status", {}).get("conditions", ())
            if each["observedGeneration"] == obj["metadata"]["generation"]
        }
        if said.get("Accepted") == ("False", "RecordSetConflict"):
            return True
        if said.get("Programmed") == ("False", "ProviderConflict"):
            return self._is_in_the_way(obj)
        return said.get("Programmed") == ("True", "Programmed") and self._holds(obj, ids)

    def _is_in_the_way(self, obj: Object) -> bool:
        name = DOMAIN if obj["spec"]["name"] == "@" else f"{obj['spec']['name']}.{DOMAIN}"
        types = {each["type"] for each in self.foreign.values() if each["name"] == name}
        return obj["spec"]["type"] in types or (obj["spec"]["type"] == "CNAME" and "A" in types)

    def _holds(self, obj: Object, ids: set[str]) -> bool:
        spec = obj["spec"]
        records = [each for each in self.world.records() if each["id"] in ids]
        body = spec[spec["type"].lower()]
        wanted = body.get("addresses") or [f'"{each}"' for each in body.get("values", ())] or [body["target"]]
        return (
            len(records) == len(ids)
            and sorted(each["content"] for each in records) == sorted(wanted)
            and {(each["type"], each["ttl"]) for each in records} == {(spec["type"], spec["ttl"])}
        )

    def _assert_others_untouched(self) -> None:
        now = {each["id"]: each for each in self.world.records()}
        assert {key: now.get(key) for key in self.foreign} == self.foreign


QUICK = replace(PATIENCE, recheck_s=0.3)
"""A fault may hit the check of the token, which is made again in minutes otherwise."""


async def play(steps: Sequence[Step], installation: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with World(Path(folder), installation, patience=QUICK) as world:
            await Run(world).play(steps)


SCHEDULES = st.lists(STEPS, min_size=3, max_size=14)
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "print_blob": True,
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),  # a run takes seconds, so a failure is told as it is
}


@settings(max_examples=5, derandomize=True, **SETTINGS)
@given(steps=SCHEDULES)
def test_schedules_of_faults_converge(installation: Path, steps: list[Step]) -> None:
    asyncio.run(play(steps, installation))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=300, **SETTINGS)
@given(steps=SCHEDULES)
def test_three_hundred_schedules_of_faults_converge(installation: Path, steps: list[Step]) -> None:
    asyncio.run(play(steps, installation))
