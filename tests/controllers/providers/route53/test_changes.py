"""Batches keep to the limits, hold together what belongs together, and come apart until what is wrong is alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.providers.route53.change import Action, Change, Unit, bind, halves, size_of, take_batch
from controllers.providers.route53.record import RecordKey, values_record
from kube.object import ObjectKey
from tests.controllers.providers.route53.fake.error import AwsError
from tests.controllers.providers.route53.fake.zone import HostedZone


def change(name: str, kind: str = "TXT", action: Action = Action.CREATE, values: int = 1, length: int = 3) -> Change:
    texts = [f'"{"x" * max(length - 2, 0)}"'] * values if kind == "TXT" else ["192.0.2.1"] * values
    return Change(
        action, values_record(RecordKey(f"{name}.test", kind), 60, texts), ObjectKey("team", f"{name}-{kind}")
    )


def test_an_upsert_counts_twice() -> None:
    assert take_batch(bind(change(f"a{n}", action=Action.CREATE) for n in range(1001)))[1]
    batch, rest = take_batch(bind(change(f"a{n}", action=Action.UPSERT) for n in range(501)))
    assert (len(batch), len(rest)) == (500, 1)
    batch, rest = take_batch(bind(change(f"a{n}", action=Action.UPSERT, length=4000) for n in range(5)))
    assert (len(batch), len(rest)) == (4, 1)
    batch, rest = take_batch(bind(change(f"a{n}", action=Action.CREATE, length=4000) for n in range(9)))
    assert (len(batch), len(rest)) == (8, 1)


ACTIONS = st.sampled_from(Action)
CHANGES = st.lists(
    st.builds(
        change,
        st.sampled_from("abcdefgh"),
        st.sampled_from(["TXT", "A"]),
        ACTIONS,
        st.integers(1, 20),
        st.integers(3, 200),
    ),
    max_size=30,
)


@given(CHANGES)
def test_every_change_is_in_one_batch_and_every_batch_fits(changes: list[Change]) -> None:
    units, seen, calls = bind(changes), 0, 0
    while units:
        batch, units = take_batch(units)
        assert batch, "whatever fits alone is taken some time"
        assert size_of(batch).fits
        seen += sum(len(unit) for unit in batch)
        calls += 1
    assert seen == len(changes)


@given(CHANGES)
def test_deletions_come_first_and_keep_their_name_together(changes: list[Change]) -> None:
    for unit in bind(changes):
        actions = [each.action is Action.DELETE for each in unit]
        assert actions == sorted(actions, reverse=True)
        assert len({each.record.key.name for each in unit}) == 1


def _isolate(units: list[Unit], bad: set[ObjectKey]) -> tuple[list[ObjectKey], list[ObjectKey], int]:
    """What is accepted and refused when a batch with a bad change is refused as a whole."""
    calls = 1
    items = [each.item for unit in units for each in unit]
    if not bad & set(items):
        return items, [], calls
    parts = halves(units)
    if not parts:
        return [], items, calls
    good: list[ObjectKey] = []
    refused: list[ObjectKey] = []
    for part in parts:
        more, fewer, asked = _isolate(part, bad)
        good, refused, calls = good + more, refused + fewer, calls + asked
    return good, refused, calls


@given(st.integers(1, 300), st.data())
def test_one_bad_change_is_found_in_few_calls(count: int, data: st.DataObject) -> None:
    changes = [change(f"n{number}") for number in range(count)]
    bad = changes[data.draw(st.integers(0, count - 1))].item
    good, refused, calls = _isolate(bind(changes), {bad})
    assert refused == [bad]
    assert len(good) == count - 1
    assert calls <= 2 * count.bit_length() + 3


def test_a_unit_comes_apart_with_its_deletion_first() -> None:
    group = bind([change("a", "A", Action.CREATE), change("a", "TXT", Action.DELETE)])
    (unit,) = group
    assert [each.action for each in unit] == [Action.DELETE, Action.CREATE]
    assert halves(group) == [[(unit[0],)], [(unit[1],)]]
    assert halves([(unit[0],)]) == []
    item = unit[0].item
    pair = (change("a", action=Action.DELETE), change("a", action=Action.CREATE))
    assert pair[0].item == pair[1].item == item
    assert halves([pair]) == [], "a name is not left without records because its new ones are refused"


def test_the_limits_are_those_of_the_service() -> None:
    zone = HostedZone("Z1", (b"test",), "1", "r", "", private=False)
    batch, _ = take_batch(bind(change(f"a{n}", action=Action.UPSERT, length=40) for n in range(900)))
    zone.apply([(each.action.value, dict(each.record.wire)) for unit in batch for each in unit])
    more = [change(f"b{n}", action=Action.UPSERT, length=40) for n in range(501)]
    with pytest.raises(AwsError, match="InvalidChangeBatch"):
        zone.apply([(each.action.value, dict(each.record.wire)) for each in more])
