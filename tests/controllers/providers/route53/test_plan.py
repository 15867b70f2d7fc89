"""Whose a record set is, decided from what is wanted, noted and there."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.zone_unit import UnitRecordSet
from controllers.providers.route53.change import Action
from controllers.providers.route53.parameters import Parameters, parse_parameters
from controllers.providers.route53.payload import adopted_zone, alias_target, may_adopt
from controllers.providers.route53.plan import (
    DIFFERENT,
    FOREIGN,
    NOT_ALLOWED,
    NOT_FOUND,
    ROUTED,
    TWICE,
    Decision,
    Step,
    plan,
)
from controllers.providers.route53.record import Record, RecordKey, fingerprint, read_record, values_record
from controllers.providers.route53.state import Mark, Notes, ZoneChange, ZoneOperation, read_mark, read_notes
from controllers.providers.route53.want import Want, make_want
from kube.object import ObjectKey
from zonemodel.name import Fqdn

ZONE = "Z1"
KEY = RecordKey("www.example.test", "A")
OURS = Mark(ZONE, KEY)


def want(name: str = "www", claim: str = "www", **more: Any) -> Want:
    body = {
        "recordSetNamespace": "team",
        "recordSetName": claim,
        "observedGeneration": 1,
        "name": name,
        "type": "A",
        "ttl": 60,
        "a": {"addresses": ["192.0.2.1"]},
        **more,
    }
    return make_want(UnitRecordSet.model_validate(body), Fqdn("example.test"))


def there(*addresses: str, ttl: int = 60) -> Record:
    return values_record(KEY, ttl, addresses or ("192.0.2.1",))


def decide(subject: Want, mark: Mark | None = None, *found: Record) -> Decision:
    marks = {subject.key: mark} if mark is not None else {}
    return plan(ZONE, [subject], marks, {KEY: tuple(found)} if found else {})[subject.key]


def actions(decision: Decision) -> list[Action]:
    return [each.action for each in decision.changes]


def test_what_is_not_there_is_created_with_its_intent_noted_first() -> None:
    decision = decide(want())
    assert actions(decision) == [Action.CREATE], "never an UPSERT, which would take what came to be there meanwhile"
    assert decision.sending is not None
    assert decision.sending.intent == fingerprint(there())
    assert (decision.held, decision.done) == (None, OURS)


def test_an_intent_makes_ours_what_is_as_it_was_meant_and_nothing_else() -> None:
    intent = Mark(ZONE, KEY, intent=fingerprint(there()))
    assert decide(want(), intent, there()).step is Step.NOTHING
    assert decide(want(), intent, there("198.51.100.1")).verdict == FOREIGN
    assert decide(want(deletionRequested=True), intent, there("198.51.100.1")).left_behind
    assert actions(decide(want(deletionRequested=True), intent, there())) == [Action.DELETE]


def test_what_is_ours_is_healed_and_deleted_as_it_is_there() -> None:
    assert actions(decide(want(), OURS, there(ttl=5))) == [Action.UPSERT]
    decision = decide(want(deletionRequested=True), OURS, there("198.51.100.1", ttl=5))
    assert decision.changes[0].record == there("198.51.100.1", ttl=5), "a deletion names what is there"


def test_a_deletion_names_the_alias_target_that_is_there() -> None:
    alias = {"dnsName": "lb.test.", "hostedZoneID": "Z9", "evaluateTargetHealth": True}
    subject = want(a=None, ttl=None, options={"alias": alias}, deletionRequested=True)
    target = {"HostedZoneId": "Z8", "DNSName": "Other.test", "EvaluateTargetHealth": False}
    found = read_record({"Name": "www.example.test.", "Type": "A", "AliasTarget": target})
    assert decide(subject, OURS, found).changes[0].dump()["ResourceRecordSet"]["AliasTarget"] == target


def test_a_deletion_that_was_done_owns_nothing_any_more() -> None:
    done = decide(want(deletionRequested=True), OURS, there()).done
    assert done is not None
    again = decide(want(deletionRequested=True), done, there())
    assert (again.step, again.left_behind) == (Step.GONE, True)


def test_what_others_have_is_left_alone() -> None:
    assert decide(want(), None, there()).verdict == FOREIGN
    elsewhere = (
        Mark("Z2", KEY),
        Mark(ZONE, KEY._replace(name="api.example.test")),
        Mark(ZONE, KEY._replace(type="AAAA")),
    )
    for mark in elsewhere:
        assert decide(want(), mark, there()).verdict == FOREIGN, "a mark of another record set says nothing"
    gone = decide(want(deletionRequested=True), None, there())
    assert (gone.step, gone.left_behind, gone.changes) == (Step.GONE, True, ())


def test_adoption_takes_what_is_the_same_and_creates_nothing() -> None:
    adopting: dict[str, Any] = {"adoption": {"enabled": True}}
    assert decide(want(**adopting)).verdict == NOT_FOUND
    assert decide(want(**adopting), None, there(ttl=5)).verdict == DIFFERENT
    assert decide(want(**adopting), None, there()).step is Step.ADOPT
    assert actions(decide(want(**adopting), OURS)) == [Action.CREATE], "what is ours already is healed"
    assert decide(want(adoption={"enabled": False}), None, there()).verdict == FOREIGN


def test_policies_hold_what_is_there() -> None:
    assert decide(want(allowed=False), OURS, there(ttl=5)).verdict == NOT_ALLOWED
    assert decide(want(allowed=False)).verdict == NOT_ALLOWED
    assert actions(decide(want(allowed=False, deletionRequested=True), OURS, there())) == [Action.DELETE]


def test_routing_policies_are_left_alone_even_where_ours_was() -> None:
    routed = [read_record({**there().wire, "SetIdentifier": f"s{n}", "Weight": 1}) for n in (1, 2)]
    assert decide(want(), OURS, *routed).verdict == ROUTED
    for found in (routed, routed[:1]):
        gone = decide(want(deletionRequested=True), OURS, *found)
        assert (gone.step, gone.left_behind, gone.changes) == (Step.GONE, True, ()), "what is there is not ours"
    checked = read_record({**there().wire, "HealthCheckId": "h"})
    assert actions(decide(want(), OURS, checked)) == [Action.UPSERT], "a setting that somebody added is drift"


def test_two_items_of_one_name_and_type_do_not_fight() -> None:
    old, new = want(claim="old", deletionRequested=True), want(claim="new")
    found = plan(ZONE, [new, old], {old.key: OURS}, {KEY: (there(),)})
    assert actions(found[old.key]) == [Action.DELETE]
    assert found[new.key].verdict == TWICE


def test_faults_are_named_by_their_field() -> None:
    assert want(ttl=None).fault.startswith("ttl: found nothing")
    assert want(type="TXT", a=None, txt={"values": ["ü"]}).fault.startswith("txt.values[0]: ")
    assert want(type="NS", name="*", a=None, ns={"nameServers": ["ns1.test"]}).fault.startswith("name: ")
    alias = {"dnsName": "lb.test.", "hostedZoneID": "Z9", "evaluateTargetHealth": True}
    assert want(options={"alias": alias}).fault.startswith("a: found beside options.alias")
    assert want(a=None, options={"alias": alias}).fault.startswith("ttl: found beside options.alias")
    assert want(a=None, ttl=None, options={"alias": {"dnsName": "lb.test."}}).fault.startswith(
        "options.alias.hostedZoneID: "
    )
    assert want(a=None, ttl=None, options={"alias": alias}).fault == ""
    assert want(a=None).fault.startswith("a: ")
    assert want(name="x" * 63 + ("." + "y" * 63) * 3).fault.startswith("name: ")
    big = ["x" * 3900 + str(number) for number in range(9)]
    assert "32,000 characters" in want(type="TXT", a=None, txt={"values": big}).fault


def test_payloads_that_cannot_be_read_are_told() -> None:
    assert adopted_zone(None) is None
    assert adopted_zone({"hostedZoneId": "Z1"}) == "Z1"
    for broken in ({"hostedZoneId": "/hostedzone/Z1"}, {"hostedZoneId": "Z1\n"}, {"zone": "Z1"}):
        with pytest.raises(ValueError, match=r"^adoption\."):
            adopted_zone(broken)
    assert alias_target({}) is None
    assert may_adopt({"enabled": True})
    assert not may_adopt({"enabled": "true"})
    assert not may_adopt(None)


def test_parameters_have_the_defaults_of_safety_and_name_their_faults() -> None:
    found = parse_parameters(None)
    assert isinstance(found, Parameters)
    assert (found.zone_creation_policy, found.zone_deletion_policy, found.same_name_zone_policy) == (
        "Create",
        "Retain",
        "Deny",
    )
    faults = parse_parameters({"zoneDeletionPolicy": "Drop", "tags": {"aws:x": "y"}, "colour": "red"})
    assert not isinstance(faults, Parameters)
    assert {each.field for each in faults} == {"spec.parameters.zoneDeletionPolicy", "spec.parameters.colour"}
    tags = parse_parameters({"tags": {"aws:x": "y", "k" * 129: "v", "long": "v" * 257}})
    assert not isinstance(tags, Parameters)
    assert len(tags) == 3


def test_notes_are_read_as_they_were_written_and_doubt_is_nothing() -> None:
    change = ZoneChange(ZoneOperation.CREATE, "Z1", "C1")
    notes = Notes("ref", "Z1", "111111111111", created=True, zone_change=change, record_changes=("C2", "C3"))
    assert read_notes(notes.dump()) == notes
    assert read_notes(None) == read_notes({}) == Notes()
    assert (
        read_notes({"hostedZone": "Z1", "pendingHostedZoneChange": {"operation": "?"}, "pendingRecordSetChange": []})
        == Notes()
    )
    mark = Mark("Z1", KEY, intent="i", change="C1")
    assert read_mark(mark.dump()) == mark
    assert read_mark({"hostedZoneID": "Z1"}) is None
    assert ObjectKey("team", "www") == want().key
