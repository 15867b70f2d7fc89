"""RecordSets become records at Cloudflare, follow their edits, and go; what others have there stays."""

from __future__ import annotations

import pytest

from controllers.api.group import RECORD_SETS
from tests.controllers.providers.cloudflare.fake.record import TextForm
from tests.controllers.providers.cloudflare.world import DOMAIN, Object, World, a, cname, record_set, txt

LONG = "k=" + "abcdefgh" * 60
LIFECYCLES: dict[str, tuple[Object, Object]] = {
    "A": (a("www", "192.0.2.1", "192.0.2.2"), a("www", "192.0.2.2", "192.0.2.3", ttl=60)),
    "AAAA": (
        record_set("AAAA", "www", {"addresses": ["2001:db8::1"]}),
        record_set("AAAA", "www", {"addresses": ["2001:DB8:0::2"]}),
    ),
    "TXT": (txt("@", "v=spf1 -all", LONG), txt("@", 'say "so"', "back\\slash; semi")),
    "CNAME": (cname("alias", "www.example.net"), cname("alias", "www.example.org")),
    "MX": (
        record_set("MX", "@", {"records": [{"preference": 10, "exchange": "mail.example.net"}]}),
        record_set(
            "MX",
            "@",
            {
                "records": [
                    {"preference": 20, "exchange": "mail.example.net"},
                    {"preference": 20, "exchange": "m2.test"},
                ]
            },
        ),
    ),
    "CAA": (
        record_set("CAA", "@", {"records": [{"flags": 0, "tag": "issue", "value": "ca.example.net; a=b"}]}),
        record_set("CAA", "@", {"records": [{"flags": 128, "tag": "iodef", "value": "mailto:ca@example.net"}]}),
    ),
    "NS": (
        record_set("NS", "child", {"nameServers": ["ns1.example.net"]}),
        record_set("NS", "child", {"nameServers": ["ns1.example.net", "ns2.example.net"]}),
    ),
}


async def test_record_sets_of_every_type_are_created_changed_left_alone_and_deleted(world: World) -> None:
    await world.ready_zone()
    names = [f"{kind.lower()}-set" for kind in LIFECYCLES]
    for step in (0, 1):
        for name, wanted in zip(names, LIFECYCLES.values(), strict=True):
            await world.apply({**wanted[step], "metadata": {**wanted[step]["metadata"], "name": name}})
        await world.until(lambda: all(map(world.is_programmed, names)))
        ids = [each for name in names for each in world.record_ids(name)]
        assert sorted(each["id"] for each in world.records()) == sorted(ids)
        writes = len(world.cloudflare.writes)
        await world.look_again()
        assert len(world.cloudflare.writes) == writes, "what is as it should be is left alone"
        assert all(map(world.is_programmed, names))
    for name in names:
        await world.delete(RECORD_SETS, name)
    for name in names:
        await world.until_gone(RECORD_SETS, name)
    assert world.records() == []


@pytest.mark.parametrize("text_form", list(TextForm))
async def test_texts_are_compared_by_what_they_say(world: World, text_form: TextForm) -> None:
    world.cloudflare.state.text_form = text_form
    await world.ready_zone()
    await world.publish(txt("@", "v=spf1 -all", LONG, 'say "so"', "back\\slash; semi", '"quoted"'))
    writes = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) == writes
    assert world.is_programmed("apex")


