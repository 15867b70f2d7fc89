"""Writes that cross: whatever happens at the same time, what is left in the end is what the claims say."""

from __future__ import annotations

import asyncio
import random

from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import Forbidden, NotFound
from tests.product.claim import ZONE, ZONE_CLASS, Claim, claim, zone, zone_class
from tests.product.stage import Stage

COUNT = 60
CLAIMS = [claim(f"host-{number}", "A", f"192.0.2.{number}") for number in range(COUNT)]


async def test_a_zone_that_is_made_again_while_the_former_one_leaves(stage: Stage) -> None:
    await stage.set_up(*CLAIMS[:20])
    for _ in range(3):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(stage.delete(ZONES, ZONE))
            for each in CLAIMS[:10]:
                tasks.create_task(stage.delete(RECORD_SETS, each.name))
        for each in CLAIMS[10:20]:
            await stage.delete(RECORD_SETS, each.name)
        await stage.until_gone(ZONES, ZONE)
        await stage.apply(zone(stage.domain))
        for each in CLAIMS[:20]:
            await _apply_again(stage, each)
        await stage.until_all_programmed(RECORD_SETS, {each.name for each in CLAIMS[:20]})
        stage.assert_answered(CLAIMS[:20])


async def test_claims_that_come_while_their_zone_goes(stage: Stage) -> None:
    await stage.set_up(*CLAIMS[:5])
    async with asyncio.TaskGroup() as tasks:
        for each in CLAIMS[5:]:
            tasks.create_task(stage.apply(each.manifest()))
        tasks.create_task(stage.delete(ZONES, ZONE))
    for each in CLAIMS:
        await stage.delete(RECORD_SETS, each.name)
    await stage.until_gone(ZONES, ZONE)
    for each in CLAIMS:
        await stage.until_gone(RECORD_SETS, each.name)
    assert await stage.remains() == {"ZoneClass": [ZONE_CLASS]}
    assert stage.rcode(CLAIMS[0].owner, "A") == "REFUSED"


async def test_a_namespace_that_goes_while_claims_are_written(stage: Stage) -> None:
    await stage.set_up(*CLAIMS[:10])

    async def write(each: Claim) -> None:
        try:
            await stage.apply(each.manifest())
        except (Forbidden, NotFound):  # the namespace is on its way out, or gone
            return

    async with asyncio.TaskGroup() as tasks:
        for number, each in enumerate(CLAIMS):
            tasks.create_task(write(each))
            if number == COUNT // 2:
                tasks.create_task(stage.delete(NAMESPACES, stage.namespace))
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.remains() == {}
    assert stage.rcode("@", "SOA") == "REFUSED"


async def test_a_namespace_that_goes_before_anything_is_programmed(stage: Stage) -> None:
    for manifest in (zone_class(), zone(stage.domain), *(each.manifest() for each in CLAIMS)):
        await stage.apply(manifest)
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.remains() == {}
    assert stage.rcode("@", "SOA") == "REFUSED"


async def test_random_writes_by_many_end_as_the_claims_say(stage: Stage) -> None:
    """Everybody writes the same few names: the stored claims decide, whoever came last."""
    await stage.set_up()
    chance = random.Random(1)
    owners = [f"name-{number}" for number in range(8)]

    async def write() -> None:
        for _ in range(25):
            each = claim(chance.choice(owners), "A", f"192.0.2.{chance.randrange(256)}", ttl=chance.randrange(1, 99))
            try:
                if chance.random() < 0.3:
                    await stage.delete(RECORD_SETS, each.name)
                else:
                    await _apply_again(stage, each)
            except NotFound:
                continue

    async with asyncio.TaskGroup() as tasks:
        for _ in range(6):
            tasks.create_task(write())
    stored = {}
    for owner in owners:
        obj = await stage.until(
            RECORD_SETS, f"{owner}-a", lambda obj: obj is None or "deletionTimestamp" not in obj["metadata"]
        )
        if obj is not None:
            stored[owner] = claim(owner, "A", *obj["spec"]["a"]["addresses"], ttl=obj["spec"]["ttl"])
    await stage.until_all_programmed(RECORD_SETS, {each.name for each in stored.values()})
    for owner in owners:
        if owner in stored:
            stage.assert_answered([stored[owner]])
        else:
            assert stage.rcode(owner, "A") == "NXDOMAIN"


async def test_a_class_that_comes_and_goes(stage: Stage) -> None:
    await stage.set_up(*CLAIMS[:5])
    for number in range(5):
        await stage.delete(ZONE_CLASSES, ZONE_CLASS)
        edited = claim("host-0", "A", f"198.51.100.{number}")
        await stage.apply(edited.manifest())
        await stage.apply(zone_class(negativeTTL=number))
        await stage.until_programmed(RECORD_SETS, edited.name)
        stage.assert_answered([edited])
    obj = await stage.until_programmed(ZONES, ZONE)
    assert obj["metadata"]["generation"] == 1
    stage.assert_answered(CLAIMS[1:5])


async def _apply_again(stage: Stage, each: Claim) -> None:
    """Apply a claim; one of that name which is on its way out has to go first."""
    while "deletionTimestamp" in (await stage.apply(each.manifest()))["metadata"]:
        await stage.until_gone(RECORD_SETS, each.name)
