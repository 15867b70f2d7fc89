"""Composition: what enters the ledger, what stays in it, what leaves it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.compose import Composition, compose
from controllers.core.controller import keys_for_record_set
from kube.object import ObjectKey
from kube.store import Change
from tests.controllers.core.build import (
    PROVIDER,
    ZONE,
    deleting,
    inputs,
    provider,
    record_set,
    two_versions,
    unit,
    units,
    zone,
    zone_class,
)

FALSE, UNKNOWN = ConditionStatus.FALSE, ConditionStatus.UNKNOWN


def items(composition: Composition) -> dict[ObjectKey, UnitRecordSet]:
    assert composition.parts is not None
    return {item.key: item for spec in composition.parts.values() for item in spec.record_sets}


def key(name: str, namespace: str = "team") -> ObjectKey:
    return ObjectKey(namespace, name)


def verdict(composition: Composition, claim: RecordSet) -> tuple[ConditionStatus, Reason]:
    found = composition.record_verdicts[claim.key]
    return found.status, found.reason


def test_accepted_claims_enter_the_ledger_and_are_held() -> None:
    www, mail = record_set("www"), record_set("mail", "mail")
    composed = compose(inputs(www, mail))
    assert items(composed).keys() == {www.key, mail.key}
    assert composed.hold == {www.key, mail.key}
    assert composed.hold_zone
    assert composed.parts is not None
    head = composed.parts[0]
    assert (head.zone.domain_name, head.zone.zone_class_ref.key) == ("example.com", key("hosted"))
    assert head.provider.dump() == PROVIDER


def test_composing_again_changes_nothing() -> None:
    claims = [record_set(f"r{number}", f"w{number}") for number in range(20)]
    first = compose(inputs(*claims))
    assert compose(inputs(*claims, units=units(first))).parts == first.parts


@pytest.mark.parametrize(
    ("changed", "status", "reason"),
    [
        ({"provider": None}, FALSE, Reason.INVALID_PROVIDER),
        ({"provider": provider(served=False)}, FALSE, Reason.INVALID_PROVIDER),
        ({"provider": provider(storage=False)}, UNKNOWN, Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED),
        ({"zone_class": None}, UNKNOWN, Reason.ZONE_CLASS_NOT_RESOLVED),
        ({"zone_class": zone_class(None)}, UNKNOWN, Reason.ZONE_CLASS_NOT_RESOLVED),
        ({"zone_class": zone_class(("False", "InvalidParameters"))}, FALSE, Reason.ZONE_CLASS_NOT_ACCEPTED),
        ({"zone_class": zone_class(("Unknown", "ReconcileError"))}, UNKNOWN, Reason.RECONCILE_ERROR),
        ({"zone_class": zone_class(("Unknown", "IdentityNotResolved"))}, UNKNOWN, Reason.IDENTITY_NOT_RESOLVED),
        ({"zone_class": zone_class(("Unknown", "SomethingElse"))}, UNKNOWN, Reason.ZONE_CLASS_NOT_RESOLVED),
        (
            {"zone_class": zone_class(provider={"name": "other.example", "version": "v1"})},
            FALSE,
            Reason.PROVIDER_MISMATCH,
        ),
        (
            {"zone_class": zone_class(allowedZones={"namespaces": {"from": "Selector", "selector": {}}})},
            ConditionStatus.TRUE,
            Reason.ACCEPTED,
        ),
        (
            {
                "zone_class": zone_class(
                    allowedZones={"namespaces": {"from": "Selector", "selector": {"matchLabels": {"dns": "yes"}}}}
                )
            },
            FALSE,
            Reason.NOT_ALLOWED_BY_ZONE_CLASS,
        ),
    ],
)
def test_a_zone_is_judged_by_its_surroundings(
    changed: dict[str, object], status: ConditionStatus, reason: Reason
) -> None:
    composed = compose(inputs(record_set("www"), **changed))  # type: ignore[arg-type] # one keyword of several types
    assert composed.zone_verdict is not None
    assert (composed.zone_verdict.status, composed.zone_verdict.reason) == (status, reason)
    if status is not ConditionStatus.TRUE:
        assert composed.parts is None
        assert composed.record_verdicts[key("www")].status is status


def test_a_zone_that_is_no_longer_accepted_keeps_its_ledger() -> None:
    www = record_set("www")
    before = compose(inputs(www))
    after = compose(inputs(www, zone_class=None, units=units(before)))
    assert after.parts is None
    assert not after.delete_units
    assert after.hold == {www.key}


def test_without_its_zone_the_ledger_is_not_rebuilt() -> None:
    www, late = record_set("www"), record_set("late", "late")
    before = compose(inputs(www))
    after = compose(inputs(www, late, zone=None, units=units(before)))
    assert after.parts is None
    assert verdict(after, late) == (UNKNOWN, Reason.ZONE_NOT_RESOLVED)
    assert verdict(after, www) == (UNKNOWN, Reason.ZONE_NOT_RESOLVED)


def test_a_deletion_goes_on_without_the_zone() -> None:
    www = record_set("www")
    before = compose(inputs(www))
    leaving = record_set("www", metadata=deleting())
    asked = compose(inputs(leaving, zone=None, units=units(before)))
    assert items(asked)[www.key].deletion_requested
    assert asked.parts is not None
    done = compose(inputs(leaving, zone=None, units=[unit(asked.parts[0], gone=[www.key])]))
    assert items(done) == {}
    assert done.hold == frozenset()


def test_a_deleted_claim_leaves_the_ledger_only_when_the_provider_is_done() -> None:
    www = record_set("www")
    leaving = record_set("www", metadata=deleting())
    before = compose(inputs(www))
    asked = compose(inputs(leaving, units=units(before)))
    assert items(asked)[www.key].deletion_requested
    assert asked.hold == {www.key}
    assert asked.parts is not None

    not_seen = compose(inputs(leaving, units=[unit(asked.parts[0], reported=False)]))
    still_there = compose(inputs(leaving, units=[unit(asked.parts[0])]))
    newer_spec = compose(inputs(leaving, units=[unit(asked.parts[0], gone=[www.key], metadata={"generation": 2})]))
    for composed in (not_seen, still_there, newer_spec):
        assert items(composed)[www.key].deletion_requested
        assert composed.hold == {www.key}

    done = compose(inputs(leaving, units=[unit(asked.parts[0], gone=[www.key])]))
    assert items(done) == {}
    assert done.hold == frozenset()


def test_an_item_whose_claim_was_lost_is_kept() -> None:
    before = compose(inputs(record_set("www")))
    after = compose(inputs(units=units(before)))
    assert items(after) == items(before)


def test_a_newcomer_waits_for_an_owner_that_has_not_come_back() -> None:
    before = compose(inputs(record_set("lost")))
    newcomer = record_set("newcomer")
    after = compose(inputs(newcomer, units=units(before)))
    assert verdict(after, newcomer) == (UNKNOWN, Reason.OWNER_STATE_NOT_RESOLVED)
    assert "team/lost" in after.record_verdicts[newcomer.key].message
    assert items(after).keys() == {key("lost")}


@pytest.mark.parametrize("decided", [{"allowed": False}, {"deletion_requested": True}])
def test_an_owner_keeps_its_name_from_an_older_claim_whatever_is_decided_of_its_records(
    decided: dict[str, bool],
) -> None:
    www = record_set("www")
    (before,) = units(compose(inputs(www)))
    kept = tuple(item.model_copy(update=decided) for item in before.spec.record_sets)
    ledger = replace(before, spec=before.spec.model_copy(update={"record_sets": kept}))
    older = record_set("older", metadata={"creationTimestamp": "2020-01-01T00:00:00Z"})
    claims = [older, record_set("www", metadata=deleting())] if "deletion_requested" in decided else [older, www]
    for owners in (claims, [older]):
        after = compose(inputs(*owners, units=[ledger]))
        assert items(after).keys() == {www.key}
        assert verdict(after, older)[0] is (FALSE if len(owners) == 2 else UNKNOWN)


def test_of_claims_of_one_second_the_first_namespace_wins_before_the_name_does() -> None:
    grant = [
        {
            "namespaces": {"selector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}},
            "records": [{"name": {"pattern": ".*"}, "types": ["A"]}],
        }
    ]
    first, second = record_set("zzz", namespace="aaa"), record_set("aaa", namespace="zzz")
    composed = compose(inputs(second, first, zone=zone(allowedRecordSets=grant)))
    assert items(composed).keys() == {first.key}
    assert verdict(composed, second) == (FALSE, Reason.RECORD_SET_CONFLICT)


def test_a_recreated_claim_for_another_record_waits_until_the_former_one_is_deleted() -> None:
    before = compose(inputs(record_set("www", "www")))
    other = record_set("www", "web")
    asked = compose(inputs(other, units=units(before)))
    assert items(asked)[other.key].deletion_requested
    assert items(asked)[other.key].name == "www"
    assert verdict(asked, other) == (UNKNOWN, Reason.RECONCILING)
    assert asked.parts is not None
    done = compose(inputs(other, units=[unit(asked.parts[0], gone=[other.key])]))
    assert items(done)[other.key].name == "web"


def test_a_policy_that_shuts_an_owner_out_freezes_its_records() -> None:
    grant = [
        {
            "namespaces": {"selector": {"matchLabels": {"team": "app"}}},
            "records": [{"name": {"pattern": "www|app.*"}, "types": ["A"]}],
        }
    ]
    labels = {"app": {"team": "app"}}
    www = record_set("www", namespace="app")
    before = compose(inputs(www, zone=zone(allowedRecordSets=grant), labels=labels))
    assert items(before)[www.key].allowed
    edited = record_set("www", namespace="app", metadata={"generation": 2}, ttl=60)
    after = compose(inputs(edited, zone=zone(), units=units(before), labels=labels))
    assert verdict(after, www) == (FALSE, Reason.NOT_ALLOWED_BY_ZONE)
    kept = items(after)[www.key]
    assert (kept.allowed, kept.ttl, kept.observed_generation) == (False, 300, 1)
    assert not kept.deletion_requested
    again = compose(inputs(edited, zone=zone(allowedRecordSets=grant), units=units(after), labels=labels))
    assert (items(again)[www.key].allowed, items(again)[www.key].ttl) == (True, 60)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (record_set("a", "www", namespace="other"), "RecordSet namespace is not allowed by the referenced Zone."),
        (record_set("b", "mail", namespace="app"), "RecordSet name is not allowed by the referenced Zone."),
        (record_set("c", "xwww", namespace="app"), "RecordSet name is not allowed by the referenced Zone."),
        (
            record_set("d", "www", namespace="app", type="TXT", txt={"values": ["x"]}),
            "RecordSet type is not allowed for this RecordSet name by the referenced Zone.",
        ),
    ],
)
def test_refusals_across_namespaces_are_coarse(claim: RecordSet, message: str) -> None:
    grant = [
        {
            "namespaces": {"selector": {"matchLabels": {"team": "app"}}},
            "records": [{"name": {"pattern": "www"}, "types": ["A"]}],
        }
    ]
    labels: dict[str, dict[str, str]] = {"app": {"team": "app"}, "other": {}}
    composed = compose(inputs(claim, zone=zone(allowedRecordSets=grant), labels=labels))
    assert composed.record_verdicts[claim.key].message == message


def test_an_empty_selector_grants_nothing() -> None:
    grant = [{"namespaces": {"selector": {}}, "records": [{"name": {"pattern": ".*"}, "types": ["A"]}]}]
    claim = record_set("a", namespace="other")
    composed = compose(inputs(claim, zone=zone(allowedRecordSets=grant)))
    assert verdict(composed, claim) == (FALSE, Reason.NOT_ALLOWED_BY_ZONE)


def test_a_pattern_that_re2_refuses_grants_nothing() -> None:
    grant = [
        {
            "namespaces": {"selector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}},
            "records": [{"name": {"pattern": "(?=www)www"}, "types": ["A"]}],
        }
    ]
    claim = record_set("a", namespace="other")
    composed = compose(inputs(claim, zone=zone(allowedRecordSets=grant)))
    assert verdict(composed, claim) == (FALSE, Reason.NOT_ALLOWED_BY_ZONE)


@pytest.mark.parametrize("other", [{"version": "v2"}, {"name": "other.example"}])
def test_a_claim_names_the_provider_and_the_version_of_its_zone(other: dict[str, str]) -> None:
    claim = record_set("www", provider={**PROVIDER, **other})
    composed = compose(inputs(claim, provider=two_versions()))
    assert verdict(composed, claim) == (FALSE, Reason.PROVIDER_MISMATCH)
    assert items(composed) == {}


def test_a_claim_that_is_of_another_zone_now_concerns_both() -> None:
    before = record_set("www")
    after = record_set("www", zoneRef={"name": "another"})
    assert set(keys_for_record_set(Change(before.key, before, after))) == {ZONE, ObjectKey("team", "another")}


def test_a_name_too_long_for_the_zone_is_refused() -> None:
    claim = record_set("long", ".".join(["a" * 60] * 4))
    composed = compose(inputs(claim))
    assert verdict(composed, claim) == (FALSE, Reason.INVALID_ZONE_REF)


def test_a_value_that_came_around_admission_is_refused() -> None:
    claim = record_set("bad", type="A", a={"addresses": ["300.0.0.1"]})
    composed = compose(inputs(claim))
    assert verdict(composed, claim) == (FALSE, Reason.INVALID_PROVIDER_PAYLOAD)
    assert "spec.a" in composed.record_verdicts[claim.key].message


def test_a_deleting_zone_waits_for_owners_only() -> None:
    www, stranger = record_set("www"), record_set("stranger", namespace="other")
    before = compose(inputs(www))
    leaving = zone(deleting())
    waiting = compose(inputs(www, stranger, zone=leaving, units=units(before)))
    assert not waiting.delete_units
    assert waiting.hold_zone
    assert verdict(waiting, stranger) == (FALSE, Reason.ZONE_NOT_ACCEPTED)
    alone = compose(inputs(stranger, zone=leaving, units=units(before)))
    assert alone.delete_units
    assert alone.hold_zone
    assert verdict(alone, stranger) == (FALSE, Reason.ZONE_NOT_ACCEPTED)
    assert not compose(inputs(stranger, zone=leaving)).hold_zone


def test_a_deleting_zone_takes_no_edits_and_says_so() -> None:
    claims = [record_set(name, name) for name in ("kept", "edited", "again", "going")]
    before = compose(inputs(*claims))
    edited = record_set("edited", "edited", metadata={"generation": 2}, ttl=77)
    again = record_set("again", "again", metadata={"uid": "another"}, ttl=77)
    going = record_set("going", "going", metadata=deleting(generation=2))
    after = compose(inputs(claims[0], edited, again, going, zone=zone(deleting()), units=units(before)))
    assert {claim.key for claim in (edited, again) if verdict(after, claim) == (FALSE, Reason.ZONE_NOT_ACCEPTED)} == {
        edited.key,
        again.key,
    }
    assert verdict(after, claims[0])[0] is verdict(after, going)[0] is ConditionStatus.TRUE
    assert items(after)[edited.key] == items(before)[edited.key]


@pytest.mark.parametrize("claimed", [True, False])
def test_a_zone_that_goes_leaves_the_ledger_of_another_domain_alone(claimed: bool) -> None:
    www = record_set("www")
    before = compose(inputs(www))
    claims = [www] if claimed else []
    after = compose(inputs(*claims, zone=zone(deleting(), domainName="example.org"), units=units(before)))
    assert not after.delete_units
    assert not after.hold_zone
    assert after.parts is None


def test_nothing_is_composed_while_the_former_ledger_leaves() -> None:
    www = record_set("www")
    before = compose(inputs(www))
    after = compose(inputs(www, record_set("new", "new"), units=units(before, metadata=deleting())))
    assert after.parts is None
    assert after.zone_verdict is not None
    assert after.zone_verdict.reason is Reason.RECONCILING


def test_a_ledger_of_another_domain_is_not_taken_over() -> None:
    before = compose(inputs(record_set("www")))
    after = compose(inputs(record_set("www"), zone=zone(domainName="example.org"), units=units(before)))
    assert after.zone_verdict is not None
    assert after.zone_verdict.reason is Reason.MANAGED_RESOURCE_MISMATCH
    assert after.parts is None


BODIES: dict[str, dict[str, Any]] = {
    "A": {"type": "A", "a": {"addresses": ["192.0.2.1"]}},
    "TXT": {"type": "TXT", "txt": {"values": ["x"]}},
    "CNAME": {"type": "CNAME", "cname": {"target": "target.example.net"}},
}


def aged(number: int, owner: str, kind: str, day: int) -> RecordSet:
    created = {"creationTimestamp": f"2026-11-{day:02}T00:00:00Z"}
    return record_set(f"c{number}", owner, metadata=created, **BODIES[kind])


CLAIMS = st.lists(
    st.builds(
        aged, st.integers(0, 30), st.sampled_from(["www", "mail"]), st.sampled_from(sorted(BODIES)), st.integers(1, 3)
    ),
    max_size=12,
    unique_by=lambda claim: claim.key,
)


@given(claims=CLAIMS, order=st.randoms())
def test_the_winners_do_not_depend_on_the_order(claims: list[RecordSet], order: Random) -> None:
    shuffled = list(claims)
    order.shuffle(shuffled)
    assert compose(inputs(*claims)).parts == compose(inputs(*shuffled)).parts


@given(claims=CLAIMS)
def test_no_name_has_two_owners_of_a_type_or_a_cname_with_company(claims: list[RecordSet]) -> None:
    taken: dict[str, list[str]] = {}
    for item in items(compose(inputs(*claims))).values():
        taken.setdefault(item.name, []).append(item.type)
    for types in taken.values():
        assert len(types) == len(set(types))
        assert "CNAME" not in types or types == ["CNAME"]


@given(first=CLAIMS, second=CLAIMS)
def test_an_owner_is_never_displaced(first: list[RecordSet], second: list[RecordSet]) -> None:
    before = compose(inputs(*first))
    owned = items(before)
    later = {claim.key: claim for claim in second} | {claim.key: claim for claim in first}
    after = compose(inputs(*later.values(), units=units(before)))
    assert {key: items(after)[key] for key in owned} == owned


def test_the_loser_is_told_who_owns_the_record() -> None:
    old = record_set("old", metadata={"creationTimestamp": "2026-11-01T00:00:00Z"})
    new = record_set("new", metadata={"creationTimestamp": "2026-11-02T00:00:00Z"})
    alias = record_set(
        "alias", type="CNAME", cname={"target": "x.example.net"}, metadata={"creationTimestamp": "2026-11-03T00:00:00Z"}
    )
    composed = compose(inputs(new, alias, old))
    for loser in (new, alias):
        assert verdict(composed, loser) == (FALSE, Reason.RECORD_SET_CONFLICT)
        assert "team/old" in composed.record_verdicts[loser.key].message
    assert "CNAME" in composed.record_verdicts[alias.key].message
