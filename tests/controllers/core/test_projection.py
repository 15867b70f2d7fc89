"""Projection: which results of a provider reach the claims, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import Condition, ConditionStatus, changed_conditions, find_condition
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSetStatus
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone import ZoneStatus
from controllers.api.zone_unit import UnitRecordSet, UnitRecordSetStatus
from controllers.core.compose import compose
from controllers.core.guard import HELD
from controllers.core.item import item_of
from controllers.core.projection import project_record_set, project_zone
from kube.object import ObjectKey
from tests.controllers.core.build import NOW, ZONE, condition, deleting, inputs, record_set, units, zone

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN


def result(item: UnitRecordSet, *conditions: dict[str, Any], **more: Any) -> UnitRecordSetStatus:
    return UnitRecordSetStatus.model_validate(
        {
            "recordSetNamespace": item.record_set_namespace,
            "recordSetName": item.record_set_name,
            "observedGeneration": item.observed_generation,
            "conditions": list(conditions),
            **more,
        }
    )


def said(status: RecordSetStatus | ZoneStatus, kind: str) -> tuple[ConditionStatus, str, str] | None:
    found = find_condition(status.conditions, kind)
    return None if found is None else (found.status, found.reason, found.message)


def project(claim: Any, verdict: Verdict, item: Any, of: Any) -> RecordSetStatus:
    status = project_record_set(claim, ZONE, verdict, item, of, NOW).status
    assert isinstance(status, RecordSetStatus)
    return status


def test_status_reason_and_message_go_over_unchanged() -> None:
    claim = record_set("www")
    item = item_of(claim)
    of = result(
        item,
        condition("Accepted", "True", "Accepted", ""),
        condition("Programmed", "False", "ProviderConflict", "Somebody else's."),
        provider={"data": {"id": 1}, "state": {"secret": 2}},
    )
    status = project(claim, ACCEPTED, item, of)
    assert said(status, "Accepted") == (TRUE, "Accepted", "")
    assert said(status, "Programmed") == (FALSE, "ProviderConflict", "Somebody else's.")
    assert status.provider is not None
    assert status.provider.dump() == {"data": {"id": 1}}
    assert status.zone is not None
    assert status.zone.dump() == {"ref": {"namespace": "team", "name": "example"}}


def test_a_result_for_an_older_item_does_not_count() -> None:
    claim = record_set("www", metadata={"generation": 2})
    item = item_of(claim)
    old = result(item, condition("Programmed", "True", "Programmed"), observedGeneration=1)
    projected = project_record_set(claim, ZONE, ACCEPTED, item, old, NOW)
    assert projected.provisional
    assert isinstance(projected.status, RecordSetStatus)
    assert said(projected.status, "Programmed") == (UNKNOWN, "Reconciling", "Waiting for the provider.")


def test_a_result_for_an_item_that_the_claim_has_moved_past_does_not_count() -> None:
    item = item_of(record_set("www"))
    claim = record_set("www", metadata={"generation": 2})
    of = result(item, condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed"))
    status = project(claim, ACCEPTED, item, of)
    assert said(status, "Programmed") == (UNKNOWN, "Reconciling", "Waiting for the provider.")


def test_a_refused_newcomer_has_no_programmed_condition() -> None:
    status = project(record_set("www"), refused(Reason.RECORD_SET_CONFLICT, "Taken."), None, None)
    assert said(status, "Accepted") == (FALSE, "RecordSetConflict", "Taken.")
    assert said(status, "Programmed") is None


def test_a_refused_owner_keeps_the_providers_word_on_its_records() -> None:
    claim = record_set("www")
    item = item_of(claim)
    of = result(item, condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed"))
    status = project(claim, refused(Reason.NOT_ALLOWED_BY_ZONE, "No."), item, of)
    assert said(status, "Accepted") == (FALSE, "NotAllowedByZone", "No.")
    assert said(status, "Programmed") == (TRUE, "Programmed", "")


def test_the_transition_time_moves_with_the_status_only() -> None:
    claim = record_set("www")
    item = item_of(claim)
    first = project(claim, ACCEPTED, item, result(item, condition("Programmed", "False", "ProviderUnavailable")))
    before = find_condition(first.conditions, "Programmed")
    assert before is not None
    held = parse_with(first)
    again = project(held, ACCEPTED, item, result(item, condition("Programmed", "False", "ProviderConflict")))
    after = find_condition(again.conditions, "Programmed")
    assert after is not None
    assert after.last_transition_time == before.last_transition_time
    assert [each.reason for each in changed_conditions(first.conditions, again.conditions)] == ["ProviderConflict"]


def parse_with(status: RecordSetStatus) -> Any:
    claim = record_set("www")
    return type(claim)(claim.meta, claim.spec, status)


def test_a_zone_gets_its_servers_and_results() -> None:
    composed = compose(inputs(record_set("www")))
    status = project_zone(zone(), composed.zone_verdict, units(composed), (), NOW).status
    assert isinstance(status, ZoneStatus)
    assert said(status, "Programmed") == (TRUE, "Programmed", "")
    assert status.name_servers == ("ns1.example.com",)


def test_a_result_for_an_older_zone_does_not_count() -> None:
    """Neither when the ledger is of an older generation, nor when the provider's conditions are of one that the ledger has moved past."""
    composed = compose(inputs())
    (unit,) = units(composed)
    newer = replace(
        unit,
        spec=unit.spec.model_copy(update={"zone": unit.spec.zone.model_copy(update={"observed_generation": 2})}),
    )
    for ledger in (unit, newer):
        status = project_zone(zone({"generation": 2}), ACCEPTED, [ledger], (), NOW).status
        assert isinstance(status, ZoneStatus)
        assert said(status, "Accepted") == (UNKNOWN, "Reconciling", "Waiting for the provider.")
        assert said(status, "Programmed") == (UNKNOWN, "Reconciling", "Waiting for the provider.")
        assert status.name_servers == ()


