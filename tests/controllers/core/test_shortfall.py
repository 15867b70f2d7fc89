"""What of a part is written when the API takes not all of it, and who is told."""

from __future__ import annotations

from typing import Any

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.zone_unit import UnitRecordSet, ZoneUnitSpec
from controllers.core.compose import compose, fallen_short
from controllers.core.shortfall import Shortfall, faults_by_claim, lesser_specs
from kube.errors import Cause, Invalid, TooLarge
from tests.controllers.core.build import inputs, record_set, units


def spec(**texts: str | None) -> ZoneUnitSpec:
    """A part with a TXT record set for each text; one of None has its deletion requested."""
    claims = [record_set(name, name, type="TXT", txt={"values": [text or "former"]}) for name, text in texts.items()]
    parts = compose(inputs(*claims)).parts
    assert parts is not None
    items = [item.model_copy(update={"deletion_requested": texts[item.name] is None}) for item in parts[0].record_sets]
    return parts[0].model_copy(update={"record_sets": tuple(items)})


def shown(part: ZoneUnitSpec) -> dict[str, Any]:
    return {item.name: None if item.deletion_requested else _text(item) for item in part.record_sets}


def _text(item: UnitRecordSet) -> str:
    assert item.txt is not None
    return item.txt.values[0]


def test_only_the_item_that_grows_most_is_left_out_at_first() -> None:
    old = spec(a="a", b="b", c="c", d="former")
    new = spec(a="a" * 3000, b="bb", c="c", d=None, e="e" * 500)
    first, last = lesser_specs(old, new)
    assert shown(first) == {"a": "a", "b": "bb", "c": "c", "d": None, "e": "e" * 500}
    assert shown(last) == {"a": "a", "b": "b", "c": "c", "d": None}


def test_what_the_api_names_is_left_out_first() -> None:
    """Of several claims that are refused each is left out, the largest stays, and what is named beside items matters not."""
    old, new = spec(a="a", b="b"), spec(a="a" * 3000, b="bb", c="c", d="d")
    fields = ("spec.recordSets[1].txt.values[0]", "spec.recordSets[2].ttl", "spec.recordSets", "spec.zone", "")
    causes = tuple(Cause(field, "FieldValueInvalid", "no") for field in fields)
    named = faults_by_claim(Invalid("no", code=422, reason="Invalid", causes=causes), new)
    first, second, last = lesser_specs(old, new, named)
    assert shown(first) == {"a": "a" * 3000, "b": "b", "d": "d"}
    assert shown(second) == {"a": "a", "b": "bb", "c": "c", "d": "d"}
    assert last == old


def test_whoever_is_named_alone_is_left_out_once() -> None:
    new = spec(a="a" * 3000, b="b")
    named = {item.key for item in new.record_sets if item.name == "a"}
    first, last = lesser_specs(spec(), new, named)
    assert [shown(each) for each in (first, last)] == [{"b": "b"}, {}]


def test_a_newcomer_that_is_largest_is_left_out() -> None:
    first, _ = lesser_specs(spec(a="a"), spec(a="aa", b="b" * 3000))
    assert shown(first) == {"a": "aa"}


def test_of_a_single_change_nothing_is_left() -> None:
    old = spec(a="a", b="b")
    (last,) = lesser_specs(old, spec(a="a" * 3000, b="b"))
    assert last == old


def test_what_is_decided_of_an_item_goes_through_beside_a_change_that_does_not() -> None:
    old = spec(a="a")
    new = old.model_copy(
        update={"record_sets": tuple(item.model_copy(update={"allowed": False}) for item in old.record_sets)}
    )
    assert list(lesser_specs(old, new)) == [new]


def test_who_wants_what_does_not_stand_there_is_told() -> None:
    first = [record_set(name, name) for name in ("a", "b", "c")]
    ledger = units(compose(inputs(*first)))
    edited = [record_set(name, name, metadata={"generation": 2}, ttl=77) for name in ("a", "b")]
    composed = compose(inputs(*edited, first[2], units=ledger))
    assert composed.parts is not None
    before = {item.key: item for item in ledger[0].spec.record_sets}
    stands = composed.parts[0].model_copy(
        update={
            "record_sets": tuple(
                before[item.key] if item.name == "a" else item for item in composed.parts[0].record_sets
            )
        }
    )
    short = fallen_short(composed, {0: Shortfall(0, TooLarge("2 MB", code=413, reason=""), stands)})
    told = {key.name: (each.status, each.reason, each.message) for key, each in short.record_verdicts.items()}
    accepted = (ConditionStatus.TRUE, Reason.ACCEPTED, "")
    assert told["b"] == told["c"] == accepted
    message = "The ledger has no room for it in part 0: 2 MB"
    assert told["a"] == (ConditionStatus.UNKNOWN, Reason.RECONCILE_ERROR, message)
    assert short.zone_verdict == composed.zone_verdict


def test_a_zone_without_its_ledger_is_told_why() -> None:
    composed = compose(inputs(record_set("a")))
    error = Invalid("spec.zone: no", code=422, reason="Invalid")
    short = fallen_short(composed, {0: Shortfall(0, error, None)})
    assert short.zone_verdict is not None
    assert (short.zone_verdict.status, short.zone_verdict.reason) == (ConditionStatus.UNKNOWN, Reason.RECONCILE_ERROR)
    assert short.zone_verdict.message == "The ledger does not take it in part 0: spec.zone: no"
    assert {each.reason for each in short.record_verdicts.values()} == {Reason.RECONCILE_ERROR}


def test_a_claim_is_told_of_no_other_what_the_ledger_says_of_it() -> None:
    """Claims of a zone are of many namespaces, which may not read one another's objects."""
    composed = compose(inputs(*(record_set(name, name) for name in ("a", "b", "c"))))
    assert composed.parts is not None
    fields = (("spec.recordSets[0].ttl", "found 1"), ("spec.recordSets[0].a", "found 2"), ("spec.recordSets[1]", "odd"))
    causes = tuple(Cause(field, "FieldValueInvalid", message) for field, message in fields)
    error = Invalid("all of it", code=422, reason="Invalid", causes=causes)
    short = Shortfall(0, error, None, faults_by_claim(error, composed.parts[0]))
    told = {key.name: each.message for key, each in fallen_short(composed, {0: short}).record_verdicts.items()}
    beginning = "The ledger does not take it in part 0: "
    assert told == {
        "a": f"{beginning}ttl: found 1; a: found 2",
        "b": f"{beginning}odd",
        "c": f"{beginning}something that is written with it is refused.",
    }
