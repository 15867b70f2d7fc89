"""Withdrawals from hosted zones: what the snapshot gives, who is behind with it, and what each live server answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import dns.rdatatype
import pytest

from controllers.api.group import PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from controllers.api.provider import parse_provider
from controllers.api.record_withdrawal_item import UnitWithdrawalStatus
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import parse_zone_unit
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.probe.address import Address
from controllers.probe.answer import SILENCE, Answer, Outcome, Question
from controllers.probe.desk import Probed, ProbeDesk
from controllers.probe.prober import Plan
from controllers.probe.round import Round, Server
from controllers.providers.hosted.binding import HostedConfig
from controllers.providers.hosted.controller import HostedProvider
from controllers.providers.hosted.history import History
from controllers.providers.hosted.item import Line, RecordKey
from controllers.providers.hosted.registration import hosted
from controllers.providers.hosted.service_level import ServiceLevel
from controllers.providers.hosted.view import ZoneView
from controllers.providers.hosted.withdrawal import Published, WithdrawalWatch
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey
from tests.controllers.ledger.withdrawal_item import ADDRESS, WITHDRAWAL
from tests.controllers.providers.hosted.build import DOMAIN, KEY, head, unit, zone_class
from zonemodel.hosted_zone import HostedRecordSet
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

ITEM = WITHDRAWAL | {"allowed": True}
SERVERS = (Server("pod-a", (Address("192.0.2.10"),)), Server("pod-b", (Address("192.0.2.11"),)))
NOTHING = Answer(Outcome.NO_NAME, "NXDOMAIN")
GIVEN = Answer(Outcome.DATA, "NOERROR", frozenset({ADDRESS}), 60)


class Desk(ProbeDesk):
    """Hands out the round that the test has made, for whatever plan it is asked."""

    def __init__(self) -> None:
        async def never(plan: Plan) -> Round:
            raise AssertionError("the test makes the rounds")

        probe: Callable[[Plan], Awaitable[Round]] = never
        super().__init__("test", probe, lambda _: None, lambda: 0.0)
        self.plans: list[Plan] = []
        self.answers: tuple[Answer, Answer] | None = None
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
        self.elapsed_s = 0.0
        self.made_for: Plan | None = None

    def ask(self, zone: ObjectKey, plan: Plan) -> Probed | None:
        self.plans.append(plan)
        if self.answers is None:
            return None
        soa = Question(DOMAIN, dns.rdatatype.SOA)
        said = {
            server.addresses[0]: {
                Question(f"www.{DOMAIN}", RecordType.A.code): answer,
                soa: Answer(Outcome.DATA, "NOERROR", frozenset({"ns. h. 5 0 0 0 0"})),
            }
            for server, answer in zip(plan.servers, self.answers, strict=False)
        }
        found = Round(
            DOMAIN,
            plan.servers,
            said,
            self.now,
            self.now,
            "x",
            began_s=self.elapsed_s,
            ended_s=self.elapsed_s,
            clock="this process",
        )
        return Probed(self.made_for or plan, found)


class Story:
    """One zone under observation."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.watch = WithdrawalWatch(self.desk)
        self.results: tuple[UnitWithdrawalStatus, ...] = ()
        self.history = History(digest="sha256:new", serial=5, lines={})
        self.behind: tuple[str, ...] = ()
        self.view = ZoneView(
            key=KEY,
            parts=(unit(spec={"withdrawals": [ITEM]}),),
            zone_class=zone_class(),
            provider=None,
            manifest=None,
            pages={},
            live=tuple(server.name for server in SERVERS),
            rivals=(),
            endpoints=SERVERS,
        )

    def publish(self, *records: HostedRecordSet) -> None:
        lines = {RecordKey(each.name, each.type): Line.of(each) for each in records}
        self.history = replace(self.history, lines=lines)

    def look(self, *answers: Answer, after_s: float = 0.0) -> tuple[str, str]:
        """Return Withdrawn after a look with these answers of both servers."""
        self.desk.now += timedelta(seconds=after_s)
        self.desk.elapsed_s += after_s
        self.desk.answers = (answers[0], answers[1]) if answers else None
        level = ServiceLevel(len(SERVERS), 1, 0, self.behind, ())
        published = Published(head(), self.history, level)
        main = self.view.main
        assert main is not None
        self.results = self.watch.observe(self.view, main, published, self.results, self.desk.now)
        (result,) = self.results
        found = next(each for each in result.conditions if each.type == "Withdrawn")
        return found.status.value, found.reason

    def evidence(self) -> Any:
        (result,) = self.results
        assert result.provider is not None
        return result.provider.data


def www(*addresses: str, ttl: int = 300) -> HostedRecordSet:
    return HostedRecordSet.model_validate({"name": "www", "type": "A", "ttl": ttl, "a": {"addresses": list(addresses)}})


def test_a_snapshot_without_the_address_and_clean_servers_prove_it_after_a_while() -> None:
    story = Story()
    assert story.look() == ("Unknown", "Reconciling")
    assert story.look(NOTHING, NOTHING) == ("Unknown", "Reconciling")
    assert story.look(NOTHING, NOTHING, after_s=60) == ("True", "Verified")
    assert [each["server"] for each in story.evidence()["servers"]] == ["pod-a", "pod-b"]
    assert story.evidence()["serial"] == 5


