from __future__ import annotations

import asyncio
from collections import Counter

import uvloop
from hypothesis import given
from hypothesis import strategies as st

from controllers.runtime.queue import DelayQueue
from kube.backoff import Backoff
from tests.kube.virtual_loop import VirtualTimeLoop


def now() -> float:
    return asyncio.get_running_loop().time()


async def drain(queue: DelayQueue[str], within_s: float = 0.0) -> list[str]:
    """Take and finish keys until none is ready for so long."""
    taken: list[str] = []
    while True:
        try:
            async with asyncio.timeout(within_s):
                key = await queue.get()
        except TimeoutError:
            return taken
        queue.done(key)
        taken.append(key)


async def test_keys_come_once_and_in_order() -> None:
    queue: DelayQueue[str] = DelayQueue()
    for key in "abcab":
        queue.add(key)
    assert len(queue) == 3
    assert await drain(queue) == ["a", "b", "c"]
    assert queue.idle


async def test_a_key_in_work_is_not_given_again_until_done() -> None:
    queue: DelayQueue[str] = DelayQueue()
    queue.add("a")
    assert await queue.get() == "a"
    assert not queue.idle
    queue.add("a")
    queue.add("a")
    queue.add("b")
    assert len(queue) == 2
    assert await drain(queue) == ["b"]
    queue.done("a")
    assert await drain(queue) == ["a"]
    assert await drain(queue) == []


async def test_a_waiting_getter_is_woken() -> None:
    queue: DelayQueue[str] = DelayQueue()
    getter = asyncio.create_task(queue.get())
    await asyncio.sleep(1)
    queue.add("a")
    assert await getter == "a"


async def test_a_getter_that_gives_up_loses_no_key() -> None:
    queue: DelayQueue[str] = DelayQueue()
    getters = [asyncio.create_task(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("a")
    getters[0].cancel()
    await asyncio.wait(getters, return_when=asyncio.ALL_COMPLETED)
    assert getters[1].result() == "a"


async def test_delays_pass_before_a_key_is_ready() -> None:
    queue: DelayQueue[str] = DelayQueue()
    start = now()
    queue.add_after("late", 60)
    queue.add_after("soon", 5)
    queue.add_after("now", 0)
    assert queue.delayed == 2
    assert await queue.get() == "now"
    assert await queue.get() == "soon"
    assert 5 <= now() - start < 5.1
    assert await queue.get() == "late"
    assert 60 <= now() - start < 60.1


async def test_the_earliest_delay_counts() -> None:
    queue: DelayQueue[str] = DelayQueue()
    start = now()
    for delay_s in (30, 10, 20):
        queue.add_after("a", delay_s)
    assert queue.delayed == 1
    assert await drain(queue, 100) == ["a"]
    assert now() - start < 10 + 100.1


async def test_an_event_does_not_cancel_a_later_wake_up() -> None:
    queue: DelayQueue[str] = DelayQueue()
    queue.add_after("a", 30)
    queue.add("a")
    assert await drain(queue, 29) == ["a"]
    assert await drain(queue, 2) == ["a"]


async def test_a_delay_that_ends_while_the_key_is_in_work_is_kept() -> None:
    queue: DelayQueue[str] = DelayQueue()
    queue.add("a")
    await queue.get()
    queue.add_after("a", 1)
    await asyncio.sleep(2)
    assert await drain(queue) == []
    queue.done("a")
    assert await drain(queue) == ["a"]


async def test_retries_back_off_per_key_until_forgotten() -> None:
    queue: DelayQueue[str] = DelayQueue()
    delays = [queue.retry("a") for _ in range(12)]
    assert 0.1 <= delays[0] <= 0.2
    for number, delay_s in enumerate(delays[1:]):
        longest_s = min(2.0**number, 300)
        assert longest_s / 2 <= delay_s <= longest_s
    assert queue.failures("a") == 12
    assert queue.retry("b") <= 0.2
    queue.forget("a")
    assert queue.failures("a") == 0
    assert queue.retry("a") <= 0.2


async def test_retries_are_spread() -> None:
    queue: DelayQueue[str] = DelayQueue()
    assert len({round(queue.retry(str(number)), 6) for number in range(50)}) > 40


async def test_retries_keep_to_the_bounds_of_the_caller() -> None:
    queue: DelayQueue[str] = DelayQueue(Backoff(first_s=8, base_s=8, cap_s=8))
    assert queue.retry("a", at_most_s=0.5) == 0.5
    assert queue.retry("a", at_least_s=30) == 30


async def test_a_resting_key_is_held_back_and_runs_once_after_it() -> None:
    queue: DelayQueue[str] = DelayQueue()
    queue.add("a")
    queue.done(await queue.get(), rest_s=10)
    start = now()
    queue.add("a")
    await asyncio.sleep(5)
    queue.add("a")
    assert await queue.get() == "a"
    assert 10 <= now() - start < 10.1
    queue.done("a")
    assert await drain(queue, 20) == []


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "retry"]), st.sampled_from("abc"), st.just(0.0)),
        st.tuples(st.sampled_from(["add_after", "finish"]), st.sampled_from("abc"), st.sampled_from([0.0, 1.0, 7.0])),
        st.tuples(st.just("pass"), st.just(""), st.sampled_from([0.5, 3.0])),
        st.tuples(st.just("take"), st.just(""), st.just(0.0)),
    ),
    max_size=40,
)


@given(STEPS)
def test_work_never_overlaps_and_no_addition_is_lost(steps: list[tuple[str, str, float]]) -> None:
    async def scenario() -> None:
        queue: DelayQueue[str] = DelayQueue()
        working: set[str] = set()
        wanted: set[str] = set()
        unanswered: Counter[str] = Counter()

        async def take(within_s: float) -> str | None:
            try:
                async with asyncio.timeout(within_s):
                    key = await queue.get()
            except TimeoutError:
                return None
            assert key not in working
            assert unanswered[key] > 0
            unanswered[key] -= 1
            wanted.discard(key)
            return key

        for step, key, seconds in steps:
            if step == "take":
                if (taken := await take(0)) is not None:
                    working.add(taken)
            elif step == "finish":
                if key in working:
                    queue.done(key, rest_s=seconds)
                    working.discard(key)
            elif step == "pass":
                await asyncio.sleep(seconds)
            else:
                wanted.add(key)
                unanswered[key] += 1
                if step == "add":
                    queue.add(key)
                elif step == "add_after":
                    queue.add_after(key, seconds)
                else:
                    queue.retry(key)
        for key in working:
            queue.done(key)
        working.clear()
        while wanted:
            last = await take(400)
            assert last is not None
            queue.done(last)

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(scenario())


def test_a_delay_that_is_over_when_it_is_set_does_not_break_the_next_one_under_uvloop() -> None:
    async def play() -> str:
        queue: DelayQueue[str] = DelayQueue()
        queue.add_after("passed", 1e-9)
        queue.add_after("sooner", 1e-10)
        return await queue.get()

    assert uvloop.run(play()) in {"passed", "sooner"}
