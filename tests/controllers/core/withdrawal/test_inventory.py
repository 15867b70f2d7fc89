"""Composition of withdrawals: who is accepted, what stands in the ledger, and that no obligation is ever lost."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.record_withdrawal import ADDRESS_LABEL, RecordWithdrawal, address_label
from controllers.api.record_withdrawal_reason import WithdrawalReason
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec
from controllers.core.compose import Composition, compose
from controllers.core.inputs import ZoneInputs
from controllers.core.withdrawal.digest import spec_digest
from controllers.core.withdrawal.inventory import take_inventory
from controllers.core.withdrawal.rule import Acceptance
from tests.controllers.core import build
from tests.controllers.core.withdrawal.build import ADDRESS, inputs, provider, waiver, withdrawal

GRANT = {
    "namespaces": {"selector": {"matchLabels": {"team": "shop"}}},
    "records": [{"name": {"pattern": r"www|\*\.app"}, "types": ["A"]}],
}


def acceptance(found: ZoneInputs, claim: RecordWithdrawal) -> Acceptance:
    return compose(found).inventory.acceptances[claim.key]


def main_spec(composition: Composition) -> ZoneUnitSpec:
    assert composition.parts is not None
    return composition.parts[0]


def ledger(*claims: RecordWithdrawal, **more: Any) -> ZoneUnit:
    """Part 0 as these claims were composed into it."""
    return build.unit(main_spec(compose(inputs(*claims, **more))))


def test_an_accepted_withdrawal_stands_in_part_0() -> None:
    claim = withdrawal()
    composition = compose(inputs(claim))
    assert composition.inventory.acceptances[claim.key].reason is WithdrawalReason.ACCEPTED
    (item,) = main_spec(composition).withdrawals
    assert item.dump() == {
        "claimNamespace": "team",
        "claimName": "old-ip",
        "claimUID": "uid-team-old-ip",
        "claimGeneration": 1,
        "name": "www",
        "type": "A",
        "address": ADDRESS,
        "allowed": True,
    }


def test_an_ipv6_address_is_looked_for_in_aaaa_records() -> None:
    (item,) = main_spec(compose(inputs(withdrawal(address="2001:db8::1")))).withdrawals
    assert item.type == "AAAA"


def test_a_withdrawal_neither_reserves_nor_hinders_a_record_of_the_name() -> None:
    claim, record = withdrawal(), build.record_set("www")
    composition = compose(replace(inputs(claim), record_sets=(record,)))
    assert composition.record_verdicts[record.key].accepted
    assert composition.inventory.acceptances[claim.key].accepted
    assert len(main_spec(composition).record_sets) == 1


@pytest.mark.parametrize(
    "claim",
    [
        withdrawal(owner="WWW"),
        withdrawal(owner="www."),
        withdrawal(owner="_dmarc"),
        withdrawal(address="192.0.2.1", metadata={"labels": {}}),
        withdrawal(address="192.0.2.1", metadata={"labels": {"dns.appthrust.io/address": "c0000202"}}),
        withdrawal(owner=".".join(["a" * 63] * 4)),
        withdrawal(provider={"name": "other.example.com", "version": "v1alpha1"}),
        withdrawal(provider={**build.PROVIDER, "version": "v9"}),
    ],
)
def test_what_cannot_be_observed_is_invalid(claim: RecordWithdrawal) -> None:
    assert acceptance(inputs(claim), claim).reason is WithdrawalReason.INVALID_WITHDRAWAL


def test_a_malformed_claim_stays_out_of_the_ledger_and_a_rejected_one_stands_there_disallowed() -> None:
    malformed, rejected = withdrawal("a", owner="WWW"), withdrawal("b", namespace="shop")
    (item,) = main_spec(compose(inputs(malformed, rejected))).withdrawals
    assert (item.claim_name, item.allowed) == ("b", False)


@pytest.mark.parametrize(
    "more",
    [
        {"zone": None},
        {"zone_class": None},
        {"zone_class": build.zone_class(accepted=None)},
        {"zone_class": build.zone_class(accepted=("False", "InvalidParameters"))},
        {"provider": None},
    ],
)
def test_a_binding_that_cannot_be_told_is_an_objection_and_never_unknown(more: dict[str, Any]) -> None:
    claim = withdrawal()
    found = acceptance(inputs(claim, **more), claim)
    assert found.reason is WithdrawalReason.INVALID_WITHDRAWAL
    assert found.status == "False"


def test_a_deleting_ledger_binds_nothing() -> None:
    claim = withdrawal()
    unit = ledger(claim)
    leaving = build.unit(unit.spec, metadata=build.deleting())
    assert acceptance(inputs(claim, units=[leaving]), claim).reason is WithdrawalReason.INVALID_WITHDRAWAL


def test_a_zone_that_the_class_does_not_let_in_is_not_allowed() -> None:
    claim = withdrawal()
    elsewhere = build.zone_class(
        allowedZones={"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    )
    assert acceptance(inputs(claim, zone_class=elsewhere), claim).reason is WithdrawalReason.NOT_ALLOWED


@pytest.mark.parametrize("version", ["served", "storage"])
def test_both_the_served_and_the_storage_version_must_support_withdrawals(version: str) -> None:
    support = {"recordWithdrawal": provider().spec.versions[0].record_withdrawal.dump()}  # type: ignore[union-attr] # it is there
    claim = withdrawal()
    versions = {"served": support, "storage": support} | {version: {}}
    found = build.two_versions(versions["served"], versions["storage"])
    assert acceptance(inputs(claim, provider=found), claim).reason is WithdrawalReason.UNSUPPORTED_PROVIDER


@pytest.mark.parametrize(
    ("namespace", "owner", "address", "reason"),
    [
        ("shop", "www", ADDRESS, WithdrawalReason.ACCEPTED),
        ("shop", "*.app", ADDRESS, WithdrawalReason.ACCEPTED),
        ("shop", "api", ADDRESS, WithdrawalReason.NOT_ALLOWED),
        ("shop", "www", "2001:db8::1", WithdrawalReason.NOT_ALLOWED),
        ("shop", "*", ADDRESS, WithdrawalReason.NOT_ALLOWED),
        ("other", "www", ADDRESS, WithdrawalReason.NOT_ALLOWED),
        ("team", "api", ADDRESS, WithdrawalReason.ACCEPTED),
        ("team", "*.app", ADDRESS, WithdrawalReason.NOT_ALLOWED),
    ],
)
def test_other_namespaces_and_wildcards_need_a_grant(
    namespace: str, owner: str, address: str, reason: WithdrawalReason
) -> None:
    claim = withdrawal(owner=owner, address=address, namespace=namespace)
    labels = {"team": {}, "shop": {"team": "shop"}, "other": {}}
    found = acceptance(inputs(claim, zone=build.zone(allowedRecordSets=[GRANT]), labels=labels), claim)
    assert found.reason is reason
    assert "pattern" not in found.message
    assert "RecordSet" not in found.message


def test_a_wildcard_of_the_zones_own_namespace_is_granted_like_that_of_another_one() -> None:
    claim = withdrawal(owner="*.app")
    grant = {**GRANT, "namespaces": {"selector": {"matchLabels": {"team": "dns"}}}}
    zone = build.zone(allowedRecordSets=[grant])
    assert acceptance(inputs(claim, zone=zone, labels={"team": {"team": "dns"}}), claim).accepted


def test_a_rejected_claim_keeps_its_place_without_a_waiver() -> None:
    claim = withdrawal()
    before = ledger(claim, waivers=[waiver(claim)])
    assert before.spec.withdrawals[0].waiver is not None
    refused = build.zone_class(accepted=("False", "InvalidParameters"))
    (item,) = main_spec(compose(inputs(claim, units=[before], waivers=[waiver(claim)], zone_class=refused))).withdrawals
    assert (item.claim_name, item.allowed, item.waiver) == ("old-ip", False, None)


def many(count: int) -> list[RecordWithdrawal]:
    return [withdrawal(f"c{number:03}", owner=f"h{number}") for number in range(count)]


def test_256_withdrawals_are_accepted() -> None:
    claims = many(256)
    composition = compose(inputs(*claims))
    assert all(each.accepted for each in composition.inventory.acceptances.values())
    assert len(main_spec(composition).withdrawals) == 256


def test_257_withdrawals_refuse_the_inventory_as_a_whole_and_lose_none() -> None:
    claims = many(257)
    released = waiver(claims[3])
    before = ledger(*claims[:256], waivers=[released])
    assert before.spec.withdrawals[3].waiver is not None
    composition = compose(inputs(*claims, units=[before], waivers=[released]))
    said = composition.inventory.acceptances
    assert len(said) == 257
    assert {each.reason for each in said.values()} == {WithdrawalReason.INVALID_WITHDRAWAL}
    kept = main_spec(composition).withdrawals
    assert [item.claim_name for item in kept] == [claim.meta.name for claim in claims[:256]]
    assert {(item.allowed, item.waiver) for item in kept} == {(False, None)}
    # One of them is archived: all others are accepted again.
    again = compose(inputs(*claims[1:], units=[build.unit(main_spec(composition))], waivers=[released]))
    assert all(each.accepted for each in again.inventory.acceptances.values())
    assert len(main_spec(again).withdrawals) == 256


def test_257_withdrawals_without_a_ledger_before_put_nothing_into_it() -> None:
    composition = compose(inputs(*many(257)))
    assert main_spec(composition).withdrawals == ()


def test_a_claim_that_has_gone_leaves_the_ledger() -> None:
    before = ledger(withdrawal("a"), withdrawal("b"))
    composition = compose(inputs(withdrawal("b"), units=[before]))
    assert [item.claim_name for item in main_spec(composition).withdrawals] == ["b"]


def test_without_its_zone_a_ledger_is_left_as_it_is() -> None:
    claim = withdrawal()
    before = ledger(claim)
    composition = compose(inputs(claim, units=[before], zone=None))
    assert composition.parts is None
    assert not composition.delete_units


def test_the_first_matching_waiver_by_namespace_and_name_wins() -> None:
    claim = withdrawal()
    waivers = [
        waiver(claim, "c"),
        waiver(claim, "b"),
        waiver(claim, "a", specDigest="sha256:" + "0" * 64),
        waiver(claim, "aa", metadata=build.deleting()),
    ]
    (item,) = main_spec(compose(inputs(claim, waivers=waivers))).withdrawals
    assert item.waiver is not None
    assert item.waiver.dump() == {
        "namespace": "team",
        "name": "b",
        "uid": "uid-team-b",
        "specDigest": spec_digest(claim),
        "reservationRef": waivers[0].spec.reservation_ref.dump(),
    }


@pytest.mark.parametrize(
    "difference",
    [
        {"claimRef": {"name": "old-ip", "uid": "another"}},
        {"claimRef": {"name": "another", "uid": "uid-team-old-ip"}},
        {"specDigest": "sha256:" + "0" * 64},
        {"address": "192.0.2.2"},
        {"metadata": {"namespace": "shop"}},
    ],
)
def test_a_waiver_that_differs_in_one_thing_releases_nothing(difference: dict[str, Any]) -> None:
    claim = withdrawal()
    (item,) = main_spec(compose(inputs(claim, waivers=[waiver(claim, **difference)]))).withdrawals
    assert item.waiver is None


def test_the_digest_is_that_of_the_spec_as_sorted_json_without_spaces() -> None:
    text = (
        '{"address":"192.0.2.1","name":"www","provider":{"name":"hosted.dns.appthrust.io","version":"v1alpha1"},'
        '"zoneRef":{"name":"example","namespace":"team"}}'
    )
    assert spec_digest(withdrawal()) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_deleting_zone_waits_for_its_withdrawals_and_goes_on_composing_them() -> None:
    claim = withdrawal()
    before = ledger(claim)
    leaving = build.zone(build.deleting(generation=2))
    waits = compose(inputs(claim, zone=leaving, units=[before]))
    assert not waits.delete_units
    assert waits.hold_zone
    assert waits.inventory.acceptances[claim.key].accepted
    later = waiver(claim)
    (item,) = main_spec(compose(inputs(claim, zone=leaving, units=[before], waivers=[later]))).withdrawals
    assert item.waiver is not None
    archived = compose(inputs(zone=leaving, units=[before]))
    assert archived.delete_units


def test_a_zone_that_is_not_accepted_is_held_by_its_withdrawals_too() -> None:
    claim = withdrawal()
    assert compose(inputs(claim, zone_class=None)).hold_zone


def test_of_257_withdrawals_those_that_have_gone_leave_the_ledger_all_the_same() -> None:
    claims = many(258)
    composition = compose(inputs(*claims[1:], units=[ledger(*claims[:256])]))
    assert [item.claim_name for item in main_spec(composition).withdrawals] == [
        claim.meta.name for claim in claims[1:256]
    ]


def test_a_claim_that_became_malformed_keeps_its_place_in_the_ledger() -> None:
    """It came around admission; what it was observed for is not given up."""
    claim = withdrawal()
    broken = withdrawal(metadata={"labels": {}})
    composition = compose(inputs(broken, units=[ledger(claim)]))
    assert not composition.inventory.acceptances[claim.key].accepted
    assert [(item.claim_name, item.allowed) for item in main_spec(composition).withdrawals] == [("old-ip", False)]


def test_an_address_in_another_form_is_invalid() -> None:
    claim = withdrawal(address="2001:DB8::1", metadata={"labels": {ADDRESS_LABEL: address_label("2001:db8::1")}})
    said = acceptance(inputs(claim), claim)
    assert (said.reason, said.message.partition(":")[0]) == (WithdrawalReason.INVALID_WITHDRAWAL, "spec.address")


def test_a_namespace_whose_labels_are_not_known_is_told() -> None:
    claim = withdrawal(namespace="shop")
    said = acceptance(inputs(claim, labels={"team": {}}), claim)
    assert said.message == "The labels of namespace shop are not known."


def test_a_ledger_of_another_generation_of_its_zone_binds_nothing() -> None:
    claim = withdrawal()
    found = inputs(claim)
    tomorrow = main_spec(compose(inputs()))
    assert take_inventory(found, tomorrow).acceptances[claim.key].accepted
    older = tomorrow.model_copy(update={"zone": tomorrow.zone.model_copy(update={"observed_generation": 0})})
    said = take_inventory(found, older).acceptances[claim.key]
    assert said.message == "The ledger of Zone team/example is not composed for its generation 1."


def test_a_name_that_is_too_long_for_the_zone_is_refused() -> None:
    claim = withdrawal(owner=".".join(["a" * 60] * 4))
    found = acceptance(inputs(claim), claim)
    assert found.reason is WithdrawalReason.INVALID_WITHDRAWAL
    assert found.message.startswith("spec.name: ")
