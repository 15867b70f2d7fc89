"""Which round counts for what, and what a record set is told when nobody looks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dns.rdatatype
import pytest

from controllers.api.group import RECONCILE_REQUEST
from controllers.api.provider import parse_provider
from controllers.api.reason import Reason
from controllers.api.record_withdrawal_item import ClassBinding
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import UnitRecordSet, ZoneUnit, ZoneUnitStatus, parse_zone_unit
from controllers.ledger.result import PlainItem, ZoneResult
from controllers.ledger.view import LedgerView
from controllers.probe.address import Address
from controllers.probe.answer import SILENCE, Answer, Outcome, Question
from controllers.probe.desk import Probed
from controllers.probe.prober import Plan
from controllers.probe.round import Round, Server, apex_questions
from controllers.probe.subject import Subject, question_about
from controllers.providers.external import zone_unit
from controllers.providers.external.binding import BINDING
from controllers.providers.external.contract import provider_manifest
from controllers.providers.external.judgement import Look, judge_items, zone_result
from controllers.providers.external.observation import judge_records, judge_stopped, judge_zone, name_servers_of
from controllers.providers.external.parameters import DeletionPolicy, Settings
from controllers.providers.external.wanted import Wanted
from controllers.providers.external.zone_unit import Stamp, ZoneUnitReconciler, is_proof, plan_of
from kube.object import ObjectKey
from tests.controllers.core.build import NOW, meta
from tests.controllers.ledger.withdrawal_item import WITHDRAWAL
from zonemodel.name import Fqdn
from zonemodel.record import ABody, RecordType

DOMAIN = Fqdn("shop.test")
CLASS = ClassBinding(uid="class", generation=1)
PLAN = Plan(DOMAIN, name_servers=(Address("192.0.2.11"),), stamp=Stamp(CLASS, None, frozenset()))
NO_BODY = UnitRecordSet.model_validate(
    {"recordSetNamespace": "team", "recordSetName": "www", "observedGeneration": 1, "name": "www", "type": "A"}
)
ONE = Address("192.0.2.11")
SOA, NS = apex_questions(DOMAIN)


def probed(plan: Plan) -> Probed:
    return Probed(plan, Round(plan.domain, (), {}))


@pytest.mark.parametrize(
    "difference",
    [
        {"domain": Fqdn("former.test")},
        {"name_servers": (Address("192.0.2.12"),)},
        {"resolvers": (Address("192.0.2.53"),)},
        {"stamp": Stamp(ClassBinding(uid="other", generation=1), None, frozenset())},
        {"stamp": Stamp(ClassBinding(uid="class", generation=2), None, frozenset())},
        {"stamp": Stamp(None, None, frozenset())},
        {"stamp": None},
    ],
    ids=lambda each: str(next(iter(each.items()))),
)
def test_a_round_over_another_zone_other_servers_or_under_another_class_proves_nothing(
    difference: dict[str, object],
) -> None:
    assert is_proof(probed(replace(PLAN, subjects=(Subject("www", 1),), interval_s=10.0)), PLAN)
    assert not is_proof(probed(replace(PLAN, **difference)), PLAN)  # type: ignore[arg-type] # fields of a plan


def items(item: UnitRecordSet = NO_BODY, **change: object) -> list[list[PlainItem]]:
    return [[PlainItem(item.model_copy(update=change), item.key)]]


def test_a_deletion_that_nobody_looks_at_is_done_whatever_the_record_set_holds() -> None:
    look = Look(DOMAIN, Settings(deletion_policy=DeletionPolicy.FORGET), None)
    ((result,),) = judge_items(look, items(deletion_requested=True))
    assert result.gone
    ((kept,),) = judge_items(look, items())
    assert not kept.gone
    ((observed,),) = judge_items(Look(DOMAIN, Settings(), None), items(deletion_requested=True))
    assert not observed.gone


def a_round(*servers: Server, ns: Answer, names: frozenset[str] | None = None) -> Round:
    answers = {ONE: {SOA: Answer(Outcome.DATA, "NOERROR", frozenset({"ns. h. 5 0 0 0 0"})), NS: ns}}
    www = Question(f"www.{DOMAIN}", dns.rdatatype.A)
    answers[ONE][www] = Answer(Outcome.DATA, "NOERROR", frozenset({"192.0.2.1"}), 300)
    return Round(DOMAIN, servers, answers, asked=frozenset({SOA, NS, www}), names=names)


def test_a_server_that_nobody_could_ask_is_not_known_to_have_the_records() -> None:
    ns = Answer(Outcome.DATA, "NOERROR", frozenset({"ns1.example"}))
    found = a_round(Server("ns1.example", (ONE,)), Server("gone.example", ()), ns=ns)
    www = UnitRecordSet.model_validate({**NO_BODY.dump(), "ttl": 300, "a": {"addresses": ["192.0.2.1"]}})
    ((result,),) = judge_items(Look(DOMAIN, Settings(), found), items(www))
    assert (result.programmed.status, result.programmed.reason) == ("Unknown", "ProviderUnavailable")
    assert result.programmed.message == "No word from 1 of 2 servers: gone.example NOADDRESS."
    verdict = judge_zone(found)
    assert (verdict.status, verdict.reason) == ("Unknown", "ProviderUnavailable")
    data = zone_result(Look(DOMAIN, Settings(), found)).data
    assert data is not None
    assert [(each["server"], each["answer"]) for each in data["servers"]] == [
        ("ns1.example", "NOERROR"),
        ("gone.example", "NOADDRESS"),
    ]


def test_glue_is_given_with_a_delegation_and_is_served_until_it_is_not() -> None:
    wanted = Wanted(Fqdn("ns.lab.shop.test"), RecordType.A, frozenset({"192.0.2.53"}), 60, ())
    referral = Answer(Outcome.REFERRAL, "NOERROR", frozenset({"ns.lab.shop.test"}), 300, cut="lab.shop.test")
    with_glue = replace(referral, glue=frozenset({"192.0.2.53"}))
    assert judge_records(wanted, [("ns1", with_glue)], require_all=True).programmed.accepted
    assert not judge_records(wanted, [("ns1", referral)], require_all=True).programmed.accepted
    assert judge_stopped(wanted, [("ns1", with_glue)]) is not None
    assert judge_stopped(wanted, [("ns1", referral)]) is None


def test_another_ttl_is_told_of_those_who_have_the_records_and_tell_it() -> None:
    values = frozenset({"192.0.2.1"})
    wanted = Wanted(Fqdn("www.shop.test"), RecordType.A, values, 60, ())
    told = [
        ("ns1", Answer(Outcome.DATA, "NOERROR", values, 60)),
        ("ns2", Answer(Outcome.DATA, "NOERROR", values, 300)),
        ("ns3", Answer(Outcome.DATA, "NOERROR", frozenset({"192.0.2.9"}), 300)),
        (
            "ns4",
            Answer(Outcome.REFERRAL, "NOERROR", frozenset({"ns.shop.test"}), 300, cut="www.shop.test", glue=values),
        ),
    ]
    said = judge_records(wanted, told, require_all=False).programmed.message
    assert said == "3 of 4 servers answer with the records. TTL: want 60, got ns2 300."


def test_name_servers_that_the_class_leaves_out_are_told() -> None:
    ns = Answer(Outcome.DATA, "NOERROR", frozenset({"ns1.example", "ns2.example"}))
    found = a_round(Server("ns1.example", (ONE,)), ns=ns, names=frozenset({"ns1.example"}))
    assert judge_zone(found).message == (
        "1 of 1 servers speak for the zone. Seen besides: the apex names ns2.example, which nobody asks."
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(Outcome.REFERRAL, "NOERROR", frozenset({"ns.test"}), 60, cut="shop.test"), "ProviderConflict"),
        (Answer(Outcome.LAME, "REFUSED"), "ProviderConflict"),
        (Answer(Outcome.NO_DATA, "NOERROR"), "ProviderConflict"),
        (SILENCE, "ProviderUnavailable"),
    ],
)
def test_a_server_without_the_zone_is_told_from_one_that_is_silent(answer: Answer, reason: str) -> None:
    found = Round(DOMAIN, (Server("ns1", (ONE,)),), {ONE: {SOA: answer}}, asked=frozenset({SOA}))
    assert judge_zone(found).reason == reason


@pytest.mark.parametrize(("denied", "reason"), [(True, "ExternalResourceNotFound"), (False, "ProviderUnavailable")])
def test_a_zone_without_servers_is_not_there_when_the_zone_above_says_so(denied: bool, reason: str) -> None:
    assert judge_zone(Round(DOMAIN, (), {}, denied=denied)).reason == reason


def test_name_servers_whose_names_no_zone_can_have_are_not_told() -> None:
    names = Answer(Outcome.DATA, "NOERROR", frozenset({"ns1.test", "n\\032s.test", "under_score.test"}))
    found = Round(DOMAIN, (Server("ns1", (ONE,)),), {ONE: {NS: names}}, asked=frozenset({NS}))
    assert name_servers_of(found) == ("ns1.test",)


def test_lines_are_told_for_what_is_missing_and_stay_while_that_is_not_known() -> None:
    www = NO_BODY.model_copy(update={"a": ABody(addresses=("192.0.2.1",))})
    question = question_about("www", www.type.code, DOMAIN, "")

    def told(answer: Answer, **change: object) -> object:
        found = Round(DOMAIN, (Server("ns1", (ONE,)),), {ONE: {question: answer}}, asked=frozenset({question}))
        ((result,),) = judge_items(Look(DOMAIN, Settings(), found), items(www, **change))
        return result.data

    line = {"pending": ["www.shop.test. 300 IN A 192.0.2.1"]}
    assert told(Answer(Outcome.NO_NAME, "NXDOMAIN")) == line
    assert told(Answer(Outcome.NO_DATA, "NOERROR"), allowed=False) is None
    assert told(Answer(Outcome.DATA, "NOERROR", frozenset({"192.0.2.1"}), 300)) == {"pending": []}
    assert told(SILENCE) is None
    assert told(Answer(Outcome.LAME, "REFUSED")) is None


SPEC = {
    "zone": {
        "ref": {"namespace": "team", "name": "shop"},
        "observedGeneration": 1,
        "domainName": DOMAIN,
        "zoneClassRef": {"namespace": "team", "name": "outside"},
    },
    "provider": BINDING.provider.dump(),
}


def test_what_is_asked_follows_claims_that_are_allowed_and_whoever_asks_for_a_look() -> None:
    allowed, refused = ({**WITHDRAWAL, "claimName": name, "claimUID": name} for name in ("allowed", "refused"))
    withdrawals = [{**allowed, "allowed": True}, {**refused, "name": "secret", "allowed": False}]

    def plan(**annotations: str) -> Plan:
        metadata = {"namespace": "team", "name": "shop", "annotations": annotations}
        unit = parse_zone_unit({"metadata": metadata, "spec": {**SPEC, "withdrawals": withdrawals}})
        return plan_of(LedgerView(key=unit.key, parts=(unit,), zone_class=None, provider=None), unit, Settings())

    assert [each.name for each in plan().subjects] == ["www"]
    assert plan() == plan()
    assert plan() != plan(**{RECONCILE_REQUEST: "now"})


class Desk:
    """Gives a round that was made for another plan, `made` of the one that is asked for; notes what is forgotten."""

    def __init__(self, **made: Any) -> None:
        self.made, self.forgotten = made, list[ObjectKey]()

    def ask(self, zone: ObjectKey, plan: Plan) -> Probed:
        answers = {ONE: {each: Answer(Outcome.DATA, "NOERROR", frozenset({"ns. h. 5 0 0 0 0"})) for each in (SOA, NS)}}
        return Probed(
            replace(plan, **self.made), Round(DOMAIN, (Server("ns1", (ONE,)),), answers, asked=frozenset({SOA, NS}))
        )

    def forget(self, zone: ObjectKey) -> None:
        self.forgotten.append(zone)


class Surrounded:
    """Stands for a context and its surroundings."""

    binding, surroundings = BINDING, property(lambda self: self)

    def wall_clock(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC)


class Reports:
    """Stands for a Reporter; `told` is why the zone is programmed or not."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def status_of(self, part: ZoneUnit) -> ZoneUnitStatus:
        return part.status

    def look_again(self, *_: object) -> None:
        """Never: there is one look."""

    forget_zone = look_again

    async def hold(self, *_: object) -> None:
        """Nothing is written."""

    release_spent = let_go = hold

    async def report(self, zone: ObjectKey, parts: object, result: ZoneResult, *_: object) -> None:
        self.told.append(result.programmed.reason)


