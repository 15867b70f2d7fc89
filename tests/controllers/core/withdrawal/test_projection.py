"""Projection of withdrawals: each fence, with the one thing that differs, keeps a result from its claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import find_condition
from controllers.api.record_withdrawal import RecordWithdrawal, RecordWithdrawalStatus
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec
from controllers.core.compose import compose
from controllers.core.withdrawal.projection import NOTHING_CURRENT, Ground, project_withdrawal
from controllers.core.withdrawal.projector import changed_withdrawals
from controllers.core.withdrawal.rule import ACCEPTED
from tests.controllers.core import build
from tests.controllers.core.withdrawal.build import inputs, observed, waiver, withdrawal

OVERRIDE = (
    ("Withdrawn", "False", "StillPublished"),
    ("Ready", "True", "OperatorAuthorizedRelease"),
    ("OverrideAccepted", "True", "OperatorAuthorizedRelease"),
)


def said(status: RecordWithdrawalStatus) -> dict[str, tuple[str, str, str]]:
    return {each.type: (each.status.value, each.reason, each.message) for each in status.conditions}


BLOCKED = {
    "Accepted": ("True", "Accepted", ""),
    "Withdrawn": ("Unknown", "DNSProbeFailed", NOTHING_CURRENT),
    "Ready": ("False", "DNSProbeFailed", NOTHING_CURRENT),
}


def composed(claim: RecordWithdrawal, *, waived: bool = False) -> ZoneUnitSpec:
    composition = compose(inputs(claim, waivers=[waiver(claim)] if waived else []))
    assert composition.parts is not None
    return composition.parts[0]


def ground(claim: RecordWithdrawal, spec: ZoneUnitSpec, unit: ZoneUnit | None, **more: Any) -> Ground:
    return replace(Ground(claim, spec.withdrawals[0], unit, build.zone_class()), **more)


def test_a_current_result_goes_over_with_its_message_and_public_evidence_only() -> None:
    claim = withdrawal()
    spec = composed(claim)
    status = project_withdrawal(ground(claim, spec, observed(spec)), ACCEPTED, build.NOW)
    assert said(status) == {
        "Accepted": ("True", "Accepted", ""),
        "Withdrawn": ("True", "Verified", "Seen."),
        "Ready": ("True", "Withdrawn", "Seen."),
    }
    assert status.provider is not None
    assert status.provider.dump() == {"data": {"serial": 7}}
    assert status.observed_generation == 1


def test_an_override_goes_over_with_its_waiver() -> None:
    claim = withdrawal()
    spec = composed(claim, waived=True)
    status = project_withdrawal(ground(claim, spec, observed(spec, *OVERRIDE)), ACCEPTED, build.NOW)
    assert said(status)["Ready"] == ("True", "OperatorAuthorizedRelease", "Seen.")
    assert said(status)["OverrideAccepted"] == ("True", "OperatorAuthorizedRelease", "Seen.")


def _other_class(uid: str, generation: int) -> Callable[[ZoneUnitSpec], dict[str, Any]]:
    return lambda spec: {"unit": observed(spec, zoneClass={"uid": uid, "generation": generation})}


def _old_condition(kind: str) -> Callable[[ZoneUnitSpec], dict[str, Any]]:
    def make(spec: ZoneUnitSpec) -> dict[str, Any]:
        conditions = [
            build.condition(each, "True", reason, generation=0 if each == kind else 1)
            for each, reason in (("Withdrawn", "Verified"), ("Ready", "Withdrawn"))
        ]
        return {"unit": observed(spec, conditions=conditions)}

    return make


def _without(kind: str) -> Callable[[ZoneUnitSpec], dict[str, Any]]:
    def make(spec: ZoneUnitSpec) -> dict[str, Any]:
        told = {"Withdrawn": ("Withdrawn", "True", "Verified"), "Ready": ("Ready", "True", "Withdrawn")}
        del told[kind]
        return {"unit": observed(spec, *told.values())}

    return make


def _changed_item(**change: Any) -> Callable[[ZoneUnitSpec], dict[str, Any]]:
    """What is wanted now differs in one field from what stands in the ledger that was observed."""
    return lambda spec: {"item": spec.withdrawals[0].model_copy(update=change)}


FENCES: dict[str, Callable[[ZoneUnitSpec], dict[str, Any]]] = {
    "no result": lambda spec: {"unit": build.unit(spec)},
    "no ledger": lambda spec: {"unit": None},
    "claim UID": lambda spec: {"unit": observed(spec, claimUID="uid-of-the-former-one")},
    "claim generation": lambda spec: {"unit": observed(spec, claimGeneration=2)},
    "claim name": lambda spec: {"unit": observed(spec, claimName="another")},
    "claim namespace": lambda spec: {"unit": observed(spec, claimNamespace="another")},
    "class UID": _other_class("uid-of-the-former-class", 1),
    "class generation": _other_class("uid-team-hosted", 2),
    "no class": lambda spec: {"zone_class": None},
    "unit generation": lambda spec: {"unit": observed(spec, generation=0)},
    "unit deleting": lambda spec: {"unit": observed(spec, metadata=build.deleting())},
    "Withdrawn generation": _old_condition("Withdrawn"),
    "Ready generation": _old_condition("Ready"),
    "no Withdrawn": _without("Withdrawn"),
    "no Ready": _without("Ready"),
    "item gone": lambda spec: {"item": None},
    "item address": _changed_item(address="192.0.2.9"),
    "item name": _changed_item(name="api"),
    "item authorization": _changed_item(allowed=False),
    "item uid": _changed_item(claim_uid="uid-of-a-later-one"),
    "a waiver nobody composed": lambda spec: {"unit": observed(spec, waiver=_waiver_dump())},
}


def _waiver_dump() -> dict[str, Any]:
    binding = composed(withdrawal(), waived=True).withdrawals[0].waiver
    assert binding is not None
    return binding.dump()


@pytest.mark.parametrize("fence", FENCES)
def test_a_result_from_the_wrong_side_of_one_fence_counts_as_nothing_observed(fence: str) -> None:
    claim = withdrawal()
    spec = composed(claim)
    status = project_withdrawal(
        ground(claim, spec, **{"unit": observed(spec), **FENCES[fence](spec)}), ACCEPTED, build.NOW
    )
    assert said(status) == BLOCKED
    assert status.provider is None


@pytest.mark.parametrize(
    "difference",
    [
        {"name": "another"},
        {"uid": "uid-of-a-former-waiver"},
        {"namespace": "another"},
        {"specDigest": "sha256:" + "0" * 64},
        {"reservationRef": {"group": "ipam.example.com", "kind": "IPReservation", "name": "edge-1", "uid": "r-2"}},
    ],
    ids=lambda each: next(iter(each)),
)
def test_an_override_by_any_other_waiver_is_kept_out(difference: dict[str, Any]) -> None:
    claim = withdrawal()
    spec = composed(claim, waived=True)
    unit = observed(spec, *OVERRIDE, waiver={**_waiver_dump(), **difference})
    assert said(project_withdrawal(ground(claim, spec, unit), ACCEPTED, build.NOW)) == BLOCKED


@pytest.mark.parametrize(
    "override",
    [
        None,
        build.condition("OverrideAccepted", "False", "WaiverMismatch"),
        build.condition("OverrideAccepted", "True", "OperatorAuthorizedRelease", generation=0),
    ],
    ids=["none", "refused", "stale"],
)
def test_an_override_needs_the_providers_current_word_for_it(override: dict[str, Any] | None) -> None:
    claim = withdrawal()
    spec = composed(claim, waived=True)
    conditions = [build.condition(*each) for each in OVERRIDE[:2]] + ([override] if override else [])
    unit = observed(spec, conditions=conditions)
    assert said(project_withdrawal(ground(claim, spec, unit), ACCEPTED, build.NOW)) == BLOCKED


def test_an_override_of_a_result_whose_waiver_was_taken_away_is_kept_out() -> None:
    claim = withdrawal()
    waived, plain = composed(claim, waived=True), composed(claim)
    unit = observed(waived, *OVERRIDE)
    assert said(project_withdrawal(ground(claim, plain, unit), ACCEPTED, build.NOW)) == BLOCKED


def test_a_claim_of_the_same_name_inherits_nothing() -> None:
    former = withdrawal()
    spec = composed(former)
    later = withdrawal(metadata={"uid": "uid-of-a-later-one"})
    unit = observed(spec)
    item = composed(later).withdrawals[0]
    assert said(project_withdrawal(Ground(later, item, unit, build.zone_class()), ACCEPTED, build.NOW)) == BLOCKED


def test_success_is_taken_back_when_the_observation_is_no_longer_current() -> None:
    claim = withdrawal()
    spec = composed(claim)
    good = project_withdrawal(ground(claim, spec, observed(spec)), ACCEPTED, build.NOW)
    later = replace(claim, status=good)
    status = project_withdrawal(ground(later, spec, observed(spec, generation=0)), ACCEPTED, build.NOW)
    assert said(status) == BLOCKED
    ready = find_condition(status.conditions, "Ready")
    assert ready is not None
    assert ready.last_transition_time == build.NOW


def test_an_override_that_no_waiver_stands_for_is_kept_out() -> None:
    """Neither the item nor the result has a waiver, and the provider says all the same that it took one."""
    claim = withdrawal()
    spec = composed(claim)
    status = project_withdrawal(ground(claim, spec, observed(spec, *OVERRIDE)), ACCEPTED, build.NOW)
    assert said(status) == BLOCKED


def test_a_result_without_evidence_goes_over() -> None:
    claim = withdrawal()
    spec = composed(claim)
    status = project_withdrawal(ground(claim, spec, observed(spec, provider=None)), ACCEPTED, build.NOW)
    assert said(status)["Ready"] == ("True", "Withdrawn", "Seen.")
    assert status.provider is None


def test_conditions_keep_their_times_and_those_that_nobody_states_any_more_go() -> None:
    kinds = (
        ("Accepted", "True"),
        ("Withdrawn", "True"),
        ("Ready", "True"),
        ("OverrideAccepted", "True"),
        ("Old", "True"),
    )
    before = [
        {**build.condition(kind, status, "Before", "Before."), "lastTransitionTime": "2020-01-01T00:00:00Z"}
        for kind, status in kinds
    ]
    claim = withdrawal(status={"conditions": before})
    spec = composed(claim)
    status = project_withdrawal(ground(claim, spec, observed(spec)), ACCEPTED, build.NOW)
    assert {each.type: each.last_transition_time for each in status.conditions} == dict.fromkeys(
        ("Accepted", "Withdrawn", "Ready"), "2020-01-01T00:00:00Z"
    )


def test_an_older_word_on_an_override_does_not_go_over() -> None:
    claim = withdrawal()
    spec = composed(claim, waived=True)
    unit = observed(spec, ("Withdrawn", "True", "Verified"), ("Ready", "True", "Withdrawn"), OVERRIDE[2])
    (result,) = unit.status.withdrawals
    old = [
        each.model_copy(update={"observed_generation": 0}) if each.type == "OverrideAccepted" else each
        for each in result.conditions
    ]
    told = result.model_copy(update={"conditions": tuple(old)})
    unit = replace(unit, status=unit.status.model_copy(update={"withdrawals": (told,)}))
    status = project_withdrawal(ground(claim, spec, unit), ACCEPTED, build.NOW)
    assert said(status).keys() == {"Accepted", "Withdrawn", "Ready"}


def test_a_result_counts_when_there_are_other_withdrawals_beside_it() -> None:
    claim, other = withdrawal(), withdrawal("other", "other")
    composition = compose(inputs(claim, other))
    assert composition.parts is not None
    spec = composition.parts[0]
    status = project_withdrawal(ground(claim, spec, observed(spec)), ACCEPTED, build.NOW)
    assert said(status)["Ready"] == ("True", "Withdrawn", "Seen.")


def changed(
    claim: RecordWithdrawal, *units: ZoneUnit, undecided: RecordWithdrawal | None = None
) -> list[tuple[str, bool]]:
    """Return the claims whose status is about to be written, and whether that may wait; nothing is decided about `undecided`."""
    found = inputs(claim, units=units)
    inventory = compose(found).inventory
    if undecided is not None:
        found = replace(found, withdrawals=(undecided, claim))
    return [
        (each.meta.name, projected.provisional) for each, projected in changed_withdrawals(found, inventory, build.NOW)
    ]


def with_status(claim: RecordWithdrawal, status: RecordWithdrawalStatus) -> RecordWithdrawal:
    return replace(claim, status=status)


def test_a_status_is_written_when_it_changes_and_only_what_is_not_known_yet_may_wait() -> None:
    claim = withdrawal()
    spec = composed(claim)
    assert changed(claim) == [("old-ip", True)]
    proven = observed(spec)
    assert changed(claim, proven) == [("old-ip", False)]
    free = with_status(claim, project_withdrawal(ground(claim, spec, proven), ACCEPTED, build.NOW))
    assert changed(free, proven) == []
    assert changed(
        free, observed(spec, ("Withdrawn", "Unknown", "DNSProbeFailed"), ("Ready", "False", "DNSProbeFailed"))
    ) == [("old-ip", False)], "nobody may go on reading that the address is free"
    told = observed(spec, ("Withdrawn", "False", "StillPublished"), ("Ready", "False", "NotWithdrawn"))
    assert changed(claim, told) == [("old-ip", False)]


def test_a_claim_that_nothing_is_decided_about_is_passed_over_and_no_other_with_it() -> None:
    assert changed(withdrawal("b"), undecided=withdrawal("a")) == [("b", True)]


def test_results_stand_in_part_0_whichever_part_comes_first() -> None:
    claim = withdrawal()
    spec = composed(claim)
    main = observed(spec.model_copy(update={"parts": (1,)}))
    further = build.unit(spec.model_copy(update={"part": 1, "parts": (), "withdrawals": ()}))
    for units in ((main, further), (further, main)):
        assert changed(claim, *units) == [("old-ip", False)]
