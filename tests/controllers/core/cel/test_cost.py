"""The estimate of what an expression costs: hostile ones are refused, those that schemas bound are not."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

import pytest

from controllers.core.cel.cost import LIMIT_STEPS
from controllers.core.cel.expression import Environment, Expression, Failure, Outcome, Values
from controllers.core.cel.shape import INPUT_LIMIT_OCTETS, ITEM_LIMIT, TEXT_LIMIT_OCTETS, shape_of

TEXT: Final = {"type": "string"}


def environment(**properties: Any) -> Environment:
    return Environment({"self": shape_of({"type": "object", "properties": properties})})


OPEN: Final = environment(
    text=TEXT,
    texts={"type": "array", "items": TEXT},
    labels={"type": "object", "additionalProperties": TEXT},
    things={
        "type": "array",
        "items": {"type": "object", "properties": {"a": TEXT, "b": TEXT, "n": {"type": "integer"}}},
    },
    few={"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 100}},
    any={},
)


def verdict(text: str, where: Environment = OPEN) -> Expression | Failure:
    return where.compile(text, Outcome.TRUTH)


def grown(times: int, depth: int, source: str) -> str:
    inner = f"x{depth}.size() > 0"
    for level in range(depth, 0, -1):
        inner = f"[{' + '.join([f'x{level - 1}'] * times)}].all(x{level}, {inner})"
    return inner.replace("x0", source)


HOSTILE: Final = {
    "two loops": "self.texts.all(a, self.texts.all(b, a != b || true))",
    "three loops over a short list": "self.few.all(a, self.few.all(b, self.few.all(c, self.few.all(d, a + b != c + d))))",
    "a loop over a loop's result": "self.texts.map(a, self.texts.map(b, b)).all(c, c.all(d, d == 'x'))",
    "texts in each other": "self.texts.all(a, self.texts.exists(b, a.contains(b)))",
    "a long text in each text": "self.texts.all(a, a.contains(self.text))",
    "membership in each": "self.texts.all(a, a in self.texts)",
    "splitting into characters": "self.text.split('').map(c, c + c).size() > 0",
    "splitting twice": "self.text.split('').all(c, self.text.split('').all(d, c != d || true))",
    "replacing the empty text": "self.text.replace('', self.text).replace('', self.text).size() > 0",
    "doubling a text": grown(8, 8, "self.text"),
    "doubling a list": grown(8, 6, "self.texts"),
    "doubling labels": "self.labels.all(a, self.labels.all(b, self.labels[a] == self.labels[b]))",
    "a pattern from a value": "self.text.matches(self.text)",
    "a pattern put together": "self.text.matches('a' + 'b')",
    "a heavy pattern everywhere": "self.texts.all(a, a.matches('(a?){100}b'))",
    "a pattern that RE2 refuses": "self.text.matches('(?=a)')",
    "a pattern past the bound": "self.text.matches('" + "a" * 600 + "')",
    "anything in anything": "self.any.all(a, self.any.all(b, a == b))",
    "formatting": "'%s'.format([self.text]) == ''",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_expression_that_could_take_long_is_refused(text: str) -> None:
    assert isinstance(verdict(text), Failure)


HARMLESS: Final = {
    "a loop": "self.texts.all(a, a.size() < 10)",
    "a loop with a pattern": "self.texts.all(a, a.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'))",
    "a larger pattern on short texts": "self.few.all(a, a.matches('^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'))",
    "a loop over objects": "self.things.all(t, t.a.matches('^[a-z]+$') && t.n > 0)",
    "addresses": "self.texts.all(a, isIP(a) || isDNSName(a))",
    "each once in a short list": "self.few.all(a, self.few.exists_one(b, a.lowerAscii() == b.lowerAscii()))",
    "pairs in a short list": "self.few.all(a, self.few.all(b, a == b || !a.startsWith(b)))",
    "a list made anew": "self.texts.map(a, a.lowerAscii()).size() > 0",
    "labels": "self.labels.all(k, self.labels[k] != '')",
    "choices": "self.text in ['A', 'AAAA', 'CNAME'] && self.texts.size() <= 100",
    "joining": "self.texts.join(',').size() < 4096",
    "anything": "self.any == self.any",
    "an optional value": "self.?few.optMap(f, f.size() < 3).orValue(true)",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_an_expression_that_schemas_bound_is_admitted(text: str) -> None:
    found = verdict(text)

    assert isinstance(found, Expression), found
    assert found.steps <= LIMIT_STEPS


def test_the_estimate_itself_is_bounded() -> None:
    """What nesting costs an estimate doubles with each loop; past the bound an expression is refused unseen."""
    deep = verdict(grown(2, 10, "self.text"))

    assert isinstance(deep, Failure)
    assert "nested" in deep.reason


def test_bounds_in_a_schema_make_an_expression_affordable() -> None:
    text = "self.l.all(a, self.l.exists_one(b, a == b))"

    assert isinstance(verdict(text, environment(l={"type": "array", "items": TEXT})), Failure)
    bounded = environment(l={"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 60}})
    assert isinstance(verdict(text, bounded), Expression)


def test_an_estimate_grows_with_what_the_schema_allows_and_is_always_the_same() -> None:
    def steps(items: int, characters: int) -> int:
        items_schema = {"type": "array", "maxItems": items, "items": {"type": "string", "maxLength": characters}}
        found = verdict("self.l.all(a, self.l.exists(b, a != b))", environment(l=items_schema))
        assert isinstance(found, Expression)
        return found.steps

    assert steps(10, 10) == steps(10, 10)
    assert steps(10, 10) < steps(20, 10) < steps(40, 10)
    assert steps(10, 10) < steps(10, 100)


@pytest.mark.parametrize(
    "value",
    [
        {"texts": ["a" * TEXT_LIMIT_OCTETS] * (INPUT_LIMIT_OCTETS // (TEXT_LIMIT_OCTETS + 200))},
        {"texts": ["a" * 400] * ITEM_LIMIT},
        {"things": [{"a": "a" * 200, "b": "b" * 100, "n": 1}] * ITEM_LIMIT},
        {"labels": {f"k{index}": "v" * 300 for index in range(ITEM_LIMIT)}},
        {"any": [{"a": ["x" * 100]}] * ITEM_LIMIT, "text": "a" * TEXT_LIMIT_OCTETS},
        {"few": ["a" * 400] * 20},
    ],
    ids=["long texts", "many texts", "objects", "labels", "anything", "a full short list"],
)
def test_the_largest_inputs_are_answered_within_a_bounded_number_of_calls(value: dict[str, Any]) -> None:
    admitted = OPEN.admit({"self": value})
    assert isinstance(admitted, Values)
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        for text in HARMLESS.values():
            found = verdict(text)
            assert isinstance(found, Expression)
            found.evaluate(admitted)
    finally:
        sys.setprofile(None)

    assert calls < 200_000


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"text": "a" * (TEXT_LIMIT_OCTETS + 1)}, "octets"),
        ({"text": "é" * TEXT_LIMIT_OCTETS}, "octets"),
        ({"texts": ["a"] * (ITEM_LIMIT + 1)}, "items"),
        ({"few": ["a"] * 21}, "items"),
        ({"few": ["a" * 401]}, "octets"),
        ({"texts": ["a" * 4000] * 200}, "octets"),
        ({"any": {f"k{index}": 1 for index in range(ITEM_LIMIT + 1)}}, "items"),
        ({"text": "\ud800"}, "surrogate"),
        ({"any": 2**64}, "64 bits"),
        ({"any": float("nan")}, "finite"),
        ({"any": {1: 2}, "text": b"x"}, "JSON"),
    ],
)
def test_input_past_the_bounds_of_the_estimate_is_not_read(value: dict[str, Any], why: str) -> None:
    found = OPEN.admit({"self": value})

    assert isinstance(found, Failure)
    assert why in found.reason
    assert found.reason.startswith(("self.", "everything up to self."))


def test_input_that_is_nested_too_deep_is_not_read() -> None:
    value: Any = "x"
    for _ in range(40):
        value = [value]

    found = OPEN.admit({"self": {"any": value}})

    assert isinstance(found, Failure)
    assert "deep" in found.reason
