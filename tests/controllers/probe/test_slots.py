"""Places that are shared fairly: who has the fewest is next, and none is lost when whoever waits for one gives up."""

from __future__ import annotations

import asyncio
import random

import pytest

from controllers.probe.slots import Slots


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_whoever_has_the_fewest_places_gets_the_next_one() -> None:
    slots, got, go = Slots(4), list[str](), asyncio.Semaphore(0)

    async def hold(party: str) -> None:
        async with slots.one(party):
            got.append(party)
            await go.acquire()

    crowd = [asyncio.create_task(hold("crowd")) for _ in range(40)]
    await settled()
    others = [asyncio.create_task(hold(each)) for each in ("one", "two")]
    await settled()
    assert got == ["crowd"] * 4
    for _ in range(2):
        go.release()
    await settled()
    assert got[4:] == ["one", "two"]
    for _ in range(60):
        go.release()
    await asyncio.gather(*crowd, *others)
    assert len(got) == 42


async def test_who_has_no_place_does_not_wait_for_those_who_have_many_and_keep_them() -> None:
    slots, got, go = Slots(8, kept=3), list[str](), asyncio.Semaphore(0)

    async def hold(party: str) -> None:
        async with slots.one(party):
            got.append(party)
            await go.acquire()

    crowds = [asyncio.create_task(hold(each)) for each in ("this crowd", "that crowd") * 20]
    await settled()
    assert len(got) == 5
    others = [asyncio.create_task(hold(each)) for each in ("one", "two", "three", "one")]
    await settled()
    assert got[5:] == ["one", "two", "three"]
    for _ in range(60):
        go.release()
    await asyncio.gather(*crowds, *others)
    assert len(got) == 44


@pytest.mark.parametrize("seed", range(20))
async def test_no_place_is_lost_or_given_twice_whenever_somebody_gives_up(seed: int) -> None:
    chance, slots, held, most = random.Random(seed), Slots(3, kept=seed % 2), 0, 0

    async def hold(party: int) -> None:
        nonlocal held, most
        async with slots.one(party):
            held += 1
            most = max(most, held)
            try:
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                held -= 1

    tasks = [asyncio.create_task(hold(number % 5)) for number in range(60)]
    while not all(each.done() for each in tasks):
        chance.choice(tasks).cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (held, most) == (0, 3)
    async with slots.one("a"), slots.one("b"), slots.one("c"):
        late = asyncio.create_task(hold(0))
        await settled()
        assert not late.done()
    await late
