"""Whatever goes wrong between us and Route 53, and however often: it ends as the claims say, and nothing of others is touched.

One reconciler works on one ledger, with core, the API server and both clocks played by the test; AWS is the fake over HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.fake.server import FakeAws, serving
from tests.controllers.providers.route53.fake.zone import HostedZone
from tests.controllers.providers.route53.ledger import LoneLedger, item
from tests.controllers.providers.route53.world import ACCOUNT, KEY_ID, SECRET, runtime_credentials, wire

OPERATIONS = (
    "",
    "CreateHostedZone",
    "ListHostedZonesByName",
    "GetHostedZone",
    "ListResourceRecordSets",
    "ChangeResourceRecordSets",
    "GetChange",
    "ListTagsForResource",
    "ChangeTagsForResource",
    "DeleteHostedZone",
)
PASSING = [each for each in Trouble if each is not Trouble.SLOW]
OWNERS = ("@", "*", "www", "api", "mail")
FOREIGN = ("ours", "theirs", "api")
ROUNDS = 80

faults = st.builds(
    lambda trouble, operation, times, skip: Fault(trouble, operation, times, skip, delay_s=0.01),
    st.sampled_from(Trouble),
    st.sampled_from(OPERATIONS),
    st.integers(1, 3),
    st.integers(0, 4),
)
owners = st.sampled_from(OWNERS)


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that people do between two rounds."""

    kind: str
    owner: str
    octet: int = 1


