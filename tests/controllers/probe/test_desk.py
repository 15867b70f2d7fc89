"""When zones are probed: at once, after their interval, again when their plan changes, and never twice at a time."""

from __future__ import annotations

from dataclasses import replace

from controllers.probe.desk import PAUSE_S, ProbeDesk
from controllers.probe.prober import Plan
from controllers.probe.round import Round
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
        self.rounds: list[Plan] = []
        self.told: list[ObjectKey] = []
        self.desk = ProbeDesk("test", self._probe, self.told.append, lambda: self.now)

    async def _probe(self, plan: Plan) -> Round:
        self.rounds.append(plan)
        self.now += self.took_s
        return Round(plan.domain, (), {})

    async def run(self, after_s: float = 0.0) -> float | None:
        """Run the desk's controller once; returns in how many seconds it wants to run again."""
        self.now += after_s
        again = await self.desk.controller._reconcile(ZONE)
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
    bench = Bench(took_s=100.0)
    bench.desk.ask(ZONE, PLAN)
    assert await bench.run() == 100.0


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