def test_a_generation_of_a_zone_that_is_kept_out_does_not_wait_for_the_provider() -> None:
    composed = compose(inputs())
    denied = refused(Reason.NOT_ALLOWED_BY_ZONE_CLASS, "No.")
    for generation, told in (
        (1, (TRUE, "Programmed", "")),
        (
            2,
            (
                UNKNOWN,
                "Reconciling",
                "The ledger keeps generation 1 of the Zone; what keeps this one out is said by Accepted.",
            ),
        ),
    ):
        status = project_zone(zone({"generation": generation}), denied, units(composed), (), NOW).status
        assert isinstance(status, ZoneStatus)
        assert said(status, "Programmed") == told


def test_public_data_is_that_of_the_item_that_stands_there() -> None:
    claim = record_set("www", metadata={"generation": 2})
    known = parse_with(RecordSetStatus.model_validate({"provider": {"data": {"id": "known"}}}))
    edited = replace(known, meta=claim.meta)
    old = result(item_of(claim), observedGeneration=1, provider={"data": {"id": "former"}})
    status = project(edited, ACCEPTED, item_of(claim), old)
    assert status.provider is not None
    assert status.provider.data == {"id": "known"}


def test_a_leaving_zone_names_the_claims_it_waits_for() -> None:
    composed = compose(inputs(record_set("www")))
    remaining = [ObjectKey("team", f"r{number}") for number in range(7)]
    status = project_zone(zone(deleting()), None, units(composed), remaining, NOW).status
    message = find_condition(status.conditions, "Programmed")
    assert message is not None
    assert message.message == (
        "Waiting for 7 RecordSets to be deleted: team/r0, team/r1, team/r2, team/r3, team/r4 and 2 more."
    )


