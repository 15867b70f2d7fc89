"""What is deleted goes: from the answers first, then from the API, with nothing stuck and nothing left."""

from __future__ import annotations

import pytest

from controllers.api.group import HOSTED_ZONES, NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from kube.errors import Forbidden
from tests.product.claim import ZONE, ZONE_CLASS, Claim, claim, zone, zone_class
from tests.product.stage import Stage

WWW = claim("www", "A", "192.0.2.1")
TEXT = claim("www", "TXT", "text")
HUGE = [
    claim(f"text-{number}", "TXT", *(f"{letter * 3998}{number:02}" for letter in "abcdefghij")) for number in range(45)
]
LARGE = [claim(f"host-{number}", "TXT", "x" * 4000) for number in range(40)]


async def test_a_record_set_leaves_the_answers_before_it_is_gone(stage: Stage) -> None:
    await stage.set_up(WWW, TEXT)
    serial = stage.serial()
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(RECORD_SETS, WWW.name)
    assert stage.answer("www", "A") == set()
    assert stage.serial() > serial
    await stage.delete(RECORD_SETS, TEXT.name)
    await stage.until_gone(RECORD_SETS, TEXT.name)
    assert stage.rcode("www", "A") == "NXDOMAIN"
    (unit,) = (await stage.client.list(ZONE_UNITS, namespace=stage.namespace)).items
    assert unit["spec"].get("recordSets", []) == []


async def test_a_record_set_that_was_never_composed_goes_at_once(stage: Stage) -> None:
    await stage.apply(WWW.manifest())
    await stage.until_condition(RECORD_SETS, WWW.name, "Accepted", "Unknown", "ZoneNotResolved")
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(RECORD_SETS, WWW.name)


async def test_a_record_set_may_come_back_under_its_name(stage: Stage) -> None:
    await stage.set_up(WWW)
    for number in range(2, 6):
        await stage.delete(RECORD_SETS, WWW.name)
        await stage.until_gone(RECORD_SETS, WWW.name)
        assert stage.rcode("www", "A") == "NXDOMAIN"
        again = claim("www", "A", f"192.0.2.{number}")
        await stage.publish(again)
        stage.assert_answered([again])


async def test_a_zone_without_records_goes(stage: Stage) -> None:
    await stage.set_up()
    await stage.delete(ZONES, ZONE)
    await stage.until_gone(ZONES, ZONE)
    assert stage.rcode("@", "SOA") == "REFUSED"
    assert await stage.remains() == {"ZoneClass": [ZONE_CLASS]}


async def test_a_zone_with_records_waits_for_them_and_says_so(stage: Stage) -> None:
    await stage.set_up(WWW, TEXT)
    await stage.delete(ZONES, ZONE)
    found = await stage.until_condition(ZONES, ZONE, "Programmed", "False", "ProviderChangePending")
    for each in (WWW, TEXT):
        assert f"{stage.namespace}/{each.name}" in found["message"]
    stage.assert_answered([WWW, TEXT])

    late = claim("late", "A", "192.0.2.9")
    await stage.apply(late.manifest())
    await stage.until_condition(RECORD_SETS, late.name, "Accepted", "False", "ZoneNotAccepted")

    await stage.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(RECORD_SETS, WWW.name)
    assert stage.answer("www", "A") == set()
    found = await stage.until_condition(ZONES, ZONE, "Programmed", "False", "ProviderChangePending")
    await stage.until_there(ZONES, ZONE, lambda obj: WWW.name not in str(obj["status"]["conditions"]))

    await stage.delete(RECORD_SETS, TEXT.name)
    await stage.until_gone(ZONES, ZONE)
    assert stage.rcode("www", "TXT") == "REFUSED"
    await stage.until_condition(RECORD_SETS, late.name, "Accepted", "Unknown", "ZoneNotResolved")
    assert await stage.remains() == {"ZoneClass": [ZONE_CLASS], "RecordSet": [late.name]}
    await stage.delete(RECORD_SETS, late.name)
    await stage.until_gone(RECORD_SETS, late.name)


async def test_a_zone_and_its_records_go_together_whatever_is_deleted_first(stage: Stage) -> None:
    await stage.set_up(WWW, TEXT)
    await stage.delete(ZONES, ZONE)
    for each in (WWW, TEXT):
        await stage.delete(RECORD_SETS, each.name)
    await stage.delete(ZONE_CLASSES, ZONE_CLASS)
    await stage.until_nothing_remains()
    assert stage.rcode("www", "A") == "REFUSED"


