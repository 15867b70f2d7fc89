"""What a Zone is told about its references, its class and a ledger that is already there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import ConditionStatus
from controllers.api.group import CORE_FINALIZER
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSetStatus, parse_record_set
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import UnitZoneStatus, ZoneUnit
from controllers.core.compose import Composition, compose
from controllers.core.projection import project_record_set, project_zone
from controllers.core.zone_rule import obstacle_of
from kube.object import ObjectKey
from tests.controllers.core.build import (
    NOW,
    PROVIDER,
    condition,
    deleting,
    inputs,
    meta,
    provider,
    record_set,
    two_versions,
    units,
    zone,
    zone_class,
)

FALSE, UNKNOWN = ConditionStatus.FALSE, ConditionStatus.UNKNOWN
IDENTITY = {"resource": {"group": "edge.example.com", "kind": "EdgeIdentity", "scope": "Namespaced"}}
BROKEN = {"zone": {"validationRules": [{"rule": "self.spec.domainName"}]}}


@pytest.mark.parametrize(
    ("changed", "status", "reason", "words"),
    [
        (
            {"zone": zone(zoneClassRef={"name": "Hosted"})},
            FALSE,
            Reason.INVALID_ZONE_CLASS_REF,
            'spec.zoneClassRef.name: found "Hosted"',
        ),
        (
            {"zone": zone(zoneClassRef={"name": "hosted", "namespace": "a.b"})},
            FALSE,
            Reason.INVALID_ZONE_CLASS_REF,
            "spec.zoneClassRef.namespace",
        ),
        ({"provider": None}, FALSE, Reason.INVALID_PROVIDER, "which does not exist"),
        ({"provider": provider(name="v9")}, FALSE, Reason.INVALID_PROVIDER, "no version of it"),
        ({"provider": provider(**BROKEN)}, FALSE, Reason.INVALID_PROVIDER, "which is broken"),
        ({"provider": two_versions(storage=BROKEN)}, UNKNOWN, Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, "broken"),
        (
            {"provider": two_versions(storage={"storage": False})},
            UNKNOWN,
            Reason.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            "not exactly one storage version",
        ),
        ({"zone_class": None}, UNKNOWN, Reason.ZONE_CLASS_NOT_RESOLVED, "ZoneClass team/hosted does not exist yet."),
        (
            {"provider": provider(identity=IDENTITY)},
            FALSE,
            Reason.INVALID_IDENTITY_REF,
            "needs one of kind EdgeIdentity.edge.example.com",
        ),
        ({"zone_class": zone_class(identityRef={"name": "me"})}, FALSE, Reason.INVALID_IDENTITY_REF, "needs none"),
    ],
)
def test_a_zone_is_told_what_it_lacks(
    changed: dict[str, Any], status: ConditionStatus, reason: Reason, words: str
) -> None:
    claim = record_set("www")
    composed = compose(inputs(claim, **changed))
    assert told(composed) == (status, reason)
    assert composed.zone_verdict is not None
    assert words in composed.zone_verdict.message
    assert composed.parts is None
    below = composed.record_verdicts[claim.key]
    assert below.status is status
    assert below.reason is (Reason.ZONE_NOT_ACCEPTED if status is FALSE else reason)


def test_an_identity_that_is_needed_and_there_is_no_matter() -> None:
    composed = compose(
        inputs(provider=provider(identity=IDENTITY), zone_class=zone_class(identityRef={"name": "account"}))
    )
    assert told(composed) == (ConditionStatus.TRUE, Reason.ACCEPTED)


def told(composed: Composition) -> tuple[ConditionStatus, Reason]:
    assert composed.zone_verdict is not None
    return composed.zone_verdict.status, composed.zone_verdict.reason


@pytest.mark.parametrize(
    ("former", "words"),
    [
        ({"zone": zone(domainName="former.example")}, "belongs to domain former.example"),
        (
            {"zone": zone(zoneClassRef={"name": "former"}), "zone_class": zone_class()},
            "belongs to ZoneClass team/former",
        ),
    ],
)
def test_a_ledger_of_something_else_is_not_taken_over(former: dict[str, Any], words: str) -> None:
    ledger = units(compose(inputs(record_set("www"), **former)))
    composed = compose(inputs(record_set("www"), units=ledger))
    assert told(composed) == (FALSE, Reason.MANAGED_RESOURCE_MISMATCH)
    assert composed.zone_verdict is not None
    assert words in composed.zone_verdict.message
    assert composed.parts is None
    assert not composed.delete_units


def test_a_ledger_of_another_provider_is_not_taken_over() -> None:
    (unit,) = units(compose(inputs(record_set("www"))))
    spec = unit.spec.model_copy(update={"provider": unit.spec.provider.model_copy(update={"name": "other.example"})})
    ledger = units(Composition(compose(inputs()).ledger, None, {}, {0: spec}))
    composed = compose(inputs(record_set("www"), units=ledger))
    assert told(composed) == (FALSE, Reason.MANAGED_RESOURCE_MISMATCH)
    assert composed.parts is None


def large() -> list[Any]:
    """Claims that fill two parts."""
    values = [f"{number:03}" + "x" * 1000 for number in range(300)]
    return [
        record_set(f"r{number}", f"w{number}", type="TXT", txt={"values": values}, metadata={"uid": f"u{number}"})
        for number in range(3)
    ]


def whole_ledger() -> list[ZoneUnit]:
    first = units(compose(inputs(*large())))
    return units(compose(inputs(*large(), units=first)))


def test_a_part_is_listed_once_it_exists() -> None:
    first = units(compose(inputs(*large())))
    assert [unit.spec.parts for unit in first] == [(), ()]
    second = whole_ledger()
    assert [unit.spec.parts for unit in second] == [(1,), ()]
    assert compose(inputs(*large(), units=second)).parts == {unit.spec.part: unit.spec for unit in second}


Lose = Callable[[list[ZoneUnit]], list[ZoneUnit]]


@pytest.mark.parametrize(
    ("lose", "missing"),
    [(lambda ledger: ledger[:1], "team/example.part-1"), (lambda ledger: ledger[1:], "team/example,")],
    ids=["a further part", "part 0"],
)
def test_a_ledger_that_is_not_whole_is_left_alone(lose: Lose, missing: str) -> None:
    ledger = lose(whole_ledger())
    newcomer = record_set("new", "w9")
    composed = compose(inputs(*large(), newcomer, units=ledger))
    assert told(composed) == (UNKNOWN, Reason.OWNER_STATE_NOT_RESOLVED)
    assert composed.zone_verdict is not None
    assert missing in composed.zone_verdict.message
    assert composed.parts is None
    assert {each.reason for each in composed.record_verdicts.values()} == {Reason.OWNER_STATE_NOT_RESOLVED}


def test_deletions_go_on_in_the_parts_that_are_there() -> None:
    ledger = whole_ledger()[1:]
    leaving = [parse_record_set({**manifest(number), "metadata": going(number)}) for number in range(3)]
    composed = compose(inputs(*leaving, units=ledger))
    assert composed.parts is not None
    assert composed.parts.keys() == {1}
    assert all(item.deletion_requested for item in composed.parts[1].record_sets)
    without_zone = compose(inputs(*leaving, zone=None, units=ledger))
    assert without_zone.parts == composed.parts


def manifest(number: int) -> dict[str, Any]:
    return {"spec": large()[number].spec.dump()}


def going(number: int) -> dict[str, Any]:
    return meta("team", f"r{number}", **deleting())


@pytest.mark.parametrize(
    ("ref", "reason", "words"),
    [
        ({"name": "example"}, Reason.ZONE_NOT_RESOLVED, "does not exist yet"),
        ({"name": "Example"}, Reason.INVALID_ZONE_REF, 'spec.zoneRef.name: found "Example"'),
        ({"name": "example", "namespace": "a/b"}, Reason.INVALID_ZONE_REF, "spec.zoneRef.namespace"),
        ({"name": "example.part-1"}, Reason.INVALID_ZONE_REF, ".part-<digits>"),
    ],
)
def test_a_reference_that_no_zone_can_be_meant_by_is_refused(ref: dict[str, str], reason: Reason, words: str) -> None:
    claim = record_set("www", zoneRef=ref)
    found = compose(inputs(claim, zone=None)).record_verdicts[claim.key]
    assert found.reason is reason
    assert words in found.message


def test_a_provider_that_is_no_longer_served_leaves_the_ledger_as_it_is() -> None:
    www = record_set("www")
    ledger = units(compose(inputs(www)))
    after = compose(inputs(www, provider=provider(served=False), units=ledger))
    assert told(after) == (FALSE, Reason.INVALID_PROVIDER)
    assert after.parts is None
    assert after.hold == {ObjectKey("team", "www")}
    assert PROVIDER["version"] in after.zone_verdict.message if after.zone_verdict else False


@pytest.mark.parametrize(
    ("made_again", "words"),
    [
        (None, ""),
        (zone_class(), ""),
        (zone_class(("False", "InvalidParameters")), ""),
        (
            zone_class(None, controllerName="nobody.example/x"),
            "Nobody has judged ZoneClass team/hosted, whose controllerName is",
        ),
        (zone_class(("False", "InvalidProvider")), "ZoneClass team/hosted is not accepted by "),
        (
            zone_class(provider={"name": "other.example", "version": "v1"}),
            f"ZoneClass team/hosted is for other.example: delete it and create it again for {PROVIDER['name']}",
        ),
    ],
)
def test_a_zone_that_nobody_cleans_up_tells_what_to_do_about_its_class(
    made_again: ZoneClass | None, words: str
) -> None:
    ledger = units(compose(inputs()), metadata=deleting())
    found = obstacle_of(inputs(zone=zone(deleting()), units=ledger, zone_class=made_again))
    assert found.startswith(words)
    assert bool(found) is bool(words)
    status = project_zone(zone(deleting()), None, ledger, (), NOW, obstacle=found).status
    (programmed,) = (each for each in status.conditions if each.type == "Programmed")
    assert programmed.message == (found or "Waiting for the provider to clean up.")
    status = project_zone(zone(deleting()), None, ledger, [ObjectKey("team", "www")], NOW, obstacle=found).status
    (programmed,) = (each for each in status.conditions if each.type == "Programmed")
    assert programmed.message == f"Waiting for 1 RecordSets to be deleted: team/www. {found}".rstrip()


def test_what_finalizers_of_others_keep_says_so_and_claims_nothing_else() -> None:
    others = {"finalizers": ["example.com/backup"]}
    good = [condition("Accepted", "True", "Accepted"), condition("Programmed", "True", "Programmed")]
    status = RecordSetStatus.model_validate({"conditions": good})
    claim = replace(record_set("www", metadata=deleting(**others)), status=status)
    composition = compose(inputs(claim))
    verdict = composition.record_verdicts[claim.key]
    assert verdict.message == "Nothing of it is left in the zone; the object is kept by example.com/backup."
    projected = project_record_set(claim, ObjectKey("team", "example"), verdict, None, None, NOW)
    assert not projected.provisional
    assert [(each.type, each.status) for each in projected.status.conditions] == [("Accepted", "Unknown")]
    held = record_set("www", metadata=deleting(finalizers=[CORE_FINALIZER, *others["finalizers"]]))
    assert held.key not in compose(inputs(held)).record_verdicts, "it is about to be let go"

    left = zone(deleting(**others))
    late = record_set("late")
    assert compose(inputs(late, zone=left)).record_verdicts[late.key].reason is Reason.ZONE_NOT_ACCEPTED
    assert obstacle_of(inputs(zone=left)) == "Nothing of it is left; the object is kept by example.com/backup."
    (unit,) = units(compose(inputs()), metadata=deleting(**others))
    kept = "Nothing of it is left but ZoneUnit team/example; the object is kept by example.com/backup."
    assert obstacle_of(inputs(zone=zone(deleting()), units=[unit])) == kept
    (under_way,) = units(compose(inputs()), metadata=deleting())
    assert obstacle_of(inputs(zone=zone(deleting()), units=[under_way, unit])) == "", "there is more of it"

    # What the provider told before it had cleaned up does not stand for what keeps the ledger now.
    failed = UnitZoneStatus.model_validate({"conditions": [condition("Programmed", "False", "ProviderUnavailable")]})
    for ledger, reason in ((under_way, Reason.PROVIDER_UNAVAILABLE), (unit, Reason.PROVIDER_CHANGE_PENDING)):
        told = replace(ledger, status=ledger.status.model_copy(update={"zone": failed}))
        after = project_zone(zone(deleting()), None, [told], (), NOW, obstacle=kept).status
        assert [each.reason for each in after.conditions] == [reason]
