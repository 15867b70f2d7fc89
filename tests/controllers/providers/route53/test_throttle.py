"""An account is asked evenly and seldom enough, and not at all for as long as it says."""

from __future__ import annotations

import asyncio
import itertools

from controllers.providers.route53.throttle import Throttle, Throttles
from tests.kube.virtual_loop import VirtualTimeLoop


def moments(requests: int, *, complaint_after: int = -1, retry_after_s: float | None = None) -> list[float]:
    """When each of several requests at once may be sent, at five a second."""
    loop = VirtualTimeLoop()
    throttle = Throttle(5.0, loop.time)
    started = loop.time()
    found: list[float] = []

    async def one(number: int) -> None:
        await throttle.slot()
        found.append(loop.time() - started)
        if number == complaint_after:
            throttle.complain(retry_after_s)

    async def play() -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(requests):
                tasks.create_task(one(number))

    try:
        loop.run_until_complete(play())
    finally:
        loop.close()
    return sorted(found)


def test_five_requests_go_in_a_second() -> None:
    found = moments(21)
    assert found[0] == 0
    assert 3.99 <= found[-1] <= 4.05
    assert all(later - earlier >= 0.19 for earlier, later in itertools.pairwise(found))


def test_a_complaint_holds_everybody_back() -> None:
    found = moments(5, complaint_after=0, retry_after_s=10.0)
    assert found[0] == 0
    assert min(found[1:]) >= 10.0
    assert min(moments(2, complaint_after=0)[1:]) >= 1.0


def test_those_that_were_held_back_go_evenly_too() -> None:
    found = moments(21, complaint_after=0, retry_after_s=10.0)[1:]
    assert min(found) >= 10.0
    assert all(later - earlier >= 0.19 for earlier, later in itertools.pairwise(found))
    assert found[-1] <= 14.5


def test_accounts_do_not_wait_for_one_another() -> None:
    throttles = Throttles(5.0, lambda: 0.0)
    assert throttles.of("1") is throttles.of("1")
    assert throttles.of("1") is not throttles.of("2")
