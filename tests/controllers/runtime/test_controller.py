from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from controllers.runtime.controller import Controller, Requeue, TerminalError
from kube.errors import (
    Conflict,
    Forbidden,
    Invalid,
    KubeError,
    ResourceNotServed,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from tests.kube.virtual_loop import eventually

Reconcile = Callable[[str], Awaitable[Requeue | None]]


class Work:
    """A reconcile function that notes when it runs and does what it is told."""

    def __init__(self, *, takes_s: float = 0.0) -> None:
        self.takes_s = takes_s
        self.outcomes: list[Exception | Requeue | None] = []
        self.started: list[tuple[str, float]] = []
        self.finished: list[str] = []
        self.running: Counter[str] = Counter()
        self.most_at_once = 0

    async def __call__(self, key: str) -> Requeue | None:
        self.started.append((key, asyncio.get_running_loop().time()))
        self.running[key] += 1
        assert self.running[key] == 1, "one key, one worker"
        self.most_at_once = max(self.most_at_once, self.running.total())
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.running[key] -= 1
        self.finished.append(key)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def gaps(self) -> list[float]:
        times = [moment for _, moment in self.started]
        return [later - earlier for earlier, later in pairwise(times)]


@asynccontextmanager
async def running(reconcile: Reconcile, **options: Any) -> AsyncIterator[Controller[str]]:
    controller: Controller[str] = Controller("tested", reconcile, **options)
    task = asyncio.create_task(controller.run())
    try:
        yield controller
    finally:
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_keys_are_reconciled_side_by_side_up_to_the_number_of_workers() -> None:
    work = Work(takes_s=10)
    async with running(work, workers=3) as controller:
        for key in "abcdefg":
            controller.enqueue(key)
            controller.enqueue(key)
        await eventually(lambda: len(work.finished) == 7)
        assert sorted(work.finished) == list("abcdefg")
        assert work.most_at_once == 3


async def test_events_during_a_run_cause_one_more_run() -> None:
    work = Work(takes_s=10)
    async with running(work) as controller:
        controller.enqueue("a")
        await eventually(lambda: work.started)
        for _ in range(5):
            controller.enqueue("a")
        await eventually(lambda: controller.queue.idle)
        await asyncio.sleep(100)
        assert work.finished == ["a", "a"]


async def test_requeue_runs_again_later() -> None:
    work = Work()
    work.outcomes = [Requeue(after_s=30)]
    async with running(work) as controller:
        controller.enqueue("a")
        await asyncio.sleep(100)
        assert work.finished == ["a", "a"]
        assert 30 <= work.gaps()[0] < 30.1


async def test_conflicts_are_retried_quickly_and_quietly() -> None:
    work = Work()
    work.outcomes = [Conflict("stale") for _ in range(6)]
    with capture_logs() as logs:
        async with running(work) as controller:
            controller.enqueue("a")
            await asyncio.sleep(10)
            assert len(work.finished) == 7
            assert all(0.1 <= gap <= 0.55 for gap in work.gaps())
            assert controller.queue.failures("a") == 0
    assert {entry["log_level"] for entry in logs} == {"debug"}
    assert not any("exc_info" in entry for entry in logs)


async def test_an_unreachable_api_is_backed_off_from_without_stack_traces() -> None:
    work = Work()
    work.outcomes = [Unavailable("refused") for _ in range(6)]
    with capture_logs() as logs:
        async with running(work) as controller:
            controller.enqueue("a")
            await asyncio.sleep(100)
    gaps = work.gaps()
    assert len(gaps) == 6
    assert gaps[0] <= 0.25
    assert 8 <= gaps[5] <= 16.1
    assert {entry["log_level"] for entry in logs} == {"warning"}
    assert not any("exc_info" in entry for entry in logs)


async def test_throttling_is_obeyed() -> None:
    work = Work()
    work.outcomes = [TooManyRequests("slow down", retry_after_s=42)]
    async with running(work) as controller:
        controller.enqueue("a")
        await asyncio.sleep(100)
        assert 42 <= work.gaps()[0] < 42.1


@pytest.mark.parametrize("kind", [Forbidden, ResourceNotServed, Unauthorized])
async def test_a_refusal_is_told_in_a_line_and_retried(kind: type[KubeError]) -> None:
    work = Work()
    work.outcomes = [kind("no role is known yet")]
    before = errors(kind.__name__)
    with capture_logs() as logs:
        async with running(work) as controller:
            controller.enqueue("a")
            await asyncio.sleep(1)
            assert work.finished == ["a", "a"]
    assert [(entry["log_level"], entry["message"]) for entry in logs] == [("warning", "no role is known yet")]
    assert "exc_info" not in logs[0]
    assert errors(kind.__name__) == before + 1


async def test_a_terminal_error_waits_for_the_next_event() -> None:
    work = Work()
    work.outcomes = [TerminalError("spec.x: cannot work")]
    with capture_logs() as logs:
        async with running(work) as controller:
            controller.enqueue("a")
            await asyncio.sleep(1000)
            assert work.finished == ["a"]
            controller.enqueue("a")
            await eventually(lambda: len(work.finished) == 2)
    assert [(entry["log_level"], entry["message"]) for entry in logs] == [("error", "spec.x: cannot work")]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), Invalid("refused")])
