"""Expressions: what the checker refuses, what they give, and that what goes wrong is a value."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.core.cel.expression import Environment, Expression, Failure, Outcome, Values
from controllers.core.cel.shape import shape_of
from controllers.core.pattern import Pattern

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "note": {"type": "string", "nullable": True},
        "tags": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 40}},
        "records": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"preference": {"type": "integer"}, "exchange": {"type": "string"}},
            },
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "dashed": {"type": "object", "properties": {"a-b": {"type": "string"}, "in": {"type": "string"}}},
        "inner": {"type": "object", "properties": {"namespace": {"type": "string"}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "numbers": {"type": "array", "maxItems": 150, "items": {"type": "integer"}},
        "anything": {},
    },
}
ENVIRONMENT: Final = Environment({"self": shape_of(SCHEMA), "version": shape_of({"type": "string"})})


RECORD: Final = {"preference": 1, "exchange": "a.net"}


def compiled(text: str, outcome: Outcome = Outcome.TRUTH) -> Expression:
    found = ENVIRONMENT.compile(text, outcome)
    assert isinstance(found, Expression), found
    return found


def refused(text: str, outcome: Outcome = Outcome.TRUTH) -> str:
    found = ENVIRONMENT.compile(text, outcome)
    assert isinstance(found, Failure), text
    assert "\n" not in found.reason
    return found.reason


def admitted(value: object) -> Values:
    found = ENVIRONMENT.admit({"self": value, "version": "v1"})
    assert isinstance(found, Values), found
    return found


def given_by(text: str, value: object, outcome: Outcome = Outcome.TRUTH) -> Any:
    return compiled(text, outcome).evaluate(admitted(value))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("self.nmae == 'x'", "undefined field 'nmae'"),
        ("self.inner.nothing", "undefined field 'nothing'"),
        ("self.count == 'x'", "no matching overload"),
        ("self.name > 3", "no matching overload"),
        ("self.tags.all(t, t > 3)", "no matching overload"),
        ("self.records.all(r, r.prefrence > 3)", "undefined field 'prefrence'"),
        ("self.labels['a'] == 3", "no matching overload"),
        ("other == 'x'", "undeclared reference to 'other'"),
        ("self.name", "STRING"),
        ("self.anything", "DYN"),
        ("self.open.x", "DYN"),
        ("dyn(true)", "DYN"),
        ("1 +", "Syntax error"),
        ("", "Syntax error"),
        ("self.name.nosuch()", "undeclared reference to 'nosuch'"),
        ("isIP(self.count)", "no matching overload"),
        ("'\ud800' == self.name", "surrogate"),
        ("true\0garbage", "NUL"),
        ("true " + " " * 5000, "characters"),
    ],
)
def test_what_does_not_have_the_type_asked_for_is_refused_with_the_reason(text: str, why: str) -> None:
    assert why in refused(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [("self.inner", "map"), ("self.name", "STRING"), ("[1]", "LIST"), ("{1: 'a'}", "MAP<INT")],
)
def test_a_conversion_has_to_give_an_object(text: str, why: str) -> None:
    assert why in refused(text, Outcome.OBJECT)


@pytest.mark.parametrize(
    ("text", "value", "result"),
    [
        ("self.count > 3", {"count": 4}, True),
        ("has(self.count)", {}, False),
        ("has(self.count)", {"count": None}, False),
        ("self.ratio > 1.5", {"ratio": 2}, True),
        ("self.ratio * 2.0 == 4.0", {"ratio": 2}, True),
        ("self.on", {"on": False}, False),
        ("self.?count.orValue(7) == 7", {}, True),
        ("self.?inner.?namespace.hasValue()", {"inner": {"namespace": "a"}}, True),
        ("self.inner.namespace == 'a'", {"inner": {"namespace": "a"}}, True),
        ("self.tags.exists(t, t.startsWith('a'))", {"tags": ["b", "ac"]}, True),
        ("self.records.all(r, r.preference < 10 && r.exchange.endsWith('.net'))", {"records": [RECORD]}, True),
        ("self.labels['a-b'] == 'c' && 'x' in self.labels", {"labels": {"a-b": "c", "x": "y"}}, True),
        ("self.dashed['a-b'] == 'c'", {"dashed": {"a-b": "c"}}, True),
        ("self.open.x.y[0] == 3", {"open": {"x": {"y": [3]}}}, True),
        ("self.note == null || self.note == 'x'", {"note": "x"}, True),
        ("self.name.lowerAscii() == 'abc'", {"name": "ABC"}, True),
        ("self.name.split('.').join('-') == 'a-b'", {"name": "a.b"}, True),
        ("self.name.matches('^[a-z]+$')", {"name": "abc"}, True),
        ("self.name.matches('b') && matches(self.name, 'b') && !matches(self.name, '^b')", {"name": "abc"}, True),
        ("self.tags.all(tag, tag.matches('^é.$'))", {"tags": ["éa", "éß"]}, True),
        ("version == 'v1'", {}, True),
        ("isIP('192.0.2.1') && isIPv4('192.0.2.1') && isIPv6('2001:db8::1')", {}, True),
        ("isIP('2001:db8::1%eth0') || isIPv4('2001:db8::1') || isIPv6('192.0.2.1')", {}, False),
        ("isDNSName('a.example') && !isDNSName('A.example') && !isDNSName('192.0.2.1') && !isDNSName('')", {}, True),
    ],
)  # fmt: skip
def test_expressions_give_what_they_say(text: str, value: dict[str, Any], result: bool) -> None:
    assert given_by(text, value) is result


def test_a_conversion_gives_plain_json() -> None:
    text = "{'options': {'mode': self.on ? 'raw' : 'plain', 'tags': self.tags.map(t, t + '!')}, 'inner': self.inner}"

    result = given_by(text, {"on": True, "tags": ["a"], "inner": {"namespace": "n"}}, Outcome.OBJECT)

    assert result == {"options": {"mode": "raw", "tags": ["a!"]}, "inner": {"namespace": "n"}}


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("self.count > 3", {}, "count"),
        ("self.inner.namespace == 'a'", {}, "inner"),
        ("1 / self.count == 1", {"count": 0}, "divide by zero"),
        ("self.count + 1 > 0", {"count": 2**63 - 1}, "overflow"),
        ("self.tags[3] == 'a'", {"tags": []}, "index"),
        ("self.count > 3", {"count": "x"}, "overload"),
        ("int(self.name) > 3", {"name": "x"}, "cannot convert"),
        ("self.open.x.matches('a')", {"open": {"x": 1}}, "(int64).matches(string)"),
        ("self.numbers.all(a, self.numbers.all(b, a <= b || true))", {"numbers": [1] * 150}, "budget"),
    ],
)  # fmt: skip
def test_what_fails_at_run_time_is_a_failure_and_no_exception(text: str, value: dict[str, Any], why: str) -> None:
    result = given_by(text, value)

    assert isinstance(result, Failure)
    assert why.lower() in result.reason.lower()
    assert "\n" not in result.reason


def test_a_pattern_is_compiled_once_however_often_it_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = compiled("self.tags.all(tag, tag.matches('^[a-z]{1,37}:.{0,41}$'))")
    made: list[str] = []
    make = Pattern.__init__

    def note(pattern: Pattern, text: str) -> None:
        made.append(text)
        make(pattern, text)

    monkeypatch.setattr(Pattern, "__init__", note)

    for number in range(5):
        assert expression.evaluate(admitted({"tags": [f"a:{number}", f"b:{number}"]})) is True

    assert made == ["^[a-z]{1,37}:.{0,41}$"]


@pytest.mark.parametrize("text", ["_matches(self.name, 'a')", "self.name._matches('a')"])
def test_what_matches_is_evaluated_by_cannot_be_called(text: str) -> None:
    assert "undeclared reference to '_matches'" in refused(text)


def test_fields_that_no_schema_describes_are_not_there() -> None:
    assert given_by("dyn(self).size() == 1", {"name": "x", "other": 1}) is True


@pytest.mark.parametrize("text", ["a\0b", "\0"])
def test_a_nul_character_cannot_hide_what_stands_behind_it(text: str) -> None:
    for value in ({"name": text}, {"labels": {text: "x"}}, {"tags": [text]}, {"anything": {"x": text}}):
        assert isinstance(ENVIRONMENT.admit({"self": value, "version": "v1"}), Failure)


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
records = st.fixed_dictionaries(
    {},
    optional={
        "name": TEXTS,
        "count": st.integers(-5, 5),
        "on": st.booleans(),
        "tags": st.lists(TEXTS, max_size=6),
        "records": st.lists(
            st.fixed_dictionaries({"preference": st.integers(0, 3), "exchange": st.sampled_from(["a", "b"])}),
            max_size=4,
        ),
    },
)
AGREEING: Final[dict[str, Any]] = {
    "!has(self.count) || self.count >= 0": lambda v: "count" not in v or v["count"] >= 0,
    "self.?name.orValue('').size() <= 3": lambda v: len(v.get("name", "")) <= 3,
    "!has(self.tags) || self.tags.all(t, self.tags.exists_one(u, u == t))": lambda v: (
        len(set(v.get("tags", ()))) == len(v.get("tags", ()))
    ),
    "!has(self.records) || self.records.filter(r, r.preference > 1).size() == 0": lambda v: (
        not any(r["preference"] > 1 for r in v.get("records", ()))
    ),
    "!has(self.records) || self.records.map(r, string(r.preference) + r.exchange).exists(x, x == '0a')": lambda v: (
        "records" not in v or {"preference": 0, "exchange": "a"} in v["records"]
    ),
    "(!has(self.on) || self.on) && (!has(self.name) || self.name.contains('a'))": lambda v: (
        v.get("on", True) and ("name" not in v or "a" in v["name"])
    ),
}


@settings(deadline=None)
@given(text=st.sampled_from(list(AGREEING)), value=records)
def test_expressions_agree_with_the_same_rule_in_python(text: str, value: dict[str, Any]) -> None:
    assert given_by(text, value) is AGREEING[text](value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(value=json_values)
def test_no_input_is_a_crash(value: Any) -> None:
    found = ENVIRONMENT.admit(
        {"self": {"anything": value, "name": value, "tags": value, "records": value}, "version": value}
    )

    if isinstance(found, Values):
        compiled("self.anything == self.anything || has(self.tags)").evaluate(found)
