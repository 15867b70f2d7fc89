"""Whose a record set is, what becomes of it, and how Route 53's refusals are borne."""

from __future__ import annotations

import time

import pytest

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.world import DOMAIN, World, a, alias, cname, record, txt, wire

WWW = f"www.{DOMAIN}."
CHANGE = "ChangeResourceRecordSets"
LIST = "ListResourceRecordSets"


async def foreign(world: World, *wires: dict[str, object]) -> None:
    """Put somebody else's record sets into the hosted zone."""
    with world.aws.lock:
        world.zone.apply([("CREATE", dict(each)) for each in wires])


async def test_a_record_set_of_others_is_left_alone(world: World) -> None:
    await world.set_up()
    await foreign(world, wire(WWW, "A", "198.51.100.1"))
    before = world.aws.count()
    await world.apply(a("www", "198.51.100.1"))
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    assert list(world.records()) == [(WWW, "A")]
    assert world.aws.count() == before


ADOPTABLE = {
    "A": (a("www", "198.51.100.1"), wire(WWW, "A", "198.51.100.1")),
    "AAAA": (
        record("www", "www", "AAAA", {"addresses": ["2001:db8::1"]}),
        wire(WWW, "AAAA", "2001:0DB8:0:0:0:0:0:1"),
    ),
    "TXT": (txt("www", 'a"b'), wire(WWW, "TXT", '"a" "\\042" "b"')),
    "CNAME": (cname("www", "web.example.net"), wire(WWW, "CNAME", "WEB.example.net")),
    "MX": (
        record("www", "www", "MX", {"records": [{"preference": 10, "exchange": "mx.example.net"}]}),
        wire(WWW, "MX", "10 mx.example.net"),
    ),
    "CAA": (
        record("www", "www", "CAA", {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]}),
        wire(WWW, "CAA", '0 issue "ca.test"'),
    ),
    "NS": (
        record("www", "www", "NS", {"nameServers": ["b.example.net", "a.example.net"]}),
        wire(WWW, "NS", "a.example.net.", "B.example.net."),
    ),
    "ALIAS": (
        alias("www", "lb.example.net."),
        {
            "Name": WWW,
            "Type": "A",
            "AliasTarget": {
                "HostedZoneId": "Z14GRHDCWA56QT",
                "DNSName": "LB.example.net",
                "EvaluateTargetHealth": "true",
            },
        },
    ),
}


@pytest.mark.parametrize(
    "kind",
    [each if each in {"TXT", "ALIAS"} else pytest.param(each, marks=pytest.mark.slow) for each in ADOPTABLE],
)
async def test_a_record_set_is_adopted_as_it_is(world: World, kind: str) -> None:
    claim, held = ADOPTABLE[kind]
    await world.set_up()
    adopting = {**claim, "spec": {**claim["spec"], "adoption": {"enabled": True}}}
    await world.apply(adopting)
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ExternalResourceNotFound")
    await foreign(world, {**held, "Name": WWW} if kind == "ALIAS" else {**held, "TTL": "61"})
    await world.request_look("different")
    if kind != "ALIAS":
        await world.condition(RECORD_SETS, "www", "Programmed", "False", "ExternalResourceMismatch")
        with world.aws.lock:
            world.zone.apply([("UPSERT", dict(held))])
        await world.request_look("the same")
    before = world.aws.count()
    await world.programmed(RECORD_SETS, "www")
    assert world.aws.count() == before, "nothing was to be written"
    await world.event("www", "ExternalResourceAdopted")
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    assert world.records() == {}, "an adopted record set is ours to delete, by what is there"


async def test_record_sets_with_a_routing_policy_are_left_alone(world: World) -> None:
    await world.set_up()
    weighted = [wire(WWW, "A", f"198.51.100.{n}", SetIdentifier=f"set-{n}", Weight=str(n)) for n in (1, 2)]
    await foreign(world, *weighted)
    await world.apply(a("www"))
    found = await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    assert "routing policy" in found["message"]
    assert len(world.zone.records) == 4


@pytest.mark.parametrize("bare", [False, True], ids=["with a code", "bare"])
async def test_one_bad_record_set_holds_no_other_up(world: World, bare: bool) -> None:
    world.aws.bare_refusals = bare
    # Two texts of one owner are fine with core; Route 53 takes no CNAME beside what somebody else has there.
    await world.set_up()
    await foreign(world, wire(f"bad.{DOMAIN}.", "A", "198.51.100.1"))
    good = [a(f"host-{number}") for number in range(20)]
    await world.stop_manager()
    await world.apply(*good[:10], cname("bad", "x.example.net"), *good[10:])
    await world.start_manager()
    for each in good:
        await world.programmed(RECORD_SETS, each["metadata"]["name"])
    found = await world.condition(RECORD_SETS, "bad", "Programmed", "False", "ProviderConflict")
    assert "beside others" in found["message"]
    calls = world.aws.count(CHANGE)
    await world.quiet(2)
    assert world.aws.count(CHANGE) <= calls + 2, "what was refused is sent again once for each look that was asked for"
    with world.aws.lock:
        world.zone.apply([("DELETE", world.records()[f"bad.{DOMAIN}.", "A"])])
    await world.apply(cname("bad", "y.example.net"))
    await world.programmed(RECORD_SETS, "bad")