async def test_unexpected_errors_are_logged_and_retried_while_other_keys_go_on(error: Exception) -> None:
    work = Work()
    work.outcomes = [error]
    before = errors(type(error).__name__ if isinstance(error, Invalid) else "Unexpected")
    with capture_logs() as logs:
        async with running(work) as controller:
            controller.enqueue("a")
            controller.enqueue("b")
            await asyncio.sleep(1)
            assert sorted(work.finished) == ["a", "a", "b"]
    assert [(entry["log_level"], entry["controller"], entry["key"]) for entry in logs] == [("error", "tested", "a")]
    assert logs[0]["exc_info"] is error
    assert errors(type(error).__name__ if isinstance(error, Invalid) else "Unexpected") == before + 1


async def test_a_run_whose_own_wait_is_cancelled_is_retried() -> None:
    async def waits_for_something_cancelled(key: str) -> None:
        runs.append(key)
        if len(runs) == 1:
            lost = asyncio.get_running_loop().create_future()
            lost.cancel()
            await lost

    runs: list[str] = []
    async with running(waits_for_something_cancelled) as controller:
        controller.enqueue("a")
        await eventually(lambda: runs == ["a", "a"])


def errors(kind: str) -> float:
    return REGISTRY.get_sample_value("dns_api_reconcile_errors_total", {"controller": "tested", "kind": kind}) or 0.0


async def test_depth_and_durations_are_measured() -> None:
    work = Work(takes_s=10)
    before = REGISTRY.get_sample_value("dns_api_reconcile_time_seconds_count", {"controller": "tested"}) or 0.0
    async with running(work, workers=1) as controller:
        for key in "abc":
            controller.enqueue(key)
        await eventually(lambda: work.started)
        assert REGISTRY.get_sample_value("dns_api_workqueue_depth", {"controller": "tested"}) == 2
        await eventually(lambda: controller.queue.idle)
        assert REGISTRY.get_sample_value("dns_api_workqueue_depth", {"controller": "tested"}) == 0
        after = REGISTRY.get_sample_value("dns_api_reconcile_time_seconds_count", {"controller": "tested"})
        assert after == before + 3


# settling


async def test_the_first_event_of_an_idle_key_starts_at_once() -> None:
    work = Work(takes_s=1)
    async with running(work, settle_s=5.0) as controller:
        for _ in range(3):
            moment = asyncio.get_running_loop().time()
            controller.enqueue("a")
            await eventually(lambda: controller.queue.idle)
            assert work.started[-1][1] == moment
            await asyncio.sleep(10)


async def test_a_burst_costs_at_most_half_of_the_time() -> None:
    """The cost of a run grows with what it has to compose, as it does while a zone is being filled."""
    items = 0
    busy_s = 0.0
    runs = 0

    async def compose(key: str) -> None:
        nonlocal busy_s, runs
        runs += 1
        cost_s = 0.01 * items
        busy_s += cost_s
        await asyncio.sleep(cost_s)

    async with running(compose, settle_s=60.0) as controller:
        for _ in range(1000):
            items += 1
            controller.enqueue("zone")
            await asyncio.sleep(0.1)
        seen = items
        await eventually(lambda: controller.queue.idle and len(controller.queue) == 0)
        assert seen == 1000
    assert busy_s <= 0.55 * 100 + 2 * 10
    assert runs < 200


async def test_other_keys_do_not_wait_for_a_resting_one() -> None:
    work = Work(takes_s=10)
    async with running(work, workers=1, settle_s=60.0) as controller:
        controller.enqueue("a")
        await eventually(lambda: work.finished)
        controller.enqueue("a")
        controller.enqueue("b")
        await eventually(lambda: len(work.finished) == 3)
        assert [key for key, _ in work.started] == ["a", "b", "a"]


async def test_rest_is_bounded_by_settle() -> None:
    work = Work(takes_s=10)
    async with running(work, settle_s=2.0) as controller:
        controller.enqueue("a")
        await eventually(lambda: work.started)
        controller.enqueue("a")
        await eventually(lambda: len(work.started) == 2)
        assert 12 <= work.gaps()[0] < 12.1


async def test_nobody_rests_from_what_was_done_once_and_for_all() -> None:
    started: list[float] = []

    async def work(key: str) -> None:
        started.append(asyncio.get_running_loop().time())
        await asyncio.sleep(10)
        if len(started) == 1:
            controller.spare(key, 4)
            controller.spare(key, 5)

    async with running(work, settle_s=60.0) as controller:
        controller.enqueue("a")
        await eventually(lambda: len(started) == 1)
        controller.enqueue("a")
        await eventually(lambda: len(started) == 2)
        controller.enqueue("a")
        await eventually(lambda: len(started) == 3)
        assert 11 <= started[1] - started[0] < 11.1
        assert 20 <= started[2] - started[1] < 20.1


# stopping


async def test_a_stop_lets_running_work_end_and_starts_none() -> None:
    work = Work(takes_s=2)
    controller: Controller[str] = Controller("tested", work, workers=1, stop_grace_s=3)
    task = asyncio.create_task(controller.run())
    controller.enqueue("a")
    controller.enqueue("b")
    await eventually(lambda: work.started)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.finished == ["a"]
    assert [key for key, _ in work.started] == ["a"]


async def test_work_that_outlasts_the_grace_is_cut_off() -> None:
    work = Work(takes_s=1000)
    controller: Controller[str] = Controller("tested", work, stop_grace_s=3)
    task = asyncio.create_task(controller.run())
    controller.enqueue("a")
    await eventually(lambda: work.started)
    before = asyncio.get_running_loop().time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 3 <= asyncio.get_running_loop().time() - before < 3.1
    assert (work.finished, work.running.total()) == ([], 0)


def test_no_workers_are_refused() -> None:
    with pytest.raises(ValueError, match="workers: found 0"):
        Controller("tested", Work(), workers=0)
