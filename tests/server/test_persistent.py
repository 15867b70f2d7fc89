"""Versions of a mapping that share what they have in common."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from server.zone.persistent import Persistent

ENTRIES = st.dictionaries(st.integers(0, 300), st.integers())
EDITS = st.lists(st.tuples(st.integers(0, 300), st.none() | st.integers()), max_size=60)


@given(ENTRIES, st.lists(EDITS, max_size=5))
def test_each_version_is_what_a_dict_would_be_and_stays_so(
    first: dict[int, int], versions: list[list[tuple[int, int | None]]]
) -> None:
    expected = [dict(first)]
    found = [Persistent.of(first)]
    for edits in versions:
        plain, later = dict(expected[-1]), found[-1].edit()
        for key, value in edits:
            if value is None:
                assert later.pop(key, None) == plain.pop(key, None)
            else:
                plain[key] = later[key] = value
            assert (len(later), key in later) == (len(plain), key in plain)
        expected.append(plain)
        found.append(later.finish())
    for plain, mapping in zip(expected, found, strict=True):
        assert mapping == plain
        assert len(mapping) == len(plain)
        assert all(mapping.get(key) == plain.get(key) and (key in mapping) == (key in plain) for key in range(301))


def test_a_mapping_that_grows_is_divided_up_anew() -> None:
    mapping = Persistent[int, int].sized(0)
    for start in range(0, 20_000, 500):
        later = mapping.edit()
        later.update((number, number) for number in range(start, start + 500))
        mapping = later.finish()
    assert mapping == {number: number for number in range(20_000)}
    assert len(mapping.pages) > len(Persistent[int, int].sized(0).pages)


def test_an_edit_takes_about_as_long_in_a_large_mapping() -> None:
    small, large = (Persistent.of({number: number for number in range(size)}) for size in (1_000, 200_000))

    def took_s(mapping: Persistent[int, int]) -> float:
        started = time.perf_counter()
        for number in range(50):
            later = mapping.edit()
            later[number * 7] = -1
            mapping = later.finish()
        return time.perf_counter() - started

    assert min(took_s(large) for _ in range(3)) < 40 * min(took_s(small) for _ in range(3))
