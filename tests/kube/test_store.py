from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.object import ObjectKey
from kube.store import Change, Entry, Store, Version

Value = tuple[str, int]
NAMES = st.sampled_from("abcd")
VALUES = st.tuples(st.sampled_from("xyz"), st.integers(0, 3))
PUT = st.tuples(st.just("put"), NAMES, VALUES)
REMOVE = st.tuples(st.just("remove"), NAMES, st.none())
REPLACE = st.tuples(st.just("replace"), st.dictionaries(NAMES, st.one_of(st.none(), VALUES)), st.none())


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def store() -> Store[Value]:
    empty: Store[Value] = Store()
    empty.add_index("letter", lambda value: [value[0], value[0]])
    empty.add_index("numbers", lambda value: range(value[1]))
    return empty


def entry(of: Store[Value], value: Value) -> Entry[Value]:
    return of.entry(value, Version("uid", f"{value[0]}{value[1]}"))


def check(found: Store[Value], model: dict[ObjectKey, Value]) -> None:
    assert dict(found.items()) == model
    assert len(found) == len(model)
    for letter in "xyz":
        assert sorted(found.keys_by_index("letter", letter)) == sorted(k for k, v in model.items() if v[0] == letter)
    for number in range(4):
        assert sorted(found.by_index("numbers", number)) == sorted(v for v in model.values() if number < v[1])


@given(st.lists(st.one_of(PUT, REMOVE, REPLACE), max_size=20))
def test_store_and_indexes_agree_with_a_plain_dictionary(steps: list[tuple[str, object, Value | None]]) -> None:
    found = store()
    model: dict[ObjectKey, Value] = {}
    for step, what, value in steps:
        if step == "put" and isinstance(what, str) and value is not None:
            assert found.put(key(what), entry(found, value)) == Change(key(what), model.get(key(what)), value)
            model[key(what)] = value
        elif step == "remove" and isinstance(what, str):
            old = model.pop(key(what), None)
            assert found.remove(key(what)) == (None if old is None else Change(key(what), old, None))
        elif isinstance(what, dict):
            listing = {key(name): None if new is None else entry(found, new) for name, new in what.items()}
            changes = found.replace(listing)
            after = {k: v for k, v in model.items() if k in listing}
            after |= {key(name): new for name, new in what.items() if new is not None}
            differing = [k for k in model.keys() | after.keys() if model.get(k) != after.get(k)]
            assert sorted(change.key for change in changes) == sorted(differing)
            assert all(change == Change(change.key, model.get(change.key), after.get(change.key)) for change in changes)
            model = after
        check(found, model)


def test_the_same_number_with_another_uid_is_another_object() -> None:
    found = store()
    found.put(key("a"), found.entry(("x", 1), Version("old", "5")))
    changes = found.replace({key("a"): found.entry(("y", 1), Version("new", "5"))})
    assert changes == [Change(key("a"), ("x", 1), ("y", 1))]


def test_indexes_come_before_objects() -> None:
    found = store()
    with pytest.raises(ValueError, match="exists already"):
        found.add_index("letter", lambda value: [value])
    found.put(key("a"), entry(found, ("x", 1)))
    with pytest.raises(ValueError, match="before the first object"):
        found.add_index("other", lambda value: [value])


def test_a_failing_index_function_leaves_the_store_as_it_was() -> None:
    found = store()
    found.put(key("a"), entry(found, ("x", 1)))
    with pytest.raises(TypeError):
        found.entry(("x", "not a number"), Version("", "2"))  # type: ignore[arg-type]  # a broken value on purpose
    check(found, {key("a"): ("x", 1)})
