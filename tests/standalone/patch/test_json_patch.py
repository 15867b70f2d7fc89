"""JSON patch: RFC 6902, and where kube-apiserver is more lenient."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.patch import PatchError, json_patch
from standalone.patch.json_patch import OPERATIONS_LIMIT

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=10,
)
DOCUMENTS = st.dictionaries(st.text("abc/~", min_size=1, max_size=2), JSON, max_size=4)


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        pytest.param({}, [{"op": "add", "path": "/a", "value": 1}], {"a": 1}, id="add a member (A.1)"),
        pytest.param(
            {"foo": ["bar", "baz"]},
            [{"op": "add", "path": "/foo/1", "value": "qux"}],
            {"foo": ["bar", "qux", "baz"]},
            id="add an array element (A.2)",
        ),
        pytest.param({"a": 1, "b": 2}, [{"op": "remove", "path": "/b"}], {"a": 1}, id="remove a member (A.3)"),
        pytest.param({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/1"}], {"a": [1, 3]}, id="remove an element (A.4)"),
        pytest.param({"a": 1}, [{"op": "replace", "path": "/a", "value": 2}], {"a": 2}, id="replace a value (A.5)"),
        pytest.param(
            {"a": {"x": 1}, "b": {}},
            [{"op": "move", "from": "/a/x", "path": "/b/y"}],
            {"a": {}, "b": {"y": 1}},
            id="move a value (A.6)",
        ),
        pytest.param(
            {"a": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/a/1", "path": "/a/3"}],
            {"a": ["all", "cows", "eat", "grass"]},
            id="move an array element (A.7)",
        ),
        pytest.param(
            {"a": "qux", "b": ["a", 2, "c"]},
            [{"op": "test", "path": "/a", "value": "qux"}, {"op": "test", "path": "/b/1", "value": 2}],
            {"a": "qux", "b": ["a", 2, "c"]},
            id="test a value (A.8)",
        ),
        pytest.param(
            {},
            [{"op": "add", "path": "/c", "value": {"g": {}}, "xyz": 1}],
            {"c": {"g": {}}},
            id="ignore unknown (A.11)",
        ),
        pytest.param({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}, id="A.14"),
        pytest.param({"a": ["x"]}, [{"op": "add", "path": "/a/-", "value": ["y"]}], {"a": ["x", ["y"]]}, id="A.16"),
        pytest.param({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}, id="numbers by value (4.6)"),
        pytest.param({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}, id="the whole document"),
        pytest.param(
            {"a": {"x": 1}}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": {"x": 1}, "b": {"x": 1}}, id="copy"
        ),
        pytest.param({}, [{"op": "replace", "path": "/a", "value": 1}], {"a": 1}, id="lenient: replace adds a member"),
        pytest.param({}, [{"op": "test", "path": "/a", "value": None}], {}, id="lenient: absent is null"),
        pytest.param({"a": [1, 2]}, [{"op": "remove", "path": "/a/-1"}], {"a": [1]}, id="lenient: index from the end"),
    ],
)
def test_operations(document: Any, operations: Any, result: Any) -> None:
    given_document = copy.deepcopy(document)
    assert json_patch(document, operations) == result
    assert document == given_document


@pytest.mark.parametrize(
    ("operations", "status", "said"),
    [
        ({}, 400, "a JSON patch must be a list of operations"),
        (["add"], 400, "operation 0 must be an object"),
        ([{"op": "add", "path": "/a"}], 400, "operation 0 (add) needs a value"),
        ([{"op": "add", "value": 1}], 400, "operation 0 (add) needs path"),
        ([{"op": "move", "path": "/a"}], 400, "operation 0 (move) needs from"),
        ([{"op": "spam", "path": "/a"}], 422, "Unexpected kind: spam"),
        ([{"op": "test", "path": "/a", "value": 2}], 422, "testing value /a failed: test failed"),
        ([{"op": "test", "path": "/a", "value": True}], 422, "testing value /a failed"),
        ([{"op": "remove", "path": "/b"}], 422, "Unable to remove nonexistent key: b"),
        ([{"op": "remove", "path": ""}], 422, "remove operation does not apply"),
        ([{"op": "add", "path": "/x/y", "value": 1}], 422, 'add operation does not apply: doc is missing path: "/x/y"'),
        ([{"op": "add", "path": "a", "value": 1}], 422, "doc is missing path: a"),
        ([{"op": "add", "path": "/l/5", "value": 1}], 422, "Unable to access invalid index: 5"),
        ([{"op": "replace", "path": "/l/x", "value": 1}], 422, "value was not a proper array index: 'x'"),
        ([{"op": "copy", "from": "/b", "path": "/c"}], 422, "copy operation does not apply"),
        ([{"op": "replace", "path": "", "value": 1}], 422, "the patched document must be an object"),
        ([{"op": "test", "path": "/a", "value": 1}] * (OPERATIONS_LIMIT + 1), 413, "maximum operations"),
    ],
)
def test_refusals_say_what_is_wrong(operations: Any, status: int, said: str) -> None:
    with pytest.raises(PatchError) as refused:
        json_patch({"a": 1, "l": []}, operations)
    assert refused.value.status_code == status
    assert said in refused.value.message


def test_a_failing_operation_leaves_nothing_of_those_before_it() -> None:
    document = {"a": {"b": [1]}}
    with pytest.raises(PatchError):
        json_patch(document, [{"op": "add", "path": "/a/b/0", "value": 0}, {"op": "test", "path": "/a", "value": 1}])
    assert document == {"a": {"b": [1]}}


def test_copies_cannot_blow_an_object_up() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 40
    with pytest.raises(PatchError, match="exceeding the limit"):
        json_patch({"a": ["x" * 1000]}, doubling)


def test_what_is_not_touched_is_shared_and_what_is_given_stays() -> None:
    document: dict[str, Any] = {"a": {"deep": [1]}, "b": {"x": {}}}
    value: dict[str, Any] = {"new": []}
    result = json_patch(
        document,
        [
            {"op": "add", "path": "/b/y", "value": value},
            {"op": "add", "path": "/b/y/new/-", "value": 1},
            {"op": "add", "path": "/b/y/new/-", "value": 2},
        ],
    )
    assert result == {"a": {"deep": [1]}, "b": {"x": {}, "y": {"new": [1, 2]}}}
    assert result["a"] is document["a"]
    assert result["b"]["x"] is document["b"]["x"]
    assert value == {"new": []}


@given(DOCUMENTS, DOCUMENTS)
def test_replacing_every_member_turns_one_document_into_another(left: Any, right: Any) -> None:
    operations = [{"op": "remove", "path": "/" + _escaped(name)} for name in left if name not in right]
    operations += [{"op": "add", "path": "/" + _escaped(name), "value": value} for name, value in right.items()]
    operations += [{"op": "test", "path": "", "value": right}]
    assert json_patch(left, operations) == right


@given(DOCUMENTS)
def test_adding_and_removing_is_nothing(document: Any) -> None:
    operations = [{"op": "add", "path": "/new", "value": document}, {"op": "remove", "path": "/new"}]
    before = copy.deepcopy(document)
    assert json_patch(document, operations) == {name: value for name, value in document.items() if name != "new"}
    assert document == before


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
