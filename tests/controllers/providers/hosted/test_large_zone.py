"""Zones past one object: pages of the snapshot and parts of the ledger."""

from __future__ import annotations

from typing import Any

from controllers.api.group import ZONE_UNITS
from kube.object import ObjectKey
from tests.controllers.providers.hosted.world import TEAM, World, item, keys

ZONE = ObjectKey(TEAM, "zone")
WORDS = "word " * 110


def text(number: int, *, generation: int = 1) -> dict[str, Any]:
    """A TXT record set of about 600 octets."""
    found = item(f"t{number}", generation=generation, type="TXT", txt={"values": [f"{number}.{generation} {WORDS}"]})
    del found["a"]
    return found


async def published(world: World, items: list[dict[str, Any]]) -> None:
    await world.start_servers("ns-a", "ns-b")
    await world.zone_class()
    await world.unit("zone", items)
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))


async def test_edit_writes_only_the_page_that_it_touches_and_the_old_page_goes(world: World) -> None:
    items = [text(number) for number in range(600)]
    await published(world, items)
    before = await world.pages()
    assert len(before) == 2
    items[7] = text(7, generation=2)
    await world.edit("zone", items)
    await world.until(lambda: world.is_programmed("zone", "t7", generation=2))

    async def is_tidy() -> bool:
        return len(await world.pages()) == 2

    await world.until_async(is_tidy)
    after = await world.pages()
    assert len(after & before) == 1
    hosted = await world.hosted("zone")
    assert hosted is not None
    assert {page["name"] for page in hosted["spec"]["pages"]} == after
    assert "recordSets" not in hosted["spec"]
    served = world.servers["ns-a"].records(ZONE)
    assert len(served) == 600
    assert served["t7", "TXT"].txt.values[0].startswith("7.2 ")


async def test_page_stays_while_a_live_server_may_need_it(world: World) -> None:
    items = [text(number) for number in range(200)]
    await published(world, items)
    before = await world.pages()
    world.servers["ns-b"].paused = True
    await world.edit("zone", [text(0, generation=2), *items[1:]])
    await world.until(lambda: world.says(world.programmed("zone", "t0"), "False", "ProviderChangePending"))
    await world.quiet()
    assert before < await world.pages()
    world.servers["ns-b"].resume()
    await world.until(lambda: world.is_programmed("zone", "t0", generation=2))

    async def is_tidy() -> bool:
        return not before & await world.pages()

    await world.until_async(is_tidy)


async def test_page_deleted_by_hand_is_written_again(world: World) -> None:
    await published(world, [text(number) for number in range(200)])
    (page,) = await world.pages()
    serials = list(world.servers["ns-a"].serials)
    await world.client.delete(world.hosted_ref, namespace=TEAM, name=page)

    async def is_back() -> bool:
        return await world.pages() == {page}

    await world.until_async(is_back)
    await world.quiet()
    assert world.servers["ns-a"].serials == serials


async def test_restart_of_a_paged_zone_writes_nothing(world: World) -> None:
    await published(world, [text(number) for number in range(600)])
    await world.quiet()
    hosted, pages = await world.hosted("zone"), await world.pages()
    await world.stop("manager")
    await world.start_manager()
    await world.quiet()
    assert await world.hosted("zone") == hosted
    assert await world.pages() == pages


async def test_zone_that_shrinks_stands_inline_again(world: World) -> None:
    await published(world, [text(number) for number in range(200)])
    await world.edit("zone", [text(number) for number in range(20)])

    async def is_inline() -> bool:
        hosted = await world.hosted("zone")
        return hosted is not None and "pages" not in hosted["spec"] and not await world.pages()

    await world.until_async(is_inline)
    assert len(world.servers["ns-a"].records(ZONE)) == 20


async def test_zone_is_published_from_all_parts_and_results_stand_in_the_part_of_the_item(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item("www")], parts=(1,))
    await world.quiet()
    assert await world.hosted("zone") is None, "part 1 is not there, so the content is not known"

    await world.unit("zone", [item("mail")], part=1)
    await world.until(lambda: world.is_programmed("zone", "www") and world.is_programmed("zone.part-1", "mail"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www", "mail"}
    further = world.cached_unit("zone.part-1")
    assert further is not None
    assert further.status.zone is None
    assert world.entry("zone", "mail") is None


async def test_part_that_has_become_empty_is_let_go(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item("www")], parts=(1,))
    await world.unit("zone", [item("mail")], part=1)
    await world.until(lambda: world.is_programmed("zone.part-1", "mail"))
    await world.edit("zone.part-1", [item("mail", deletionRequested=True)])
    await world.until(lambda: world.entry("zone.part-1", "mail") is None and world.caught_up("zone.part-1"))
    await world.client.patch_merge(ZONE_UNITS, {"spec": {"parts": []}}, namespace=TEAM, name="zone")
    await world.edit("zone.part-1", [])
    await world.delete_unit("zone.part-1")
    await world.until(lambda: world.cached_unit("zone.part-1") is None)
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}


async def test_deleting_a_zone_of_several_parts_releases_each(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [text(number) for number in range(200)], parts=(1,))
    await world.unit("zone", [item("mail")], part=1)
    await world.until(lambda: world.is_programmed("zone.part-1", "mail"))
    await world.client.delete(ZONE_UNITS, namespace=TEAM, name="zone.part-1")
    await world.delete_unit("zone")
    await world.delete_unit("zone.part-1")
    assert await world.hosted("zone") is None
    assert not await world.pages()
