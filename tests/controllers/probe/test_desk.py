"""When zones are probed: at once, after their interval, again when their plan changes, and never twice at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from controllers.probe.address import Address
from controllers.probe.answer import SILENCE, Answer, Outcome, Question
from controllers.probe.desk import AGAIN_S, KEPT_WORKERS, PAUSE_S, WORKERS, ProbeDesk
from controllers.probe.prober import Plan
from controllers.probe.round import Round, Server
from controllers.runtime.controller import Requeue
from kube.object import ObjectKey
from zonemodel.name import Fqdn

ZONE = ObjectKey("team", "shop")
PLAN = Plan(Fqdn("shop.test"), interval_s=60.0)


class Bench:
    """A desk with a clock in the test's hand; `run` does what its controller does."""

    def __init__(self, took_s: float = 1.0) -> None:
        self.now = 1000.0
        self.took_s = took_s
        self.silent = False
        self.rounds: list[Plan] = []
        self.told: list[ObjectKey] = []
        self.desk = ProbeDesk("test", self._probe, self.told.append, lambda: self.now)

    async def _probe(self, plan: Plan) -> Round:
        self.rounds.append(plan)
        self.now += self.took_s
        word = SILENCE if self.silent else Answer(Outcome.DATA, "NOERROR")
        at = Address("192.0.2.1")
        return Round(plan.domain, (Server("ns1", (at,)),), {at: {Question(plan.domain, 6): word}})

    async def run(self, after_s: float = 0.0) -> float | None:
        """Run the desk's controller once; returns in how many seconds it wants to run again."""
        self.now += after_s
        again = await self.desk.controllers[0]._reconcile(ZONE)
        assert again is None or isinstance(again, Requeue)
        return again.after_s if again is not None else None


async def test_a_zone_is_probed_at_once_and_then_after_its_interval() -> None:
    bench = Bench()
    assert bench.desk.ask(ZONE, PLAN) is None
    assert await bench.run() == 60.0
    assert bench.told == [ZONE]
    probed = bench.desk.ask(ZONE, PLAN)
    assert probed is not None
    assert probed.plan == PLAN
    assert await bench.run(after_s=59.0) == 1.0
    assert len(bench.rounds) == 1
    await bench.run(after_s=1.0)
    assert len(bench.rounds) == 2


async def test_another_plan_is_carried_out_soon_and_the_former_round_stays_until_then() -> None:
    bench = Bench()
    bench.desk.ask(ZONE, PLAN)
    await bench.run()
    other = replace(PLAN, stamp="changed")
    probed = bench.desk.ask(ZONE, other)
    assert probed is not None
    assert probed.plan == PLAN
    assert await bench.run() == PAUSE_S
    await bench.run(after_s=PAUSE_S)
    assert bench.rounds == [PLAN, other]


async def test_a_zone_that_takes_long_rests_as_long() -> None:
    bench = Bench(took_s=20.0)
    plan = replace(PLAN, interval_s=10.0)
    bench.desk.ask(ZONE, plan)
    assert await bench.run() == 20.0


async def test_a_server_that_was_not_heard_is_asked_again_soon_and_not_so_soon_when_it_stays_silent() -> None:
    bench = Bench()
    bench.desk.ask(ZONE, PLAN)
    assert await bench.run() == 60.0
    bench.silent = True
    assert [await bench.run(60.0) for _ in range(6)] == [AGAIN_S, 10.0, 20.0, 40.0, 60.0, 60.0]
    assert {await bench.run(60.0) for _ in range(1100)} == {60.0}, "it stays so for ever"
    bench.took_s = 30.0
    bench.silent = False
    assert await bench.run(60.0) == 60.0
    bench.silent = True
    assert await bench.run(60.0) == 30.0, "it rests as long as it took"


async def test_a_zone_that_is_forgotten_is_probed_no_more() -> None:
    bench = Bench()
    bench.desk.ask(ZONE, PLAN)
    bench.desk.forget(ZONE)
    assert await bench.run() is None
    assert bench.rounds == []


async def test_a_round_of_a_zone_that_was_forgotten_meanwhile_tells_nobody() -> None:
    bench = Bench()

    async def forget(plan: Plan) -> Round:
        bench.desk.forget(ZONE)
        return Round(plan.domain, (), {})

    bench.desk = ProbeDesk("test", forget, bench.told.append, lambda: bench.now)
    bench.desk.ask(ZONE, PLAN)
    assert await bench.run() is None
    assert bench.told == []