@pytest.mark.parametrize(
    ("ledger", "reason"),
    [
        ({"generation": 1, **deleting()}, "ProviderConflict"),
        ({"generation": 2, **deleting()}, "ProviderChangePending"),
        ({"generation": 1}, "ProviderChangePending"),
    ],
    ids=["of the deletion", "of before it", "of a ledger that stays"],
)
def test_a_leaving_zone_tells_what_keeps_its_provider_from_cleaning_up(ledger: dict[str, Any], reason: str) -> None:
    composed = compose(inputs())
    (before,) = units(composed, metadata=ledger)
    conflict = Condition.model_validate(
        condition("Programmed", "False", "ProviderConflict", "Others have records there.")
    )
    assert before.status.zone is not None
    told = before.status.zone.model_copy(update={"conditions": (conflict,)})
    unit = replace(before, status=before.status.model_copy(update={"zone": told}))
    status = project_zone(zone({"generation": 2, **deleting()}), None, [unit], (), NOW).status
    found = find_condition(status.conditions, "Programmed")
    assert found is not None
    assert (found.reason, found.observed_generation) == (reason, 2)


@pytest.mark.parametrize("held", [False, True])
def test_what_is_programmed_of_a_former_claim_is_not_said_of_one_that_is_kept_out(held: bool) -> None:
    """The claim was made again with the generation that the former one had."""
    former = item_of(record_set("www"))
    of = result(former, condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed"))
    again = record_set("www", metadata={"uid": "another"}, ttl=77)
    verdict = HELD if held else refused(Reason.NOT_ALLOWED_BY_ZONE, "No.")
    status = project_record_set(again, ZONE, verdict, former, of, NOW, held=held).status
    words = "The ledger keeps the records of a former claim of this name; what keeps these out is said by Accepted."
    found = find_condition(status.conditions, "Programmed")
    assert found is not None
    assert (found.status, found.reason, found.message) == (UNKNOWN, "Reconciling", words)


@pytest.mark.parametrize("has_been_told", [False, True])
@pytest.mark.parametrize("payload", ["options", "adoption"])
def test_a_claim_that_is_kept_out_and_has_options_is_programmed_when_it_was_told_so_itself(
    payload: str, has_been_told: bool
) -> None:
    """It may have been made again with other options, which the ledger has in a version that claims are not compared in."""
    former = item_of(record_set("www"), {payload: {"proxied": False}})
    programmed = condition("Programmed", "True", "Programmed")
    of = result(former, condition("Accepted", "True", "Accepted"), programmed)
    again = record_set("www")
    again = replace(again, spec=again.spec.model_copy(update={payload: {"proxied": True}}))
    if has_been_told:
        again = replace(again, status=RecordSetStatus.model_validate({"conditions": [programmed]}))
    denied = refused(Reason.NOT_ALLOWED_BY_ZONE, "No.")
    told = said(project(again, denied, former, of), "Programmed")
    assert told == (
        (TRUE, "Programmed", "") if has_been_told else (UNKNOWN, "Reconciling", "Waiting for the provider.")
    )
    assert said(project(again, ACCEPTED, former, of), "Programmed") == (TRUE, "Programmed", "")


def test_waiting_for_the_provider_does_not_make_a_result_of_a_former_claim_ones_own() -> None:
    former = item_of(record_set("www"), {"options": {"proxied": False}})
    of = result(former, condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed"))
    again = record_set("www")
    again = replace(again, spec=again.spec.model_copy(update={"options": {"proxied": True}}))
    denied = refused(Reason.NOT_ALLOWED_BY_ZONE, "No.")
    for _ in range(2):
        again = replace(again, status=project(again, denied, former, of))
        assert said(again.status, "Programmed") == (UNKNOWN, "Reconciling", "Waiting for the provider.")


def test_a_generation_that_is_kept_out_does_not_wait_for_the_provider() -> None:
    former = item_of(record_set("www"))
    edited = record_set("www", metadata={"generation": 2})
    of = result(former, condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed"))
    denied = refused(Reason.NOT_ALLOWED_BY_ZONE, "No.")
    status = project(edited, denied, former, of)
    words = "The ledger keeps generation 1 of the claim; what keeps this one out is said by Accepted."
    assert said(status, "Programmed") == (UNKNOWN, "Reconciling", words)
    assert said(project(edited, ACCEPTED, former, of), "Programmed") == (
        UNKNOWN,
        "Reconciling",
        "Waiting for the provider.",
    )
    assert said(project(record_set("www"), denied, former, of), "Programmed") == (TRUE, "Programmed", "")
