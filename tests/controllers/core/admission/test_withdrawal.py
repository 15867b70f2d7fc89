"""Admission of withdrawals and waivers: shape, label, freedom, immutability, the closed table of reasons."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from controllers.core.admission.ledger import validate_zone_unit, validate_zone_unit_status
from controllers.core.admission.withdrawal import validate_waiver, validate_withdrawal
from controllers.core.admission.withdrawal_status import validate_waiver_status, validate_withdrawal_status
from controllers.core.providercontract.contract import Contracts
from controllers.core.providercontract.resolution import Unresolved
from tests.controllers.core import build
from tests.controllers.core.withdrawal.build import provider
from tests.controllers.ledger.withdrawal_item import WITHDRAWAL as ITEM

Manifest = dict[str, Any]
STORAGE = Contracts().storage(provider(), build.PROVIDER["name"])
DIGEST = "sha256:" + "0" * 64
RESERVATION = {"group": "ipam.example.com", "kind": "IPReservation", "name": "edge-1", "uid": "r-1"}
WAIVER_BINDING = {
    "namespace": "team",
    "name": "release",
    "uid": "w-1",
    "specDigest": DIGEST,
    "reservationRef": RESERVATION,
}


def changed(manifest: Manifest, path: str, value: Any) -> Manifest:
    """The manifest with one field different; None takes it away."""
    found = copy.deepcopy(manifest)
    *parents, last = path.split("/")
    at: Any = found
    for each in parents:
        at = at[int(each)] if isinstance(at, list) else at.setdefault(each, {})
    if value is None:
        at.pop(last, None)
    else:
        at[last] = value
    return found


WITHDRAWAL: Manifest = {
    "metadata": {
        "namespace": "team",
        "name": "old",
        "generation": 1,
        "labels": {"dns.appthrust.io/address": "c0000201"},
    },
    "spec": {"zoneRef": {"name": "example"}, "provider": build.PROVIDER, "name": "www", "address": "192.0.2.1"},
}
WAIVER: Manifest = {
    "metadata": {"namespace": "team", "name": "release", "generation": 1},
    "spec": {
        "claimRef": {"name": "old", "uid": "u-1"},
        "specDigest": DIGEST,
        "address": "192.0.2.1",
        "reason": "The customer has gone.",
        "reservationRef": RESERVATION,
    },
}
UNIT: Manifest = {
    "metadata": {"namespace": "team", "name": "example", "generation": 1},
    "spec": {
        "provider": build.PROVIDER,
        "zone": {
            "ref": {"namespace": "team", "name": "example"},
            "observedGeneration": 1,
            "domainName": "example.com",
            "zoneClassRef": {"namespace": "team", "name": "hosted"},
        },
        "withdrawals": [
            {
                **ITEM,
                "allowed": True,
                "waiver": WAIVER_BINDING,
            }
        ],
    },
}
RESULT: Manifest = {
    "claimNamespace": "team",
    "claimName": "old",
    "claimUID": "u-1",
    "claimGeneration": 1,
    "zoneClass": {"uid": "c-1", "generation": 1},
    "conditions": [build.condition("Withdrawn", "True", "Verified"), build.condition("Ready", "True", "Withdrawn")],
    "provider": {"data": {"serial": 7}, "state": {"cleanSince": "then"}},
}


def faulty(faults: list[Any]) -> list[str]:
    return [fault.field for fault in faults]


def test_good_manifests_have_no_faults() -> None:
    assert validate_withdrawal(WITHDRAWAL, None, STORAGE) == []
    assert validate_withdrawal(WITHDRAWAL, WITHDRAWAL, STORAGE) == []
    assert validate_waiver(WAIVER, None) == []
    assert validate_zone_unit(UNIT, None, STORAGE) == []
    assert validate_zone_unit_status({**UNIT, "status": {"withdrawals": [RESULT]}}, UNIT, STORAGE) == []


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("spec/zoneRef", None, "spec.zoneRef"),
        ("spec/provider", None, "spec.provider"),
        ("spec/name", None, "spec.name"),
        ("spec/name", "WWW", "spec.name"),
        ("spec/name", "www.", "spec.name"),
        ("spec/name", "_sip", "spec.name"),
        ("spec/name", "www.*", "spec.name"),
        ("spec/address", None, "spec.address"),
        ("spec/address", "192.0.2.01", "spec.address"),
        ("spec/address", "2001:DB8::1", "spec.address"),
        ("spec/address", "fe80::1%eth0", "spec.address"),
        ("spec/address", 7, "spec.address"),
        ("metadata/labels", None, "metadata.labels[dns.appthrust.io/address]"),
        ("metadata/labels", {"dns.appthrust.io/address": "C0000201"}, "metadata.labels[dns.appthrust.io/address]"),
        ("metadata/labels", {"dns.appthrust.io/address": "c0000202"}, "metadata.labels[dns.appthrust.io/address]"),
        ("metadata/finalizers", ["a/b"], "metadata.finalizers"),
        ("metadata/ownerReferences", [{"name": "x"}], "metadata.ownerReferences"),
    ],
)
def test_a_withdrawal_with_a_fault_is_refused(path: str, value: Any, field: str) -> None:
    assert faulty(validate_withdrawal(changed(WITHDRAWAL, path, value), None, STORAGE)) == [field]


@pytest.mark.parametrize("name", ["@", "*", "*.app", "a.b"])
def test_every_kind_of_owner_can_be_withdrawn(name: str) -> None:
    assert validate_withdrawal(changed(WITHDRAWAL, "spec/name", name), None, STORAGE) == []


def test_the_label_of_an_ipv6_address_has_32_digits() -> None:
    claim = changed(WITHDRAWAL, "spec/address", "2001:db8::1")
    label = {"dns.appthrust.io/address": "20010db8000000000000000000000001"}
    assert validate_withdrawal(changed(claim, "metadata/labels", label), None, STORAGE) == []


def test_a_provider_that_means_nothing_is_refused_and_is_not_asked_for_twice() -> None:
    nothing = Unresolved("name", '"x"', "an installed Provider")
    assert faulty(validate_withdrawal(WITHDRAWAL, None, nothing)) == ["spec.provider.name"]
    assert validate_withdrawal(WITHDRAWAL, WITHDRAWAL, None) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec/zoneRef", {"name": "other"}),
        ("spec/provider", {"name": "hosted.dns.appthrust.io", "version": "v2"}),
        ("spec/name", "api"),
    ],
)
def test_the_spec_of_a_withdrawal_is_immutable(path: str, value: Any) -> None:
    found = validate_withdrawal(changed(WITHDRAWAL, path, value), WITHDRAWAL, STORAGE)
    assert faulty(found) == [path.replace("/", ".")]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("spec/claimRef", None, "spec.claimRef"),
        ("spec/claimRef/name", "Old", "spec.claimRef.name"),
        ("spec/claimRef/uid", "", "spec.claimRef.uid"),
        ("spec/specDigest", "sha256:0", "spec.specDigest"),
        ("spec/specDigest", "sha256:" + "A" * 64, "spec.specDigest"),
        ("spec/address", "192.0.2.001", "spec.address"),
        ("spec/reason", "", "spec.reason"),
        ("spec/reason", "x" * 1025, "spec.reason"),
        ("spec/reservationRef", None, "spec.reservationRef"),
        ("spec/reservationRef/kind", "ipReservation", "spec.reservationRef.kind"),
        ("spec/reservationRef/group", None, "spec.reservationRef.group"),
        ("spec/reservationRef/namespace", "a.b", "spec.reservationRef.namespace"),
        ("spec/reservationRef/uid", None, "spec.reservationRef.uid"),
        ("metadata/finalizers", ["a/b"], "metadata.finalizers"),
        ("metadata/ownerReferences", [{"name": "x"}], "metadata.ownerReferences"),
    ],
)
def test_a_waiver_with_a_fault_is_refused(path: str, value: Any, field: str) -> None:
    assert faulty(validate_waiver(changed(WAIVER, path, value), None)) == [field]


def test_a_waiver_may_reserve_with_an_object_of_the_core_group_in_a_namespace() -> None:
    ref = {"group": "", "kind": "Service", "namespace": "team", "name": "edge", "uid": "r"}
    assert validate_waiver(changed(WAIVER, "spec/reservationRef", ref), None) == []


@pytest.mark.parametrize("field", ["specDigest", "address", "reason", "reservationRef", "claimRef"])
def test_the_spec_of_a_waiver_is_immutable(field: str) -> None:
    old = copy.deepcopy(WAIVER)
    old["spec"][field] = "something else"
    assert faulty(validate_waiver(WAIVER, old)) == [f"spec.{field}"]


@pytest.mark.parametrize(
    ("condition", "field"),
    [
        (build.condition("Withdrawn", "True", "Withdrawn"), "status.conditions[0].reason"),
        (build.condition("Withdrawn", "False", "DNSProbeFailed"), "status.conditions[0].reason"),
        (build.condition("Ready", "Unknown", "DNSProbeFailed"), "status.conditions[0].reason"),
        (build.condition("OverrideAccepted", "False", "NotAccepted"), "status.conditions[0].reason"),
        (build.condition("Accepted", "Unknown", "Accepted"), "status.conditions[0].reason"),
        (build.condition("Programmed", "True", "Programmed"), "status.conditions[0].type"),
        (build.condition("Ready", "True", "Withdrawn", "x" * 2049), "status.conditions[0].message"),
        (build.condition("Ready", "True", "Withdrawn", "ä" * 1025), "status.conditions[0].message"),
        (build.condition("Ready", "True", "Withdrawn", generation=2), "status.conditions[0].observedGeneration"),
    ],
)
def test_conditions_of_a_withdrawal_are_a_closed_table(condition: Manifest, field: str) -> None:
    new = {**WITHDRAWAL, "status": {"conditions": [condition]}}
    assert faulty(validate_withdrawal_status(new, WITHDRAWAL, STORAGE)) == [field]


def test_the_status_of_a_withdrawal_holds_described_evidence_and_no_private_state() -> None:
    good = {**WITHDRAWAL, "status": {"observedGeneration": 1, "provider": {"data": {"serial": 7}}}}
    assert validate_withdrawal_status(good, WITHDRAWAL, STORAGE) == []
    assert faulty(validate_withdrawal_status(changed(good, "status/observedGeneration", 2), None, STORAGE)) == [
        "status.observedGeneration"
    ]
    wrong = changed(good, "status/provider/data/serial", "seven")
    assert faulty(validate_withdrawal_status(wrong, None, STORAGE)) == ["status.provider.data.serial"]
    private = changed(good, "status/provider/state", {"a": 1})
    assert faulty(validate_withdrawal_status(private, None, STORAGE)) == ["status.provider.state"]


def test_conditions_of_a_waiver_are_a_closed_table() -> None:
    good = {**WAIVER, "status": {"conditions": [build.condition("Accepted", "False", "InvalidWaiver")]}}
    assert validate_waiver_status(good) == []
    bad = {**WAIVER, "status": {"conditions": [build.condition("Accepted", "False", "Accepted")]}}
    assert faulty(validate_waiver_status(bad)) == ["status.conditions[0].reason"]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("claimUID", "", "claimUID"),
        ("claimName", "Old", "claimName"),
        ("name", "WWW", "name"),
        ("type", "TXT", "type"),
        ("type", "AAAA", "type"),
        ("address", "192.0.2.01", "address"),
        ("allowed", False, "waiver"),
        ("waiver/namespace", "another", "waiver.namespace"),
        ("waiver/specDigest", "sha256:0", "waiver.specDigest"),
        ("waiver/uid", "", "waiver.uid"),
    ],
)
def test_a_withdrawal_in_a_ledger_with_a_fault_is_refused(path: str, value: Any, field: str) -> None:
    found = validate_zone_unit(changed(UNIT, f"spec/withdrawals/0/{path}", value), None, STORAGE)
    assert faulty(found) == [f"spec.withdrawals[0].{field}"]


def test_what_a_claim_is_about_changes_only_with_its_uid() -> None:
    other = changed(UNIT, "spec/withdrawals/0/name", "api")
    assert faulty(validate_zone_unit(other, UNIT, STORAGE)) == ["spec.withdrawals[0].name"]
    again = changed(changed(other, "spec/withdrawals/0/claimUID", "u-2"), "spec/withdrawals/0/waiver", None)
    assert validate_zone_unit(again, UNIT, STORAGE) == []


def test_withdrawals_stand_in_part_0_once_each_and_are_bounded() -> None:
    (item,) = UNIT["spec"]["withdrawals"]
    twice = changed(UNIT, "spec/withdrawals", [item, item])
    assert faulty(validate_zone_unit(twice, None, STORAGE)) == ["spec.withdrawals[1]"]
    plenty = [{**item, "claimName": f"c{number}"} for number in range(257)]
    assert faulty(validate_zone_unit(changed(UNIT, "spec/withdrawals", plenty), None, STORAGE)) == ["spec.withdrawals"]
    part = changed(changed(UNIT, "spec/part", 1), "metadata/name", "example.part-1")
    assert faulty(validate_zone_unit(part, None, STORAGE)) == ["spec.withdrawals"]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("zoneClass", None, "zoneClass"),
        ("zoneClass/uid", "", "zoneClass.uid"),
        ("conditions/0/reason", "Withdrawn", "conditions[0].reason"),
        ("conditions/0/type", "Accepted", "conditions[0].type"),
        ("conditions/0/observedGeneration", 2, "conditions[0].observedGeneration"),
        ("provider/data", {"serial": "x"}, "provider.data.serial"),
        ("provider/state", "x", "provider.state"),
    ],
)
def test_a_result_with_a_fault_is_refused(path: str, value: Any, field: str) -> None:
    status = changed({**UNIT, "status": {"withdrawals": [RESULT]}}, f"status/withdrawals/0/{path}", value)
    assert faulty(validate_zone_unit_status(status, UNIT, STORAGE)) == [f"status.withdrawals[0].{field}"]