async def looked_at(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, deleting: bool = False, **of_class: Any
) -> str | None:
    """Look at a zone of a class once; returns why it is programmed or not, None when that is not told."""
    spec = {"provider": SPEC["provider"], "controllerName": BINDING.controller_name, **of_class}
    zone_class = parse_zone_class({"metadata": meta("team", "outside"), "spec": spec})
    metadata = meta("team", "shop", **({"deletionTimestamp": NOW} if deleting else {}))
    view = LedgerView(
        key=ObjectKey("team", "shop"),
        parts=(parse_zone_unit({"metadata": metadata, "spec": SPEC}),),
        zone_class=zone_class,
        provider=parse_provider(provider_manifest()),
        stored_class=zone_class,
    )
    monkeypatch.setattr(zone_unit, "gather_ledger", lambda *_: view)
    reports = Reports()
    monkeypatch.setattr(zone_unit, "Reporter", lambda _: reports)
    await ZoneUnitReconciler(Surrounded(), desk).reconcile(view.key)  # type: ignore[arg-type] # as much of them as is used
    return reports.told[0] if reports.told else None


async def test_a_round_over_other_servers_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await looked_at(Desk(stamp="older"), monkeypatch) == Reason.PROGRAMMED
    assert await looked_at(Desk(resolvers=(Address("192.0.2.53"),)), monkeypatch) == Reason.RECONCILING


@pytest.mark.parametrize(
    "end", [{"deleting": True}, {"controllerName": "other.example/x"}, {"parameters": {"probeInterval": "never"}}]
)
async def test_a_zone_that_is_not_to_be_observed_is_asked_about_no_more(
    end: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    await looked_at(desk, monkeypatch)
    assert not desk.forgotten
    await looked_at(desk, monkeypatch, **end)
    assert desk.forgotten == [ObjectKey("team", "shop")]


def test_without_an_answer_the_name_servers_that_are_known_stay() -> None:
    found = Round(DOMAIN, (Server("ns1", (ONE,)),), {ONE: {NS: SILENCE}}, asked=frozenset({NS}))
    assert zone_result(Look(DOMAIN, Settings(), found)).name_servers is None