async def test_what_breaks_the_api_s_own_schema_holds_no_other_up(world: World) -> None:
    await world.set_up()
    good = [a(f"host-{number}") for number in range(5)]
    await world.stop_manager()
    # A label of the target is longer than a name can have it, which Route 53 says of the whole request.
    await world.apply(*good[:3], alias("bad", f"{'x' * 64}.example.net."), *good[3:])
    await world.start_manager()
    for each in good:
        await world.programmed(RECORD_SETS, each["metadata"]["name"])
    await world.condition(RECORD_SETS, "bad", "Programmed", "False", "ProviderInvalidRequest")
    await world.apply(alias("bad", "lb.example.net."))
    await world.programmed(RECORD_SETS, "bad")


async def test_a_batch_keeps_to_the_limits_of_route_53(world: World) -> None:
    # 33 texts of 3,990 characters fill 32,000 characters five times, and twice that when they are changed.
    texts = [txt(f"t{number}", "x" * 3900, name=f"t{number}") for number in range(12)]
    await world.set_up(*texts)
    await world.apply(*(txt(f"t{number}", "y" * 3900, name=f"t{number}") for number in range(12)))
    for each in texts:
        await world.programmed(RECORD_SETS, each["metadata"]["name"])
    assert not [call for call in world.aws.calls if call.operation == CHANGE and call.code]


async def test_a_record_set_too_large_to_be_upserted_is_deleted_and_created_at_once(world: World) -> None:
    texts = ["x" * 3900 + str(number) for number in range(3)]
    await world.set_up(txt("big", *texts, name="big"))
    await world.apply(txt("big", *texts, "more", name="big"))
    await world.programmed(RECORD_SETS, "big")
    assert len(world.records()[f"big.{DOMAIN}.", "TXT"]["ResourceRecords"]) == 4
    large = [f"{number}" + "x" * 3000 for number in range(6)]
    await world.apply(txt("big", *large, name="big"))
    await world.condition(RECORD_SETS, "big", "Programmed", "True", "Programmed")
    actions = [
        [each["Action"] for each in call.request["ChangeBatch"]["Changes"]]
        for call in world.aws.calls
        if call.operation == CHANGE
    ]
    assert actions == [["CREATE"], ["UPSERT"], ["DELETE", "CREATE"]]


async def test_more_than_fits_in_a_batch_is_deferred(world: World) -> None:
    world.aws.route53.polls_until_insync = 40
    await world.set_up()
    await world.stop_manager()
    await world.apply(*(txt(f"t{number}", "x" * 3900, name=f"t{number}") for number in range(12)))
    await world.start_manager()

    async def deferred() -> bool | None:
        listing = await world.client.list(RECORD_SETS, namespace="team")
        reasons = [
            each["reason"]
            for obj in listing.items
            for each in obj.get("status", {}).get("conditions", ())
            if each["type"] == "Programmed"
        ]
        return True if {"ProviderChangeDeferred", "ProviderChangePending"} == set(reasons) else None

    await world.until(deferred, lambda: "nothing is deferred")
    world.aws.route53.settle()
    world.aws.route53.polls_until_insync = 1
    for number in range(12):
        await world.programmed(RECORD_SETS, f"t{number}")


async def test_a_pending_change_is_waited_for(world: World) -> None:
    await world.set_up()
    world.aws.route53.polls_until_insync = 10**6
    await world.apply(a("www"))
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderChangePending")

    async def submitted() -> list[str] | None:
        state = (await world.get(ZONE_UNITS, "zone"))["status"]["provider"]["state"]
        found: list[str] | None = state.get("pendingRecordSetChange", {}).get("changeIDs")
        return found

    (change_id,) = await world.until(submitted, lambda: "no change is noted")
    assert change_id in world.aws.route53.changes
    await world.restart_manager()
    await world.apply(a("api"))
    await world.condition(RECORD_SETS, "api", "Programmed", "False", "ProviderChangeDeferred")
    assert world.aws.count(CHANGE) == 1, "changes of one hosted zone go one after the other"
    world.aws.route53.polls_until_insync = 1
    world.aws.route53.settle()
    await world.programmed(RECORD_SETS, "www")
    await world.programmed(RECORD_SETS, "api")
    unit = await world.get(ZONE_UNITS, "zone")
    assert "pendingRecordSetChange" not in unit["status"]["provider"]["state"]
    assert change_id not in repr(await world.get(RECORD_SETS, "www"))


