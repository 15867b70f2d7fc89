"""What is done for an item, from what it wants, what is known of it and what is there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from controllers.api.condition import MESSAGE_LIMIT
from controllers.ledger.result import faulty
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.binding import Patience
from controllers.providers.cloudflare.client import CloudflareClient, RecordListing
from controllers.providers.cloudflare.failure import RejectedError
from controllers.providers.cloudflare.intent import Intents, RecordIntent, parse_intents
from controllers.providers.cloudflare.memory import ZoneMemory
from controllers.providers.cloudflare.ownership.announcement import Announcer
from controllers.providers.cloudflare.plan import ItemPlan, Known, refuse_blocked, refuse_shadowed
from controllers.providers.cloudflare.record import CloudflareRecord
from controllers.providers.cloudflare.record_step import RecordWork
from controllers.providers.cloudflare.schedule import Request, schedule, split
from controllers.providers.cloudflare.submission import QUOTA_CODE, Submission
from controllers.providers.cloudflare.zone_fact import ZoneFact
from kube.object import ObjectKey
from tests.controllers.providers.cloudflare.build import (
    GRACE,
    NOW,
    a,
    cname,
    ident,
    item,
    observed,
    plan,
    record,
)

ADDRESSES = [f"192.0.2.{number}" for number in range(1, 7)]
SETS = st.lists(st.sampled_from(ADDRESSES), min_size=1, max_size=6, unique=True)


@given(SETS, SETS)
def test_an_edit_changes_as_few_records_as_it_can(before: list[str], after: list[str]) -> None:
    records = [record(number, content=each) for number, each in enumerate(before)]
    found = plan(a("www", *after), records, Known(tuple(each.id for each in records)))
    kept = len(set(before) & set(after))
    assert found.change.size == max(len(before), len(after)) - kept
    assert len(found.change.deletes) == max(0, len(before) - len(after))
    assert len(found.change.posts) == max(0, len(after) - len(before))
    assert len(found.kept) + len(found.change.posts) == len(after)


@given(SETS, st.sets(st.integers(0, 5)))
def test_records_that_are_not_ours_are_in_no_change(wanted: list[str], ours: set[int]) -> None:
    records = [record(number, content=each) for number, each in enumerate(ADDRESSES)]
    known = Known(tuple(ident(number) for number in ours))
    for leaving in (False, True):
        change = plan(a("www", *wanted, deletionRequested=leaving), records, known).change
        touched = {*change.deletes, *(each for each, _ in change.patches)}
        assert touched <= {ident(number) for number in ours}
        if len(ours) < len(records) and not leaving:
            assert not change, "records of others in the way stop everything"


def test_an_adoption_takes_the_whole_set_as_it_is_and_nothing_else() -> None:
    adopting = a("www", "192.0.2.1", adoption={"recordIDs": [ident(1)]})
    same, more, other = record(1, content="192.0.2.1"), record(2, content="192.0.2.2"), record(1, content="192.0.2.9")
    found = plan(adopting, [same])
    assert (found.adopted, found.own, bool(found.change)) == (True, (ident(1),), False)
    for records in ([same, more], [other]):
        refused = plan(adopting, records)
        assert refused.verdict is not None
        assert (refused.verdict.reason, refused.own, bool(refused.change)) == ("ExternalResourceMismatch", (), False)
    healed = plan(adopting, [other], Known((ident(1),)))
    assert [each for each, _ in healed.change.patches] == [ident(1)], "what is ours already is healed"


def test_a_cname_is_patched_and_not_replaced() -> None:
    found = plan(cname("www", "b.test"), [record(1, "CNAME", content="a.test")], Known((ident(1),)))
    ((patched, body),) = found.change.patches
    assert (patched, body["content"]) == (ident(1), "b.test")
    assert found.change.size == 1


def test_a_cname_makes_room_for_addresses_in_one_request() -> None:
    records = [record(1, "CNAME", content="a.test")]
    leaving = plan(cname("www", "a.test", deletionRequested=True), records, Known((ident(1),)))
    coming = plan(a("www"), records)
    (request,) = schedule(refuse_blocked([coming, leaving], observed(*records)), limit=200)
    assert (request.change.deletes, len(request.change.posts)) == ((ident(1),), 1)
    assert [part.change.deletes for part in split(request)] == [(ident(1),), ()], "refused, the room is made first"


def test_addresses_do_not_come_beside_an_alias_that_stays() -> None:
    records = [record(1, "CNAME", content="a.test")]
    (blocked,) = refuse_blocked([plan(a("www"), records)], observed(*records))
    assert blocked.verdict is not None
    assert blocked.verdict.reason == "ProviderConflict"
    assert not blocked.change


def test_a_request_never_holds_a_part_of_an_item() -> None:
    plans = [plan(a(f"host{number}", *ADDRESSES[:3])) for number in range(10)]
    requests = list(schedule(plans, limit=7))
    assert [request.size for request in requests] == [6, 6, 6, 6, 6]
    assert {each.item.key for request in requests for each in request.plans} == {each.item.key for each in plans}
    large = plan(a("large", *ADDRESSES))
    assert [request.size for request in schedule([*plans[:2], large, *plans[2:4]], limit=4)] == [3, 3, 3, 3, 6]
    parts = split(requests[0])
    assert [len(part.plans) for part in parts] == [1, 1]
    assert split(parts[0]) == ()


def test_a_second_record_set_of_a_name_takes_nothing_over() -> None:
    records = [record(1)]
    first = plan(a("www", claim="first"), records, Known((ident(1),)))
    second = plan(a("www", claim="second", adoption={"recordIDs": [ident(1)]}), records)
    assert second.adopted
    _, refused = refuse_shadowed([first, second])
    assert refused.verdict is not None
    assert refused.verdict.reason == "ProviderConflict"
    assert (refused.own, refused.adopted) == ((), False)


def test_what_was_noted_and_came_is_ours() -> None:
    wanted = a("www", "192.0.2.1", "192.0.2.2")
    assert wanted.desired is not None
    prints = tuple(map(wanted.desired.fingerprint, wanted.desired.records))
    known = Known((), RecordIntent(NOW, NOW, prints))
    came = [record(1), record(2, content="192.0.2.2")]
    assert plan(wanted, came, known).own == (ident(1), ident(2))
    others = [record(3, content="198.51.100.1"), record(4, ttl=60), record(5, created_on="2026-11-30T11:00:00Z")]
    for other in others:
        found = plan(wanted, [other], known)
        assert found.own == ()
        assert found.verdict is not None
        assert found.verdict.reason == "ProviderConflict"


def test_a_deletion_waits_for_what_may_still_come() -> None:
    leaving = a("www", deletionRequested=True)
    known = Known((), RecordIntent(NOW, NOW, ("0" * 16,)))
    assert not plan(leaving, [], known).gone
    assert plan(leaving, [], known, at=NOW + GRACE + timedelta(seconds=1)).gone
    assert plan(leaving).gone


def test_what_is_not_allowed_any_more_is_left_as_it_is() -> None:
    found = plan(a("www", "192.0.2.9", allowed=False), [record(1)], Known((ident(1),)))
    assert found.verdict is not None
    assert found.verdict.reason == "ProviderChangeDeferred"
    assert (found.change.size, found.own) == (0, (ident(1),))
    gone = plan(a("www", allowed=False, deletionRequested=True), [record(1)], Known((ident(1),)))
    assert gone.change.deletes == (ident(1),)


def test_a_faulty_item_is_told_of_and_deleted_on_request() -> None:
    found = plan(a("www", ttl=30), [record(1)], Known((ident(1),)))
    assert found.verdict is not None
    assert "spec.ttl: found 30, allowed are 60 to 86400" in found.verdict.message
    null = item("MX", "@", {"records": [{"preference": 0, "exchange": "."}]})
    assert "null MX" in null.fault
    twice = a("www", options={"tags": ["Team:a", "team:a"]})
    assert "twice" in twice.fault
    leaving = plan(a("www", ttl=30, deletionRequested=True), [record(1)], Known((ident(1),)))
    assert leaving.change.deletes == (ident(1),)


def test_what_is_told_of_many_faults_fits_in_a_condition() -> None:
    wrong = a("www", options={"tags": [f"{number}-{'x' * 50}" for number in range(500)]})
    found = plan(wrong)
    assert found.verdict is not None
    told = faulty(wrong.fault)
    assert all(len(each.message) <= MESSAGE_LIMIT for each in (found.verdict, told.accepted, told.programmed))


def test_notes_survive_a_round_trip() -> None:
    key = ObjectKey("team", "www")
    notes = Intents().with_zone(NOW).adding(key, NOW, ["a", "b"]).adding(key, NOW + GRACE, ["b", "c"])
    again = parse_intents(notes.dump())
    assert again == notes
    assert again.records[key] == RecordIntent(NOW, NOW + GRACE, ("a", "b", "c"))
    assert parse_intents(again.with_zone(None).without([key]).dump()) == Intents()
    assert parse_intents({"creatingZone": {"since": "then"}, "creatingRecords": [{"since": 3}]}) == Intents()


class RefusingClient:
    """An empty zone that takes nothing; `code` is that of its refusals."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.batches = 0

    async def records(self, zone_id: str) -> RecordListing:
        return RecordListing((), NOW)

    async def batch(self, zone_id: str, change: Change) -> tuple[CloudflareRecord, ...]:
        self.batches += 1
        raise RejectedError("Cloudflare API rejected the request", code=self.code)


