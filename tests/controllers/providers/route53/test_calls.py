"""How often Route 53 is asked while nothing gets on: a change on its way, record sets that it refuses, and a quiet zone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from controllers.providers.route53.change import Action, Change
from controllers.providers.route53.failure import BATCH_REFUSED, BatchRejected, Fault, translate
from controllers.providers.route53.record import Record, RecordKey, values_record
from controllers.providers.route53.submission import Quarantine, Submission, Surroundings
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.ledger import KEY, PATIENCE, LoneLedger, item
from tests.controllers.providers.route53.world import ACCOUNT, KEY_ID, SECRET, wire

CHANGE, LIST, ASK = "ChangeResourceRecordSets", "ListResourceRecordSets", "GetChange"
HOUR_S = 3600.0


@pytest.fixture
def ledger(aws: FakeAws) -> Iterator[LoneLedger]:
    aws.identities.add_user(KEY_ID, SECRET, ACCOUNT)
    ledger = LoneLedger(aws)
    with ledger.running():
        yield ledger


def occupy(aws: FakeAws, ledger: LoneLedger, *owners: str) -> None:
    """Have somebody else's CNAMEs keep ours out."""
    (zone,) = aws.route53.zones.values()
    with aws.lock:
        zone.apply([("CREATE", wire(ledger.fqdn(owner), "CNAME", "x.example.net.")) for owner in owners])


async def hours(ledger: LoneLedger, number: float) -> None:
    end = ledger.clock() + number * HOUR_S
    while ledger.clock() < end:
        await ledger.round()


async def test_many_changes_on_their_way_take_one_question_a_look(aws: FakeAws, ledger: LoneLedger) -> None:
    await ledger.until_settled(20)
    occupy(aws, ledger, *(f"h{number}" for number in range(0, 16, 4)))
    for number in range(16):
        ledger.put(item(f"h{number}", "192.0.2.1"))
    aws.route53.polls_until_insync = 10**6
    await ledger.round()
    await ledger.round()
    assert len([each for each in aws.route53.changes.values() if each.polls > 0]) >= 4, "the batch came apart"
    before = aws.count(ASK)
    for _ in range(5):
        await ledger.round()
    assert aws.count(ASK) - before == 5
    aws.route53.settle()
    aws.route53.polls_until_insync = 1
    await ledger.round()
    await ledger.round()
    assert sum(ledger.is_marked(f"h{number}") for number in range(16)) == 12


async def test_change_ids_that_are_none_hold_nothing_up(aws: FakeAws, ledger: LoneLedger) -> None:
    ledger.put(item("www", "192.0.2.1"))
    await ledger.until_settled(20)
    state = ledger.unit["status"]["provider"]["state"]
    state["pendingRecordSetChange"] = {"changeIDs": ["C" * 33, "", "x/../y"]}
    zone_id = state["hostedZone"]["id"]
    state["pendingHostedZoneChange"] = {
        "operation": "CreateHostedZone",
        "hostedZoneID": zone_id,
        "changeID": "C" * 33,
    }
    ledger.put(item("www", "192.0.2.2"))
    await ledger.until_settled(5)
    (record,) = [each for each in aws.route53.zones[zone_id].records.values() if each.type == "A"]
    assert record.shown()["ResourceRecords"] == [{"Value": "192.0.2.2"}]


async def test_what_is_refused_again_and_again_is_tried_less_and_less(aws: FakeAws, ledger: LoneLedger) -> None:
    await ledger.until_settled(20)
    owners = [f"h{number}" for number in range(8)]
    occupy(aws, ledger, *owners)
    for owner in owners:
        ledger.put(item(owner, "192.0.2.1"))
    await hours(ledger, 2)
    at_first = aws.count(CHANGE)
    assert at_first < 220
    await hours(ledger, 2)
    # Once every twelve minutes, as ledgers of tests wait a minute at first.
    assert aws.count(CHANGE) - at_first <= 10 * (2 * len(owners) - 1) + 15
    (zone,) = aws.route53.zones.values()
    with aws.lock:
        zone.apply([("DELETE", wire(ledger.fqdn("h3"), "CNAME", "x.example.net."))])
    await ledger.until(lambda: ledger.is_marked("h3"), 20)
    assert not ledger.is_marked("h4")


async def test_a_request_for_a_look_has_everything_tried_once_that_was_refused(
    aws: FakeAws, ledger: LoneLedger
) -> None:
    await ledger.until_settled(20)
    occupy(aws, ledger, "www")
    ledger.put(item("www", "192.0.2.1"))
    await hours(ledger, 1)
    before = aws.count(CHANGE)
    await ledger.look_again()
    assert aws.count(CHANGE) == before + 1
    await ledger.round()
    assert aws.count(CHANGE) == before + 1, "it waits as long as it would have"