async def test_an_edit_touches_only_the_records_that_change(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", "192.0.2.1", "192.0.2.2", "192.0.2.3"))
    before = {each["content"]: each["id"] for each in world.records()}
    await world.publish(a("www", "192.0.2.2", "192.0.2.3", "192.0.2.4"))
    after = {each["content"]: each["id"] for each in world.records()}
    assert {after[each] for each in ("192.0.2.2", "192.0.2.3")} == {before[each] for each in ("192.0.2.2", "192.0.2.3")}
    assert after["192.0.2.4"] == before["192.0.2.1"], "a record that is no longer wanted carries what is new"


async def test_a_cname_stays_the_same_record(world: World) -> None:
    await world.ready_zone()
    await world.publish(cname("alias", "one.example.net"))
    ids = world.record_ids("alias")
    await world.publish(cname("alias", "two.example.net", ttl=None, options={"ttl": "Auto", "proxied": True}))
    assert world.record_ids("alias") == ids
    (record,) = world.records()
    assert (record["content"], record["ttl"], record["proxied"]) == ("two.example.net", 1, True)


async def test_a_proxied_record_reads_back_with_an_automatic_ttl(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", ttl=None, options={"ttl": "Auto", "proxied": True}))
    (record,) = world.records()
    assert (record["ttl"], record["proxied"]) == (1, True)
    writes = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) == writes
    await world.publish(a("www", ttl=120))
    (record,) = world.records()
    assert (record["ttl"], record["proxied"]) == (120, False)


async def test_comments_and_tags_that_nobody_declares_belong_to_others(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www"))
    (record,) = world.records()
    record.update(comment="by hand", tags=["owner:somebody"])
    writes = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) == writes
    await world.publish(a("www", "192.0.2.9"))
    (record,) = world.records()
    assert (record["content"], record["comment"], record["tags"]) == ("192.0.2.9", "by hand", ["owner:somebody"])


async def test_comments_and_tags_are_kept_as_declared(world: World) -> None:
    await world.ready_zone()
    options: Object = {"comment": "declared", "tags": ["Team:DNS", "env:prod"]}
    await world.publish(a("www", options=options))
    (record,) = world.records()
    assert (record["comment"], record["tags"]) == ("declared", ["env:prod", "team:DNS"])
    record.update(comment="by hand", tags=[])
    await world.look_again()
    await world.until(lambda: world.is_programmed("www"))
    (record,) = world.records()
    assert (record["comment"], record["tags"]) == ("declared", ["env:prod", "team:DNS"])
    await world.publish(a("www", options={"comment": "", "tags": []}))
    (record,) = world.records()
    assert (record["comment"], record["tags"]) == (None, [])


async def test_drift_is_healed(world: World) -> None:
    zone_id = await world.ready_zone()
    await world.publish(a("www", "192.0.2.1", "192.0.2.2"))
    first, second = world.records()
    first.update(content="198.51.100.1", ttl=60)
    del world.cloudflare.state.records[zone_id][second["id"]]
    await world.look_again()
    await world.until(lambda: world.is_programmed("www"))
    assert {each["content"] for each in world.records()} == {"192.0.2.1", "192.0.2.2"}
    assert {each["ttl"] for each in world.records()} == {300}
    assert sorted(world.record_ids("www")) == sorted(each["id"] for each in world.records())


async def test_a_type_that_somebody_changed_is_changed_back_in_one_batch(world: World) -> None:
    zone_id = await world.ready_zone()
    await world.publish(cname("www", "example.net"))
    (record,) = world.records()
    record.update(type="A", content="198.51.100.1", proxiable=True)
    world.cloudflare.calls.clear()
    await world.look_again()
    await world.until(lambda: world.is_programmed("www"))
    assert [each["type"] for each in world.records(zone_id)] == ["CNAME"]
    assert len(world.cloudflare.writes) == 1


async def test_records_of_a_name_and_type_that_nobody_manages_are_a_conflict(world: World) -> None:
    zone_id = await world.ready_zone()
    foreign = world.cloudflare.state.add_record(
        zone_id, type="A", name=f"www.{DOMAIN}", content="198.51.100.1", ttl=300
    )
    await world.apply(a("www", "192.0.2.1"))
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert [each["id"] for each in world.records()] == [foreign]
    assert world.cloudflare.state.records[zone_id][foreign]["content"] == "198.51.100.1"


async def test_a_record_of_others_beside_ours_is_a_conflict_and_stays(world: World) -> None:
    zone_id = await world.ready_zone()
    await world.publish(a("www", "192.0.2.1"))
    foreign = world.cloudflare.state.add_record(
        zone_id, type="A", name=f"www.{DOMAIN}", content="198.51.100.1", ttl=300
    )
    await world.look_again()
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    await world.delete_and_wait(RECORD_SETS, "www")
    assert [each["id"] for each in world.records()] == [foreign]


@pytest.mark.parametrize(
    ("there", "claim"),
    [
        ({"type": "CNAME", "content": "example.net"}, a("www")),
        ({"type": "A", "content": "192.0.2.1"}, cname("www", "example.net")),
        ({"type": "NS", "content": "ns.example.net"}, txt("www", "hello")),
    ],
)
async def test_what_cannot_stand_beside_ours_is_a_conflict_without_a_request(
    world: World, there: Object, claim: Object
) -> None:
    zone_id = await world.ready_zone()
    world.cloudflare.state.add_record(zone_id, name=f"www.{DOMAIN}", ttl=300, **there)
    world.cloudflare.calls.clear()
    await world.apply(claim)
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    assert world.cloudflare.writes == []


async def test_the_apex_may_be_an_alias_beside_texts_and_mail(world: World) -> None:
    await world.ready_zone()
    await world.publish(cname("@", "example.net"))
    await world.publish(txt("@", "v=spf1 -all", name="spf"))
    mail = {"records": [{"preference": 10, "exchange": "mail.example.net"}]}
    await world.publish(record_set("MX", "@", mail, name="mail"))
    assert {each["type"] for each in world.records()} == {"CNAME", "TXT", "MX"}
    await world.apply(a("@", name="address"))
    await world.until(lambda: world.says(world.record_set("address"), "Accepted", "False", "RecordSetConflict"))


async def test_an_alias_becomes_addresses(world: World) -> None:
    await world.ready_zone()
    await world.publish(cname("www", "example.net", name="alias"))
    await world.apply(a("www", name="address"))
    await world.until(lambda: world.says(world.record_set("address"), "Accepted", "False", "RecordSetConflict"))
    await world.delete_and_wait(RECORD_SETS, "alias")
    await world.until(lambda: world.is_programmed("address"))
    assert [each["type"] for each in world.records()] == ["A"]


async def test_changes_are_told_as_events(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www", "192.0.2.1"))
    await world.publish(a("www", "192.0.2.2", "192.0.2.3"))
    await world.delete(RECORD_SETS, "www")
    for reason in ("CloudflareRecordCreated", "CloudflareRecordUpdated", "CloudflareRecordDeleted"):
        event = await world.until_event("www", reason)
        assert (event["involvedObject"]["kind"], event["related"]["kind"]) == ("RecordSet", "Zone")


async def test_a_large_zone_takes_few_requests(world: World) -> None:
    await world.ready_zone()
    world.cloudflare.calls.clear()
    names = [f"host{number}" for number in range(100)]
    for name in names:
        await world.apply(a(name))
    await world.until(lambda: all(map(world.is_programmed, names)))
    assert len(world.records()) == 100
    assert len(world.cloudflare.calls) < 100
    writes = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) == writes


async def test_a_zone_that_is_not_looked_at_again_makes_no_requests(world: World) -> None:
    await world.ready_zone()
    await world.publish(a("www"))
    await world.quiet()
    calls = len(world.cloudflare.calls)
    await world.client.patch_merge(
        RECORD_SETS, {"metadata": {"labels": {"some": "label"}}}, namespace="team", name="www"
    )
    await world.quiet()
    assert len(world.cloudflare.calls) == calls
