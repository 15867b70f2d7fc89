"""Placement of items over the parts of a ledger."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controllers.api.zone_unit import UnitRecordSet
from controllers.core.item import item_of
from controllers.core.placement import PART_LIMIT_BYTES, place, size_bytes
from kube.object import ObjectKey
from tests.controllers.core.build import record_set


def large(number: int, kilobytes: int) -> UnitRecordSet:
    values = [f"{index:03}" + "x" * 1021 for index in range(kilobytes)]
    return item_of(record_set(f"r{number}", f"w{number}", type="TXT", txt={"values": values}))


def position(parts: dict[int, list[UnitRecordSet]]) -> dict[ObjectKey, int]:
    return {item.key: part for part, items in parts.items() for item in items}


def test_a_small_zone_has_one_part_even_when_empty() -> None:
    assert place([], {}) == {0: []}
    assert place([large(1, 1)], {}).keys() == {0}


def test_what_does_not_fit_opens_the_next_part() -> None:
    parts = place([large(number, 300) for number in range(5)], {})
    assert [len(items) for items in parts.values()] == [2, 2, 1]


def test_items_stay_where_they_are_and_gaps_are_filled() -> None:
    items = [large(number, 300) for number in range(5)]
    before = position(place(items, {}))
    kept = [item for item in items if item.key != items[0].key]
    newcomer = large(9, 300)
    after = position(place([*kept, newcomer], before))
    assert {key: after[key] for key in before if key in after} == {item.key: before[item.key] for item in kept}
    assert after[newcomer.key] == before[items[0].key]


def test_an_empty_part_is_left_out_and_its_number_used_again() -> None:
    items = [large(number, 500) for number in range(3)]
    before = position(place(items, {}))
    assert sorted(before.values()) == [0, 1, 2]
    kept = [items[0], items[2]]
    assert place(kept, before).keys() == {0, 2}
    assert position(place([*kept, large(9, 500)], before))[ObjectKey("team", "r9")] == 1


@given(sizes=st.lists(st.integers(1, 400), max_size=12))
def test_no_part_passes_the_limit(sizes: list[int]) -> None:
    parts = place([large(number, size) for number, size in enumerate(sizes)], {})
    assert all(sum(map(size_bytes, items)) <= PART_LIMIT_BYTES for items in parts.values())
    assert sum(len(items) for items in parts.values()) == len(sizes)


@given(kilobytes=st.integers(0, 50))
def test_the_estimate_covers_the_json_and_what_comes_with_it(kilobytes: int) -> None:
    item = large(1, kilobytes) if kilobytes else item_of(record_set("r1"))
    actual = len(item.model_dump_json(by_alias=True, exclude_none=True))
    assert actual + 1000 <= size_bytes(item) <= actual + 1400


def test_a_part_of_short_records_stays_far_below_the_object_limit() -> None:
    items = [item_of(record_set(f"r{number}", f"w{number}")) for number in range(1000)]
    parts = place(items, {})
    assert len(parts) == 2
    assert max(map(len, parts.values())) < 600