async def test_a_batch_that_is_refused_as_a_whole_is_followed_by_the_next_at_once(
    aws: FakeAws, ledger: LoneLedger
) -> None:
    await ledger.until_settled(20)
    owners = [f"h{number}" for number in range(4)]
    occupy(aws, ledger, *owners)
    many = {"addresses": [f"192.0.2.{number}" for number in range(250)]}
    for owner in owners:
        ledger.put({**item(owner, ""), "a": many})
    ledger.put(item("last", "192.0.2.1"))
    before_s = ledger.clock()
    await ledger.until(lambda: ledger.is_marked("last"), 10)
    assert ledger.clock() - before_s < PATIENCE.refusal_s / 2


async def test_a_full_hosted_zone_is_told_of_in_few_calls_and_used_as_soon_as_it_has_room(
    aws: FakeAws, ledger: LoneLedger
) -> None:
    ledger.put(item("old", "192.0.2.1"))
    await ledger.until_settled(20)
    (zone,) = aws.route53.zones.values()
    zone.quota = len(zone.records) + 3
    owners = [f"h{number:02}" for number in range(64)]
    for owner in owners:
        ledger.put(item(owner, "192.0.2.1"))
    calls = aws.count(CHANGE)
    await ledger.until(lambda: sum(map(ledger.is_marked, owners)) == 3, 10)
    assert aws.count(CHANGE) - calls <= 14
    await hours(ledger, 2)
    assert aws.count(CHANGE) - calls <= 14 + 13 * 8
    ledger.ask_deletion("old")
    before = ledger.clock()
    await ledger.until(lambda: sum(map(ledger.is_marked, owners)) == 4, 20)
    assert ledger.clock() - before < PATIENCE.refusal_s
    assert "quota" in repr(ledger.unit["status"]["recordSets"])


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("[Number of records limit of 10000 exceeded.]", Fault.FULL),
        ("[Number of resource record sets limit of 12000 exceeded.]", Fault.FULL),
        ("[Number of characters limit of 32000 exceeded.]", Fault.VALUE),
        ("Exceeded limit on number of weighted RRSets for www.example.com., type A in this zone.", Fault.VALUE),
        (
            "[Invalid Resource Record: 'FATAL problem: X encountered with '0 a \"records limit of 1 exceeded\"''.]",
            Fault.VALUE,
        ),
        ("[RRSet with DNS name limit.example.com. is not permitted in zone example.org.]", Fault.VALUE),
        ("[RRSet with DNS name conflict.example.com. is not permitted in zone example.org.]", Fault.VALUE),
    ],
)
def test_words_of_people_are_not_taken_for_those_of_aws(words: str, fault: Fault) -> None:
    refusal = translate(ClientError({"Error": {"Code": BATCH_REFUSED, "Message": words}}, "ChangeResourceRecordSets"))
    assert isinstance(refusal, BatchRejected)
    assert refusal.fault is fault


def test_a_change_whose_time_comes_while_others_are_sent_is_due() -> None:
    now = 0.0
    change = Change(Action.CREATE, Record(RecordKey("www.example.com", "A"), None, {}), KEY)
    quarantine = Quarantine(60.0, 1.0, lambda: now)
    refused = Submission(refused={KEY: BatchRejected(Fault.VALUE)})
    around = Surroundings({})
    quarantine.take_in([change], refused, around)
    assert quarantine.due_s() == 60.0
    now = 59.0
    assert quarantine.objection(KEY, [change], around) is not None
    now = 61.0
    assert quarantine.due_s() == 0.0
    assert quarantine.objection(KEY, [change], around) is None
    assert quarantine.due_s() is None, "it is tried now"
    quarantine.take_in([change], refused, around)
    assert quarantine.due_s() == 120.0


def test_a_change_is_due_when_something_else_stands_beside_it() -> None:
    www = RecordKey("www.example.com", "A")
    neighbour = values_record(RecordKey(www.name, "CNAME"), 60, ["x.example.net."])
    elsewhere = values_record(RecordKey("api.example.com", "A"), 60, ["192.0.2.1"])
    change = Change(Action.CREATE, values_record(www, 60, ["192.0.2.1"]), KEY)
    quarantine = Quarantine(60.0, 1.0, lambda: 0.0)
    refused = Submission(refused={KEY: BatchRejected(Fault.NEIGHBOUR)})
    quarantine.take_in([change], refused, Surroundings({neighbour.key: (neighbour,)}))
    same = Surroundings({neighbour.key: (neighbour,), elsewhere.key: (elsewhere,), www: (change.record,)})
    assert quarantine.objection(KEY, [change], same) is not None
    assert quarantine.objection(KEY, [change], Surroundings({elsewhere.key: (elsewhere,)})) is None


async def test_a_quiet_hosted_zone_takes_three_requests_each_ten_minutes(aws: FakeAws, ledger: LoneLedger) -> None:
    ledger.put(item("www", "192.0.2.1"))
    await ledger.until_settled(20)
    await hours(ledger, 1)
    before = len(aws.calls)
    await hours(ledger, 2)
    asked = [call.operation for call in aws.calls[before:]]
    assert len(asked) <= 3 * 13
    assert set(asked) == {"GetHostedZone", "ListTagsForResource", LIST}