@pytest.mark.parametrize(
    "trouble",
    [Trouble.CUT_AFTER, pytest.param(Trouble.HALF_ANSWER, marks=pytest.mark.slow), Trouble.CUT_BEFORE],
)
async def test_after_an_answer_that_is_lost_everything_is_read_back_first(world: World, trouble: Trouble) -> None:
    await world.set_up()
    calls = len(world.aws.calls)
    world.aws.faults.plan(Fault(trouble, CHANGE))
    await world.apply(a("www"))
    await world.programmed(RECORD_SETS, "www")
    operations = [call.operation for call in world.aws.calls[calls:]]
    submitted = operations.index(CHANGE)
    assert LIST in operations[submitted + 1 :], "it is read back"
    assert operations.count(CHANGE) == (2 if trouble is Trouble.CUT_BEFORE else 1)


async def test_a_lost_creation_makes_nothing_of_others_ours(world: World) -> None:
    await world.set_up()
    with world.aws.faults.lasting(Trouble.CUT_BEFORE, CHANGE):
        await world.apply(a("www", "192.0.2.1"))
        await world.condition(RECORD_SETS, "www", "Programmed", "Unknown", "ProviderUnavailable")
        await foreign(world, wire(WWW, "A", "198.51.100.1"))
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    assert world.records()[WWW, "A"]["ResourceRecords"] == [{"Value": "198.51.100.1"}]


async def test_a_page_that_fails_makes_the_zone_unknown(world: World) -> None:
    await world.set_up(a("a1"), a("a2"), a("a3"))
    world.aws.route53.page_limit = 1
    writes = world.aws.count()
    with world.aws.lock:
        world.zone.apply([("DELETE", world.records()[f"a3.{DOMAIN}.", "A"])])
    with world.aws.faults.lasting(Trouble.DENIED, LIST):
        await world.request_look("denied")
        await world.condition(ZONES, "zone", "Programmed", "False", "ProviderAccessDenied")
    assert world.aws.count() == writes
    world.aws.faults.plan(Fault(Trouble.CUT_BEFORE, LIST, skip=3))
    await world.request_look("cut")
    await world.programmed(ZONES, "zone")
    await world.quiet(1)
    assert (f"a3.{DOMAIN}.", "A") in world.records()


async def test_listings_of_several_pages_with_identifiers_are_read_to_their_end(world: World) -> None:
    await world.set_up()
    sets = [wire(WWW, "A", f"198.51.100.{n}", SetIdentifier=f"s{n}", Weight="1") for n in range(5)]
    await foreign(world, *sets, wire(WWW, "TXT", '"t"'), wire(f"*.{DOMAIN}.", "A", "198.51.100.9"))
    world.aws.route53.page_limit = 2
    await world.apply(a("*", name="any"), txt("www", "t", name="text"))
    await world.condition(RECORD_SETS, "any", "Programmed", "False", "ProviderConflict")
    await world.condition(RECORD_SETS, "text", "Programmed", "False", "ProviderConflict")


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(Trouble.THROTTLING, "ProviderUnavailable"), (Trouble.PRIOR_REQUEST, "ProviderChangeDeferred")],
)
async def test_throttling_is_told_and_never_a_loop(world: World, trouble: Trouble, reason: str) -> None:
    await world.set_up()
    calls = len(world.aws.calls)
    with world.aws.faults.lasting(trouble, CHANGE):
        await world.apply(a("www"))
        await world.condition(RECORD_SETS, "www", "Programmed", "False", reason)
    await world.programmed(RECORD_SETS, "www")
    assert world.aws.count(CHANGE) <= 12
    assert len(world.aws.calls) - calls < 60


async def test_retry_after_is_honoured(world: World) -> None:
    await world.set_up()
    world.aws.faults.plan(Fault(Trouble.THROTTLING, CHANGE, retry_after="1"))
    started = time.monotonic()
    await world.apply(a("www"))
    await world.programmed(RECORD_SETS, "www")
    assert time.monotonic() - started >= 1.0


async def test_an_outage_leaves_what_is_programmed_as_it_was(world: World) -> None:
    await world.set_up(a("www"))
    with world.aws.faults.lasting(Trouble.UNAVAILABLE):
        await world.request_look("outage")
        await world.condition(ZONES, "zone", "Programmed", "False", "ProviderUnavailable")
        await world.apply(a("api"))
        await world.condition(RECORD_SETS, "api", "Programmed", "False", "ProviderUnavailable")
        await world.programmed(RECORD_SETS, "www")
    await world.programmed(ZONES, "zone")
    await world.programmed(RECORD_SETS, "api")


async def test_an_edit_takes_a_list_and_a_change_and_nothing_else(world: World) -> None:
    await world.set_up(a("www"))
    await world.quiet(1)
    calls = len(world.aws.calls)
    await world.apply(a("www", "192.0.2.2"))
    await world.programmed(RECORD_SETS, "www")
    operations = {call.operation for call in world.aws.calls[calls:]}
    assert operations == {LIST, CHANGE, "GetChange"}
    assert world.aws.count(CHANGE) == 2