async def refusals_in(hours: int, code: int, memory: ZoneMemory) -> int:
    """How often records are sent that are refused each time, when a look is made each half minute."""
    client, fact = RefusingClient(code), ZoneFact(ident(1), "example.com", "active", "full", ident(2), (), 200, NOW)

    async def note(_: Intents) -> None:
        return

    for number in range(hours * 120):
        work = RecordWork(
            cast(CloudflareClient, client),
            ObjectKey("team", "zone"),
            fact,
            memory,
            Patience(),
            cast(Announcer, None),  # nothing is done that could be told of
            note,
            1000.0 + number * 30.0,
        )
        await work.run([a("www")], [], Intents())
    return client.batches


async def test_what_is_refused_again_and_again_is_sent_less_and_less() -> None:
    memory = ZoneMemory()
    assert await refusals_in(2, 9003, memory) <= 14, "after 1, 2, 4, 8 and 12 minutes, and each 12 minutes then"
    memory.heed("now")
    assert await refusals_in(1, 9003, memory) >= 5, "a request for a look has it tried at once"
    assert await refusals_in(1, QUOTA_CODE, ZoneMemory()) == 60, "what wants room alone is asked for steadily"


class CrowdedClient:
    """A zone that has room for some more records."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.batches: list[Change] = []

    async def batch(self, zone_id: str, change: Change) -> tuple[CloudflareRecord, ...]:
        self.batches.append(change)
        left = self.room + len(change.deletes) - len(change.posts)
        if left < 0:
            raise RejectedError("Cloudflare API rejected the request", code=QUOTA_CODE)
        self.room = left
        return tuple(
            record(len(self.batches) * 100 + number, name=each["name"]) for number, each in enumerate(change.posts)
        )


async def note_nothing(_: Intents) -> None:
    return


async def submitted(client: CrowdedClient, requests: Iterable[Request]) -> Submission:
    submission = Submission(cast(CloudflareClient, client), ident(1), NOW, Intents(), note_nothing)
    await submission.run(requests)
    return submission


def names_done(submission: Submission) -> set[str]:
    return {key.name for key, outcome in submission.outcomes.items() if outcome.done}


def large_ones(number: int) -> list[ItemPlan]:
    return [plan(a(f"a{each}", *(f"192.0.2.{octet}" for octet in range(4)))) for each in range(number)]


async def test_what_a_zone_has_no_room_for_does_not_hold_up_what_is_smaller() -> None:
    small = [plan(a(f"b{each}")) for each in range(20)]
    client = CrowdedClient(1)
    submission = await submitted(client, schedule([], 200, alone=[*large_ones(20), *small]))
    assert names_done(submission) == {"b0-a"}
    assert len(client.batches) == 3, "one of each size tells of the others, and one had room"
    assert {outcome for outcome in submission.outcomes.values() if outcome.refused} == {submission.full}
    client = CrowdedClient(1)
    assert names_done(await submitted(client, schedule([*large_ones(20), *small], 200))) == {"b0-a"}
    assert len(client.batches) <= 14


async def test_a_full_zone_lets_go_of_what_is_deleted_at_once() -> None:
    there = record(1, name="gone.example.com")
    leaving = plan(a("gone", deletionRequested=True), [there], Known((there.id,)))
    client = CrowdedClient(0)
    assert names_done(await submitted(client, schedule([*large_ones(4), leaving], 200))) == {"gone-a"}