def test_a_snapshot_that_gives_the_address_counts_whatever_servers_answer() -> None:
    story = Story()
    story.publish(www("192.0.2.7", ADDRESS, ttl=900))
    assert story.look(NOTHING, NOTHING) == ("False", "StillPublished")
    story.publish(www("192.0.2.7"))
    assert story.look(NOTHING, NOTHING) == ("Unknown", "Reconciling")
    assert story.look(NOTHING, NOTHING, after_s=899) == ("Unknown", "Reconciling")
    assert story.look(NOTHING, NOTHING, after_s=1) == ("True", "Verified")


def test_a_server_that_is_behind_with_the_snapshot_has_not_answered() -> None:
    story = Story()
    story.behind = ("pod-b",)
    assert story.look(NOTHING, NOTHING) == ("Unknown", "DNSProbeFailed")
    assert story.evidence()["servers"][0] == {
        "server": "pod-b",
        "rcode": "BEHIND",
        "observedTime": "2026-11-30T12:00:00Z",
    }
    story.behind = ()
    assert story.look(NOTHING, NOTHING) == ("Unknown", "Reconciling")


def test_a_server_that_gives_it_or_says_nothing_counts_whatever_the_snapshot_has() -> None:
    story = Story()
    assert story.look(NOTHING, GIVEN) == ("False", "StillPublished")
    assert story.look(NOTHING, SILENCE) == ("Unknown", "DNSProbeFailed")


def test_without_live_servers_or_a_known_snapshot_nothing_is_proven() -> None:
    story = Story()
    story.history = History(digest="sha256:new", lines=None)
    assert story.look(NOTHING, NOTHING) == ("Unknown", "DNSProbeFailed")
    story.view = replace(story.view, endpoints=())
    story.history = History(digest="sha256:new", lines={})
    assert story.look(NOTHING, NOTHING) == ("Unknown", "Reconciling")


def test_a_round_over_another_domain_or_other_servers_proves_nothing() -> None:
    story = Story()
    story.look(NOTHING, NOTHING)
    (plan,) = story.desk.plans
    for other in (
        replace(plan, domain=Fqdn("former.test")),
        replace(plan, servers=SERVERS[:1]),
        replace(plan, stamp=None),
    ):
        story.desk.made_for = other
        assert story.look(NOTHING, NOTHING, after_s=3600) == ("Unknown", "Reconciling")
    story.desk.made_for = replace(plan, timeout_s=1.0)
    assert story.look(NOTHING, NOTHING, after_s=3600) == ("True", "Verified")


def test_servers_are_asked_anew_when_all_of_them_have_got_free_of_the_address_and_not_for_every_edit() -> None:
    story = Story()
    story.publish(www(ADDRESS))
    story.look(GIVEN, GIVEN)
    story.publish()
    story.behind = ("pod-a",)
    story.look(GIVEN, GIVEN)
    given, behind = story.desk.plans
    assert given == behind
    story.behind = ()
    story.look(GIVEN, GIVEN)
    assert story.desk.plans[-1] != given
    story.behind = ("pod-b",)
    story.look(NOTHING, NOTHING)
    assert story.desk.plans[-1] == story.desk.plans[-2]


@pytest.mark.parametrize("published", [False, True])
def test_half_a_proof_outlives_a_leadership_unless_somebody_has_published_meanwhile(published: bool) -> None:
    """What the snapshots of another leader gave nobody knows, and resolvers may remember it."""
    story = Story()
    story.look(NOTHING, NOTHING)
    story.history = replace(story.history, serial=6)
    assert story.look(NOTHING, NOTHING, after_s=30) == ("Unknown", "Reconciling"), "an edit of our own is known"
    story.watch = WithdrawalWatch(story.desk)
    if published:
        story.history = replace(story.history, serial=8)
    assert story.look(after_s=10) == ("Unknown", "Reconciling")
    assert story.look(NOTHING, NOTHING, after_s=20) == (
        ("Unknown", "Reconciling") if published else ("True", "Verified")
    )
    assert story.look(NOTHING, NOTHING, after_s=59)[0] == ("Unknown" if published else "True")
    assert story.look(NOTHING, NOTHING, after_s=1) == ("True", "Verified")


def test_without_withdrawals_nobody_is_asked() -> None:
    story = Story()
    story.view = replace(story.view, parts=(unit(spec={"withdrawals": [{**ITEM, "allowed": False}]}),))
    assert story.look(NOTHING, NOTHING) == ("Unknown", "Reconciling")
    assert story.desk.plans == []


def surroundings(client: Client) -> Surroundings:
    informers = LedgerInformers(
        Informer(client, PROVIDERS, parse_provider),
        Informer(client, ZONE_CLASSES, parse_zone_class),
        Informer(client, ZONE_UNITS, parse_zone_unit),
    )
    return Surroundings(client, informers, EventRecorder(client, "test"))


async def test_the_clock_of_proofs_outlives_a_leadership_and_not_a_process() -> None:
    plan, clocks = Plan(DOMAIN, servers=(Server("pod", ()),)), list[str]()
    async with Client(Access("http://127.0.0.1:9"), field_manager="test") as client:
        attached, other = (hosted(HostedConfig("dns")).attach(surroundings(client)) for _ in range(2))
        for each in (attached, attached, other):
            async with each.lead() as leading:
                assert isinstance(leading, HostedProvider)
                clocks.append((await leading.desk._probe(plan)).clock)
    assert clocks[0] == clocks[1] != clocks[2]