edits = st.builds(Edit, st.sampled_from(["set", "set", "set", "drop", "restart", "drift"]), owners, st.integers(1, 9))


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is done, and what goes wrong, in which order; `deletes` says what becomes of the zone in the end."""

    steps: list[tuple[list[Fault], Edit, int]] = field(default_factory=list)
    last: list[Fault] = field(default_factory=list)
    deletes: bool = False


schedules = st.builds(
    Schedule,
    st.lists(st.tuples(st.lists(faults, max_size=3), edits, st.integers(0, 3)), min_size=1, max_size=6),
    st.lists(faults, max_size=3),
    st.booleans(),
)


@pytest.fixture(scope="module")
def service() -> Iterator[FakeAws]:
    with pytest.MonkeyPatch.context() as patch, serving(FakeAws()) as aws:
        for name, value in runtime_credentials().items():
            patch.setenv(name, value)
        aws.identities.add_user(KEY_ID, SECRET, ACCOUNT)
        yield aws


def check(aws: FakeAws, schedule: Schedule) -> None:
    aws.faults.clear()
    aws.route53.__init__()  # type: ignore[misc]  # a fresh account for each schedule, on the same port
    aws.calls.clear()
    asyncio.run(_play(aws, schedule))


async def _play(aws: FakeAws, schedule: Schedule) -> None:
    policy = "Delete" if schedule.deletes else "Retain"
    ledger = LoneLedger(aws, zoneDeletionPolicy=policy, sameNameZonePolicy="Allow")
    aws.route53.create_hosted_zone(ACCOUNT, {"Name": ledger.domain, "CallerReference": "somebody's"})
    (other,) = aws.route53.zones.values()
    other.apply([("CREATE", wire(f"www.{ledger.domain}.", "A", "203.0.113.1"))])
    foreign: dict[str, HostedZone] = {"zone": other}
    untouched = _contents(other)
    with ledger.running():
        for planned, edit, rounds in schedule.steps:
            aws.faults.plan(*planned)
            _do(ledger, aws, edit)
            for _ in range(rounds):
                await ledger.round()
            _add_foreign(ledger, aws, foreign)
        await ledger.until_settled(ROUNDS)
        await ledger.look_again()
        aws.faults.clear()
        await ledger.look_again()  # what was Programmed stays so for a while, though a look failed
        await ledger.until_settled(ROUNDS)
        _check_settled(ledger, aws, foreign)
        writes = aws.count()
        await ledger.look_again()
        assert aws.count() == writes, "a second look writes nothing"
        assert _contents(other) == untouched
        aws.faults.plan(*schedule.last)
        await _end(ledger, aws, foreign, schedule)
        assert _contents(other) == untouched


def _do(ledger: LoneLedger, aws: FakeAws, edit: Edit) -> None:
    zone = _own(ledger, aws)
    match edit.kind:
        case "set":
            ledger.put(item(edit.owner, f"192.0.2.{edit.octet}"))
        case "drop":
            ledger.ask_deletion(edit.owner)
        case "restart":
            ledger.restart()
        case "drift" if zone is not None:
            name = ledger.fqdn(edit.owner)
            mine = [each for each in zone.records.values() if each.shown()["Name"] == name and each.type == "A"]
            marked = ledger.is_marked(edit.owner)
            if mine and marked:
                with aws.lock:
                    zone.apply([("UPSERT", wire(name, "A", f"203.0.113.{edit.octet}", ttl=5))])


def _add_foreign(ledger: LoneLedger, aws: FakeAws, foreign: dict[str, Any]) -> None:
    """Somebody puts a record set of another type beside ours, once there is a hosted zone."""
    zone = _own(ledger, aws)
    if zone is None or "records" in foreign:
        return
    records = [wire(f"{name}.{ledger.domain}.", "TXT", '"somebody\'s"') for name in FOREIGN]
    with aws.lock:
        zone.apply([("CREATE", each) for each in records])
    foreign["records"] = records


def _check_settled(ledger: LoneLedger, aws: FakeAws, foreign: dict[str, Any]) -> None:
    zone = _own(ledger, aws)
    assert zone is not None
    assert len(aws.route53.zones) == 2, "one hosted zone was made"
    found = {
        each.shown()["Name"]: [value["Value"] for value in each.shown()["ResourceRecords"]]
        for each in zone.records.values()
        if each.type == "A"
    }
    assert found == ledger.wanted(), "Route 53 holds what the ledger says"
    texts = {each.shown()["Name"] for each in zone.records.values() if each.type == "TXT"}
    assert texts == {each["Name"] for each in foreign.get("records", ())}


async def _end(ledger: LoneLedger, aws: FakeAws, foreign: dict[str, Any], schedule: Schedule) -> None:
    zone = _own(ledger, aws)
    assert zone is not None
    for owner in OWNERS:
        ledger.ask_deletion(owner)
    await ledger.until_settled(ROUNDS)
    assert not [each for each in zone.records.values() if each.type == "A"]
    ledger.delete()
    if schedule.deletes and foreign.get("records"):
        for _ in range(5):
            await ledger.round()
        assert not ledger.released, "record sets of others keep the hosted zone"
        with aws.lock:
            zone.apply([("DELETE", each) for each in foreign["records"]])
    await ledger.until(lambda: ledger.released, ROUNDS)
    assert (zone.id in aws.route53.zones) is not schedule.deletes


def _own(ledger: LoneLedger, aws: FakeAws) -> HostedZone | None:
    found = [zone for zone in aws.route53.zones.values() if zone.reference.startswith("dns-api-")]
    assert len(found) <= 1
    return found[0] if found else None


def _contents(zone: HostedZone) -> object:
    return {key: each.shown() for key, each in zone.records.items()}, dict(zone.tags), zone.comment


DELETION_REFUSED_TWICE = Schedule(
    [([], Edit("set", "@"), 0)],
    [Fault(Trouble.PRIOR_REQUEST, "", 1, 0, delay_s=0.01), Fault(Trouble.CUT_BEFORE, "", 1, 3, delay_s=0.01)],
)
DRIFT_THAT_IS_LOOKED_FOR_IN_VAIN = Schedule(
    [
        ([], Edit("set", "@"), 8),
        ([Fault(Trouble.CUT_BEFORE, "", 1, 0, delay_s=0.01)], Edit("drift", "@"), 0),
    ]
)


@given(schedules)
@example(DELETION_REFUSED_TWICE)
@example(DRIFT_THAT_IS_LOOKED_FOR_IN_VAIN)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_some_schedules_of_faults_converge(service: FakeAws, schedule: Schedule) -> None:
    check(service, schedule)


@pytest.mark.slow
@pytest.mark.timeout(900)
@given(schedules)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_three_hundred_schedules_of_faults_converge(service: FakeAws, schedule: Schedule) -> None:
    check(service, schedule)
