"""The change guard: what it counts, what it holds, what confirms it, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from controllers.api.condition import ConditionStatus, ConditionType, find_condition
from controllers.api.group import CONFIRM_CHANGE
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict
from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from controllers.core.collection import LIMIT_S, QUIET_S, Collection
from controllers.core.compose import Composition, compose
from controllers.core.guard import (
    COLLECTED,
    HELD,
    Alteration,
    GuardedChange,
    Step,
    confirmation_of,
    find_changes,
)
from controllers.core.inputs import ZoneInputs
from controllers.core.memory import ZoneMemory
from controllers.core.projection import project_record_set, project_zone
from kube.object import ObjectKey
from tests.controllers.core.build import (
    NOW,
    ZONE,
    condition,
    deleting,
    inputs,
    record_set,
    two_versions,
    units,
    zone,
    zone_class,
)

GUARDED = zone_class(changeGuard={"maxPercent": 30, "minRecords": 10})
MOVED = {"a": {"addresses": ["192.0.2.9"]}}


def claims(count: int) -> list[RecordSet]:
    return [record_set(f"r{number:04}", f"w{number}") for number in range(count)]


def deleted(claim: RecordSet) -> RecordSet:
    return record_set(claim.meta.name, claim.spec.name, namespace=claim.meta.namespace, metadata=deleting(generation=2))


def edited(claim: RecordSet, generation: int = 2, **spec: Any) -> RecordSet:
    metadata = {"generation": generation}
    name, owner, namespace = claim.meta.name, claim.spec.name, claim.meta.namespace
    return record_set(name, owner, namespace=namespace, metadata=metadata, type="A", **(spec or MOVED))


def ledger(today: Sequence[RecordSet], **more: Any) -> list[ZoneUnit]:
    return units(compose(inputs(*today, **more)))


def confirmed(by: str | None) -> Any:
    return zone({"annotations": {CONFIRM_CHANGE: by}} if by is not None else {})


def items(composition: Composition) -> dict[ObjectKey, UnitRecordSet]:
    assert composition.parts is not None
    return {item.key: item for spec in composition.parts.values() for item in spec.record_sets}


def hold_of(composition: Composition) -> Verdict | None:
    return composition.step.hold if composition.step is not None else None


def hash_of(composition: Composition) -> str:
    assert composition.step is not None
    return confirmation_of(composition.step.changes)


def step_of(count: int, of: int, change: Any = deleted, **more: Any) -> tuple[list[RecordSet], ZoneInputs]:
    """A zone of `of` programmed record sets of which the first `count` are to change; and what it is composed of."""
    today = claims(of)
    after = [change(each) for each in today[:count]] + today[count:]
    return today, inputs(*after, units=ledger(today), **{"zone_class": GUARDED, **more})


@pytest.mark.parametrize("change", [deleted, edited])
@pytest.mark.parametrize(
    ("count", "of", "guard", "held"),
    [
        (3, 10, {}, False),
        (4, 10, {}, True),
        (9, 9, {}, False),
        (9, 9, {"minRecords": 0}, True),
        (30, 100, {}, False),
        (31, 100, {}, True),
        (1, 100, {"maxPercent": 1}, False),
        (2, 100, {"maxPercent": 1}, True),
        (20, 20, {"maxPercent": 100}, False),
        (1, 3, {"maxPercent": 33, "minRecords": 3}, True),
        (1, 3, {"maxPercent": 34, "minRecords": 3}, False),
    ],
)
def test_a_step_is_held_when_it_is_more_than_the_share(
    change: Any, count: int, of: int, guard: dict[str, int], held: bool
) -> None:
    today, given = step_of(count, of, change, zone_class=zone_class(changeGuard=guard))
    composed = compose(given)
    assert composed.held == (frozenset(each.key for each in today[:count]) if held else frozenset())
    before = {item.key: item for unit in given.units for item in unit.spec.record_sets}
    assert (items(composed) == before) is held
    assert composed.hold == before.keys(), "every claim keeps its finalizer"
    assert (hold_of(composed) is not None) is held


def test_no_guard_holds_nothing() -> None:
    _, given = step_of(20, 20, zone_class=zone_class())
    composed = compose(given)
    assert (composed.step, composed.held) == (None, frozenset())
    assert all(item.deletion_requested for item in items(composed).values())


@pytest.mark.parametrize(("count", "held"), [(60, False), (61, True)])
def test_all_parts_of_a_ledger_count_together(count: int, held: bool) -> None:
    def text(number: int, **more: Any) -> RecordSet:
        return record_set(f"r{number:04}", f"w{number}", type="TXT", txt={"values": [f"{number}" + "x" * 3900]}, **more)

    there = ledger([text(number) for number in range(200)])
    assert len(there) > 1
    step = 200 // count
    chosen = list(range(0, 200, step))[:count]
    after = [text(number, metadata=deleting(generation=2) if number in chosen else {}) for number in range(200)]
    composed = compose(inputs(*after, units=there, zone_class=GUARDED))
    assert len(composed.held) == (count if held else 0)
    before = {item.key: item for unit in there for item in unit.spec.record_sets}
    assert (items(composed) == before) is held


def test_the_message_has_the_counts_and_the_annotation() -> None:
    today = claims(20)
    after = [*(deleted(each) for each in today[:5]), *(edited(each) for each in today[5:7]), *today[7:]]
    composed = compose(inputs(*after, units=ledger(today), zone_class=GUARDED))
    hold = hold_of(composed)
    assert hold is not None
    assert (hold.status, hold.reason) == (ConditionStatus.FALSE, Reason.PROVIDER_CHANGE_PENDING)
    assert "5 of 20 programmed record sets would be deleted and 2 changed" in hold.message
    assert "30 percent" in hold.message
    assert hold.message.endswith(f"{CONFIRM_CHANGE}: {hash_of(composed)}")
    assert {composed.record_verdicts[each.key] for each in today[:7]} == {HELD}


def test_creations_go_in_beside_what_is_held() -> None:
    _, given = step_of(15, 20)
    new = [record_set(f"new-{number}", f"n{number}") for number in range(30)]
    composed = compose(replace(given, record_sets=(*given.record_sets, *new)))
    assert len(composed.held) == 15
    assert {each.key for each in new} <= items(composed).keys()
    assert all(composed.record_verdicts[each.key].accepted for each in new)


def test_creations_alone_are_no_step() -> None:
    today = claims(10)
    composed = compose(inputs(*claims(100), units=ledger(today), zone_class=GUARDED))
    assert composed.step is None
    assert len(items(composed)) == 100


def test_a_newcomer_meets_what_is_held_as_it_is() -> None:
    _, given = step_of(10, 10)
    rival = record_set("rival", "w0")
    composed = compose(replace(given, record_sets=(*given.record_sets, rival)))
    assert composed.record_verdicts[rival.key].reason is Reason.RECORD_SET_CONFLICT


def test_what_is_not_programmed_is_not_counted() -> None:
    today = claims(20)
    unseen = units(compose(inputs(*today)), reported=False)
    composed = compose(inputs(*map(deleted, today), units=unseen, zone_class=GUARDED))
    assert composed.held == frozenset()


def test_deletions_under_way_are_not_counted_again() -> None:
    today = claims(20)
    half = [*map(deleted, today[:10]), *today[10:]]
    going = ledger(half, units=ledger(today))
    assert compose(inputs(*half, units=going, zone_class=GUARDED)).step is None
    composed = compose(inputs(*map(deleted, today), units=going, zone_class=GUARDED))
    assert composed.held == {each.key for each in today[10:]}
    hold = hold_of(composed)
    assert hold is not None
    assert "10 of 10" in hold.message


def test_a_new_generation_with_the_same_content_is_no_change() -> None:
    today, given = step_of(20, 20, lambda each: edited(each, a={"addresses": ["192.0.2.1"]}))
    composed = compose(given)
    assert composed.step is None
    assert {item.observed_generation for item in items(composed).values()} == {2}
    assert len(today) == 20


def test_claims_that_became_other_records_count_as_deletions() -> None:
    _, given = step_of(10, 10, lambda each: record_set(each.meta.name, f"x{each.spec.name}"))
    composed = compose(given)
    assert composed.step is not None
    assert {each.alteration for each in composed.step.changes} == {Alteration.DELETE}
    assert not any(item.deletion_requested for item in items(composed).values())


def test_records_that_a_policy_shuts_out_are_frozen_and_not_counted() -> None:
    today = [record_set(f"r{number}", f"w{number}", namespace="other") for number in range(20)]
    team = {"team": {}, "other": {"team": "other"}}
    selector = {"selector": {"matchLabels": {"team": "other"}}}
    grant = zone(allowedRecordSets=[{"namespaces": selector, "records": [{"name": {"pattern": ".*"}, "types": ["A"]}]}])
    there = ledger(today, zone=grant, labels=team)
    composed = compose(inputs(*today, labels=team, units=there, zone_class=GUARDED))
    assert composed.step is None
    assert not any(item.allowed for item in items(composed).values())


def test_a_move_of_the_ledger_to_another_version_is_not_counted() -> None:
    today, there = claims(20), ledger(claims(20))
    composed = compose(inputs(*today, provider=two_versions(), units=there, zone_class=GUARDED))
    assert composed.step is None
    assert composed.parts is not None
    assert composed.parts[0].provider.version == "v2"


def test_a_zone_that_is_being_deleted_is_exempt() -> None:
    _, given = step_of(20, 20, zone=zone(deleting()))
    composed = compose(given)
    assert composed.step is None
    assert all(item.deletion_requested for item in items(composed).values())


def test_a_namespace_that_is_being_deleted_is_exempt() -> None:
    _, given = step_of(20, 20)
    composed = compose(replace(given, leaving=frozenset({ZONE.namespace})))
    assert composed.step is None
    assert all(item.deletion_requested for item in items(composed).values())


def test_claims_of_a_namespace_that_is_being_deleted_are_exempt() -> None:
    ours = claims(10)
    theirs = [record_set(f"t{number}", f"t{number}", namespace="other") for number in range(10)]
    team = {"team": {}, "other": {"team": "other"}}
    selector = {"selector": {"matchLabels": {"team": "other"}}}
    grant = zone(allowedRecordSets=[{"namespaces": selector, "records": [{"name": {"pattern": ".*"}, "types": ["A"]}]}])
    there = ledger([*ours, *theirs], zone=grant, labels=team)
    given = inputs(*ours, *map(deleted, theirs), zone=grant, labels=team, units=there, zone_class=GUARDED)
    assert compose(given).held == {each.key for each in theirs}
    assert compose(replace(given, leaving=frozenset({"other"}))).held == frozenset()


@pytest.mark.parametrize("change", [deleted, edited])
def test_exactly_what_is_confirmed_goes_through(change: Any) -> None:
    today, given = step_of(10, 20, change)
    confirmation = hash_of(compose(given))
    through = compose(replace(given, zone=confirmed(confirmation)))
    assert (through.step, through.held) == (None, frozenset())
    before = {item.key: item for unit in given.units for item in unit.spec.record_sets}
    assert {key for key, item in items(through).items() if item != before[key]} == {each.key for each in today[:10]}

    one_more = (*given.record_sets[:10], change(today[10]), *given.record_sets[11:])
    other = compose(replace(given, zone=confirmed(confirmation), record_sets=one_more))
    assert len(other.held) == 11
    assert hash_of(other) != confirmation


def test_a_confirmation_is_of_one_step_only() -> None:
    today, given = step_of(10, 20, edited)
    confirmation = hash_of(compose(given))
    there = units(compose(replace(given, zone=confirmed(confirmation))))
    back = [edited(each, 3, a={"addresses": ["192.0.2.1"]}) for each in today[:10]] + today[10:]
    assert len(compose(inputs(*back, units=there, zone=confirmed(confirmation), zone_class=GUARDED)).held) == 10
    again = [edited(each, 4) for each in today[:10]] + today[10:]
    first = ledger(back, units=there)
    assert len(compose(inputs(*again, units=first, zone=confirmed(confirmation), zone_class=GUARDED)).held) == 10


def test_a_claim_that_came_back_needs_a_new_confirmation() -> None:
    _, given = step_of(20, 20)
    confirmation = hash_of(compose(given))
    reborn = [replace(each, meta=replace(each.meta, uid=f"new-{each.meta.uid}")) for each in given.record_sets]
    composed = compose(replace(given, zone=confirmed(confirmation), record_sets=tuple(reborn)))
    assert len(composed.held) == 20


def test_what_was_confirmed_and_written_in_part_goes_on() -> None:
    today, given = step_of(20, 20)
    memory = ZoneMemory()
    agreed = confirmed(hash_of(compose(given, memory)))
    compose(replace(given, zone=agreed), memory)
    half = ledger([*map(deleted, today[:5]), *today[5:]], units=given.units)
    rest = replace(given, zone=agreed, units=tuple(half))
    assert compose(rest, memory).held == frozenset()
    assert len(compose(rest).held) == 15, "whoever does not remember asks again"


@pytest.mark.parametrize(
    ("surroundings", "held"),
    [
        (zone_class(("False", "InvalidParameters"), changeGuard={}), 20),
        (zone_class(None, changeGuard={}), 20),
        (zone_class(("False", "InvalidParameters")), 0),
        (None, 0),
    ],
    ids=["class not accepted", "class not judged", "guard switched off", "class gone"],
)
def test_deletions_in_a_zone_that_is_not_accepted_are_guarded_as_long_as_there_is_a_guard(
    surroundings: Any, held: int
) -> None:
    _, given = step_of(20, 20, zone_class=surroundings)
    composed = compose(given)
    assert len(composed.held) == held
    assert composed.hold == {each.key for each in given.record_sets}
    if held:
        assert composed.parts is None
        agreed = compose(replace(given, zone=confirmed(hash_of(composed))))
        assert all(item.deletion_requested for item in items(agreed).values())
    else:
        assert all(item.deletion_requested for item in items(composed).values())


@pytest.mark.parametrize("change", [deleted, edited])
def test_nothing_is_lost_when_the_guard_is_switched_off(change: Any) -> None:
    _, given = step_of(20, 20, change)
    assert len(compose(given).held) == 20
    free = compose(replace(given, zone_class=zone_class()))
    assert free == compose(replace(given, zone_class=zone_class(), collecting=True))
    assert all(item.deletion_requested or item.a == edited(claims(1)[0]).spec.a for item in items(free).values())


def test_a_small_step_waits_in_silence_while_it_is_collected() -> None:
    today, given = step_of(1, 20)
    composed = compose(replace(given, collecting=True))
    assert composed.held == {today[0].key}
    assert hold_of(composed) is None
    assert composed.record_verdicts[today[0].key] == COLLECTED
    assert not any(item.deletion_requested for item in items(composed).values())


def test_a_small_zone_is_not_collected() -> None:
    _, given = step_of(1, 9)
    assert compose(given).step is None


@hypothesis.given(
    st.lists(st.sampled_from([None, deleted, edited, "new"]), max_size=30),
    st.integers(1, 100),
    st.integers(0, 12),
    st.booleans(),
)
def test_whatever_happens_a_step_is_within_bounds_or_held_whole(
    changes: list[Any], percent: int, least: int, collecting: bool
) -> None:
    named = list(zip(claims(len(changes)), changes, strict=True))
    today = [claim for claim, change in named if change != "new"]
    after = [change(claim) if callable(change) else claim for claim, change in named]
    guarded = zone_class(changeGuard={"maxPercent": percent, "minRecords": least})
    there = ledger(today)
    scene = replace(inputs(*after, units=there, zone_class=guarded), collecting=collecting)
    composed, memory = compose(scene), ZoneMemory()
    assert composed == compose(scene, memory) == compose(scene, memory)
    before = {item.key: item for unit in there for item in unit.spec.record_sets}
    tomorrow = items(composed)
    assert tomorrow.keys() == {claim.key for claim in after}
    asked = {claim.key for claim, change in named if callable(change)}
    altered = {key for key, item in before.items() if tomorrow[key] != item}
    assert altered in (set(), asked)
    assert composed.held == asked - altered
    over = len(asked) * 100 > percent * len(today) and len(today) >= least
    assert (hold_of(composed) is not None) is over
    assert not (altered and over)


def test_a_single_change_looks_at_few_records() -> None:
    class Counting(dict[ObjectKey, Any]):
        asked = 0

        def get(self, key: ObjectKey, default: Any = None) -> Any:
            self.asked += 1
            return super().get(key, default)

    _, given = step_of(1, 1000, edited)
    composed = compose(given)
    counting = Counting(composed.ledger.results)
    watched = replace(composed.ledger, results=counting)
    changes = find_changes(watched, items(composed), {each.key: each for each in given.record_sets})
    assert len(changes) == 1
    assert counting.asked == 1


def test_the_hash_does_not_depend_on_the_order() -> None:
    changes = [GuardedChange(ObjectKey("team", f"r{n}"), Alteration.DELETE, f"u{n}", n) for n in range(20)]
    assert confirmation_of(changes) == confirmation_of(reversed(changes))
    variants: Iterable[GuardedChange] = (
        replace(changes[0], uid="other"),
        replace(changes[0], generation=9),
        replace(changes[0], alteration=Alteration.CHANGE),
        replace(changes[0], key=ObjectKey("other", "r0")),
    )
    assert len({confirmation_of([each, *changes[1:]]) for each in (changes[0], *variants)}) == 5


@pytest.mark.parametrize("change", [deleted, edited])
def test_a_held_claim_is_told_that_it_is_held_and_what_is_programmed(change: Any) -> None:
    today, given = step_of(20, 20, change)
    composed = compose(given)
    key = today[0].key
    claim = next(each for each in given.record_sets if each.key == key)
    verdict, item, result = composed.record_verdicts[key], composed.ledger.items[key], composed.ledger.results[key]
    status = project_record_set(claim, ZONE, verdict, item, result, NOW, held=True).status
    accepted = find_condition(status.conditions, ConditionType.ACCEPTED)
    programmed = find_condition(status.conditions, ConditionType.PROGRAMMED)
    assert accepted is not None
    assert (accepted.status, accepted.reason, accepted.observed_generation) == ("Unknown", "Reconciling", 2)
    assert "change guard" in accepted.message
    assert programmed is not None
    assert (programmed.status, programmed.reason, programmed.observed_generation) == ("True", "Programmed", 1)


def test_a_held_claim_keeps_what_it_said_while_its_provider_has_not_spoken() -> None:
    _, given = step_of(20, 20, edited)
    composed = compose(given)
    claim = given.record_sets[0]
    said = claim.status.model_validate({"conditions": [condition("Programmed", "True", "Programmed")]})
    item = composed.ledger.items[claim.key]
    status = project_record_set(replace(claim, status=said), ZONE, HELD, item, None, NOW, held=True).status
    assert find_condition(status.conditions, ConditionType.PROGRAMMED) == said.conditions[0]


def test_a_zone_with_a_held_step_is_not_programmed() -> None:
    _, given = step_of(20, 20)
    composed = compose(given)
    assert given.zone is not None
    found = project_zone(given.zone, composed.zone_verdict, given.units, (), NOW, hold=hold_of(composed)).status
    accepted = find_condition(found.conditions, ConditionType.ACCEPTED)
    programmed = find_condition(found.conditions, ConditionType.PROGRAMMED)
    assert accepted is not None
    assert accepted.status is ConditionStatus.TRUE
    assert programmed is not None
    assert (programmed.status, programmed.reason) == ("False", "ProviderChangePending")
    assert found.dump()["nameServers"] == ["ns1.example.com"]


def test_a_step_is_whole_when_it_stays_the_same_or_took_long() -> None:
    now = 0.0
    collection = Collection(lambda: now)
    changes = [GuardedChange(ObjectKey("team", f"r{n}"), Alteration.DELETE, f"u{n}", n) for n in range(100)]

    def left_s(count: int) -> float:
        return collection.left_s(ZONE, Step(frozenset(changes[:count])) if count else None)

    assert left_s(1) == QUIET_S
    now = QUIET_S / 2
    assert left_s(1) == QUIET_S / 2
    assert left_s(2) == QUIET_S
    now += QUIET_S
    assert left_s(2) == 0
    assert left_s(3) == QUIET_S
    now = LIMIT_S
    assert left_s(4) == 0
    assert left_s(0) == 0
    assert left_s(5) == QUIET_S