async def test_a_zone_whose_class_is_gone_stays_served_and_can_be_deleted(stage: Stage) -> None:
    await stage.set_up(WWW)
    await stage.delete(ZONE_CLASSES, ZONE_CLASS)
    await stage.until_gone(ZONE_CLASSES, ZONE_CLASS)
    await stage.until_condition(ZONES, ZONE, "Accepted", "Unknown", "ZoneClassNotResolved")
    stage.assert_answered([WWW])
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(RECORD_SETS, WWW.name)
    assert stage.rcode("www", "A") == "NXDOMAIN"
    await stage.delete(ZONES, ZONE)
    await stage.until_nothing_remains()
    assert stage.rcode("@", "SOA") == "REFUSED"


async def test_a_zone_whose_class_comes_back_goes_on(stage: Stage) -> None:
    await stage.set_up(WWW)
    await stage.delete(ZONE_CLASSES, ZONE_CLASS)
    await stage.until_condition(ZONES, ZONE, "Accepted", "Unknown", "ZoneClassNotResolved")
    edited = claim("www", "A", "192.0.2.2")
    await stage.apply(edited.manifest())
    await stage.apply(zone_class())
    await stage.until_programmed(RECORD_SETS, edited.name)
    stage.assert_answered([edited])


async def test_a_namespace_goes_with_everything_in_it(stage: Stage) -> None:
    several = [claim(f"host-{number}", "A", f"192.0.2.{number}") for number in range(1, 31)]
    await stage.set_up(*several)
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.remains() == {}
    assert stage.rcode("@", "SOA") == "REFUSED"
    assert stage.rcode("host-1", "A") == "REFUSED"


async def test_a_zone_of_several_pages_leaves_none(stage: Stage) -> None:
    await stage.set_up(*LARGE)
    pages = [name for name in await stage.names(HOSTED_ZONES) if name != ZONE]
    assert pages, "the zone is to be too large for one object"
    stage.assert_answered(LARGE)
    for each in LARGE[1:]:
        await stage.delete(RECORD_SETS, each.name)
    for each in LARGE[1:]:
        await stage.until_gone(RECORD_SETS, each.name)
    assert stage.rcode(LARGE[1].owner, "TXT") == "NXDOMAIN"
    stage.assert_answered(LARGE[:1])
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.remains() == {}
    assert stage.rcode("@", "SOA") == "REFUSED"


async def test_a_zone_of_several_parts_shrinks_and_grows_again(stage: Stage) -> None:
    await stage.set_up()
    for _ in range(2):
        await publish_huge(stage)
        assert len(await stage.names(ZONE_UNITS)) > 2, "the zone is to be too large for one ledger object"
        await delete_all(stage, HUGE[1:])
        stage.assert_answered(HUGE[:1])
        await stage.until_only(ZONE_UNITS, ZONE)
        await delete_all(stage, HUGE[:1])
        assert stage.rcode(HUGE[0].owner, "TXT") == "NXDOMAIN"
    await publish_huge(stage)
    await stage.delete(NAMESPACES, stage.namespace)
    await stage.until_gone(NAMESPACES, stage.namespace)
    assert await stage.remains() == {}


async def test_a_zone_of_several_parts_goes(stage: Stage) -> None:
    await stage.set_up()
    await publish_huge(stage)
    await stage.delete(ZONES, ZONE)
    await delete_all(stage, HUGE)
    await stage.until_gone(ZONES, ZONE)
    assert await stage.remains() == {"ZoneClass": [ZONE_CLASS]}


async def publish_huge(stage: Stage) -> None:
    for each in HUGE:
        await stage.apply(each.manifest())
    await stage.until_all_programmed(RECORD_SETS, {each.name for each in HUGE})


async def delete_all(stage: Stage, claims: list[Claim]) -> None:
    for each in claims:
        await stage.delete(RECORD_SETS, each.name)
    for each in claims:
        await stage.until_gone(RECORD_SETS, each.name)


async def test_a_domain_can_be_claimed_again(stage: Stage) -> None:
    await stage.set_up(WWW)
    serial = stage.serial()
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.delete(ZONES, ZONE)
    await stage.until_gone(ZONES, ZONE)
    await stage.apply(zone(stage.domain))
    await stage.until_programmed(ZONES, ZONE)
    assert stage.rcode("www", "A") == "NXDOMAIN"
    assert stage.serial() >= serial
    await stage.publish(WWW)
    stage.assert_answered([WWW])


async def test_a_ledger_is_not_deleted_under_a_zone_that_lives(stage: Stage) -> None:
    await stage.set_up(WWW)
    with pytest.raises(Forbidden, match="its Zone"):
        await stage.delete(ZONE_UNITS, ZONE)
    stage.assert_answered([WWW])