class Flood:
    """A desk at work on many zones of one namespace, whose servers say nothing until there is `enough`; all others answer at once."""

    def __init__(self) -> None:
        self.hostile = {
            ObjectKey("evil", f"zone-{number}"): Plan(Fqdn(f"z{number}.test"), stamp="hostile") for number in range(64)
        }
        self.enough, self.waiting, self.done = asyncio.Event(), set[str](), list[ObjectKey]()
        self._news = asyncio.Event()
        self.desk = ProbeDesk("test", self._probe, self._note, asyncio.get_running_loop().time)

    async def _probe(self, plan: Plan) -> Round:
        if plan.stamp == "hostile":
            self.waiting.add(plan.domain)
            self._news.set()
            await self.enough.wait()
        return Round(plan.domain, (), {})

    def _note(self, zone: ObjectKey) -> None:
        self.done.append(zone)
        self._news.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(20.0):
            while not reached():
                self._news.clear()
                await self._news.wait()

    async def look_at_others(self) -> None:
        """Return when zones of somebody else have been looked at, one after the other."""
        for number in range(3):
            zone = ObjectKey("team", f"zone-{number}")
            self.desk.ask(zone, PLAN)
            await self.until(lambda zone=zone: zone in self.done)  # type: ignore[misc] # bound at once

    async def __aenter__(self) -> Flood:
        for zone, plan in self.hostile.items():
            self.desk.ask(zone, plan)
        self._workers = [asyncio.create_task(each.run()) for each in self.desk.controllers]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.enough.set()
        for each in self._workers:
            each.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)


async def test_a_zone_whose_servers_keep_us_waiting_leaves_the_workers_of_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("controllers.probe.desk.QUICK_S", 0.05)
    async with Flood() as flood:
        await flood.until(lambda: len(flood.waiting) == len(flood.hostile))
        await flood.look_at_others()
        assert not set(flood.done) & flood.hostile.keys()
        flood.enough.set()
        await flood.until(lambda: flood.hostile.keys() <= set(flood.done))


async def test_before_it_is_known_that_zones_are_slow_their_namespace_leaves_workers_to_others() -> None:
    async with Flood() as flood:
        await flood.until(lambda: len(flood.waiting) == WORKERS - KEPT_WORKERS)
        await flood.look_at_others()
        assert len(flood.waiting) == WORKERS - KEPT_WORKERS
        flood.enough.set()
        await flood.until(lambda: flood.hostile.keys() <= set(flood.done))


async def test_the_next_round_is_of_the_namespace_with_the_fewest() -> None:
    async with Flood() as flood:
        await flood.until(lambda: len(flood.waiting) == WORKERS - KEPT_WORKERS)
        others = {
            ObjectKey("team", f"slow-{number}"): Plan(Fqdn(f"s{number}.test"), stamp="hostile") for number in range(9)
        }
        for zone, plan in others.items():
            flood.desk.ask(zone, plan)
        for _ in range(100):  # until all of them have tried
            await asyncio.sleep(0)
        assert len(flood.waiting) == WORKERS - KEPT_WORKERS + 1
        for zone in [zone for zone, plan in flood.hostile.items() if plan.domain in flood.waiting][:4]:
            flood.desk.forget(zone)
        # The first of the places that they leave was one too many for a namespace that had one.
        await flood.until(lambda: len(flood.waiting) == WORKERS - KEPT_WORKERS + 4)
        assert len({plan.domain for plan in others.values()} & flood.waiting) == 4


async def test_a_zone_is_quick_again_when_its_rounds_have_been_so_for_a_while() -> None:
    bench = Bench(took_s=100.0)
    bench.desk.ask(ZONE, PLAN)
    quick, slow = bench.desk.controllers
    assert await bench.run() is None  # the others have it
    bench.took_s = 1.0
    for _ in range(2):
        bench.now += 200.0
        await slow._reconcile(ZONE)
    bench.now += 200.0
    assert await slow._reconcile(ZONE) is None
    assert len(bench.rounds) == 3
    await quick._reconcile(ZONE)
    assert len(bench.rounds) == 4


async def test_a_round_is_broken_off_when_its_zone_is_forgotten() -> None:
    began, told = asyncio.Event(), list[ObjectKey]()

    async def probe(plan: Plan) -> Round:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody ends it")

    desk = ProbeDesk("test", probe, told.append, lambda: 0.0)
    desk.ask(ZONE, PLAN)
    run = asyncio.ensure_future(desk.controllers[1]._reconcile(ZONE))
    assert await run is None
    run = asyncio.ensure_future(desk.controllers[0]._reconcile(ZONE))
    await began.wait()
    desk.forget(ZONE)
    async with asyncio.timeout(30.0):
        assert await run is None
    assert told == []


async def test_a_time_limit_of_somebody_else_is_a_failure_like_any_other() -> None:
    async def probe(plan: Plan) -> Round:
        raise TimeoutError

    desk = ProbeDesk("test", probe, lambda _: None, lambda: 0.0)
    desk.ask(ZONE, PLAN)
    with pytest.raises(TimeoutError):
        await desk.controllers[0]._reconcile(ZONE)


async def test_a_zone_that_is_forgotten_just_as_its_time_is_up_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controllers.probe.desk.QUICK_S", 0.01)

    async def probe(plan: Plan) -> Round:
        try:
            await asyncio.Event().wait()
        finally:
            desk.forget(ZONE)
        raise AssertionError("nobody ends it")

    desk = ProbeDesk("test", probe, lambda _: None, lambda: 0.0)
    desk.ask(ZONE, PLAN)
    assert await desk.controllers[0]._reconcile(ZONE) is None
    assert await desk.controllers[1]._reconcile(ZONE) is None
