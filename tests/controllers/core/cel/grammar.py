"""Expressions that type-check, made at random from what both engines have, and values for what they read."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "count": {"type": "integer"},
        "on": {"type": "boolean"},
        "ratio": {"type": "number"},
        "tags": {"type": "array", "maxItems": 6, "items": {"type": "string", "maxLength": 40}},
        "numbers": {"type": "array", "maxItems": 6, "items": {"type": "integer"}},
        "labels": {"type": "object", "maxProperties": 6, "additionalProperties": {"type": "string", "maxLength": 40}},
        "inner": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 40}}},
    },
}

_TEXTS: Final = ("", "a", "b", "ab", "aé", "x.y", "192.0.2.1", "2001:db8::1", "A", "a b")
_NUMBERS: Final = (-7, -1, 0, 1, 2, 3, 10, 2**31)
_PATTERNS: Final = ("a", "^a", "b$", "^[a-z]*$", "x[.]y", "(a|b)+", "")
_FIELDS: Final = tuple(SCHEMA["properties"])

_texts, _numbers = st.sampled_from(_TEXTS), st.sampled_from(_NUMBERS)
values: Final = st.fixed_dictionaries(
    {},
    optional={
        "name": _texts,
        "count": _numbers,
        "on": st.booleans(),
        "ratio": st.sampled_from((-1.5, 0.0, 0.5, 2.0)),
        "tags": st.lists(_texts, max_size=4),
        "numbers": st.lists(_numbers, max_size=4),
        "labels": st.dictionaries(_texts, _texts, max_size=3),
        "inner": st.fixed_dictionaries({}, optional={"name": _texts}),
    },
)


def _quoted(text: str) -> str:
    return f"'{text}'"


def _infix(operators: tuple[str, ...], one: st.SearchStrategy[str], other: st.SearchStrategy[str]) -> Any:
    return st.builds("({} {} {})".format, one, st.sampled_from(operators), other)


def _choice(truth: st.SearchStrategy[str], each: st.SearchStrategy[str]) -> Any:
    return st.builds("({} ? {} : {})".format, truth, each, each)


def expressions(depth: int = 3) -> st.SearchStrategy[str]:
    """Expressions of static type bool."""
    return _truth(depth, ())


def _text(depth: int, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    leaves = st.one_of(
        _texts.map(_quoted), st.sampled_from(("self.name", "self.inner.name", "self.labels['a']", *names))
    )
    if not depth:
        return leaves
    below = _text(depth - 1, names)
    return st.one_of(leaves, _infix(("+",), below, below), _choice(_truth(depth - 1, names), below))


def _number(depth: int, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    leaves = st.one_of(
        _numbers.map(str), st.sampled_from(("self.count", "size(self.tags)", "size(self.labels)", "self.numbers[0]"))
    )
    if not depth:
        return leaves
    below = _number(depth - 1, names)
    return st.one_of(
        leaves,
        _infix(("+", "-", "*", "/", "%"), below, below),
        _text(depth - 1, names).map("size({})".format),
        _texts_list(depth - 1, names).map("size({})".format),
        _choice(_truth(depth - 1, names), below),
        below.map("(-{})".format),
    )


def _texts_list(depth: int, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    leaves = st.one_of(
        st.just("self.tags"),
        st.lists(_texts.map(_quoted), min_size=1, max_size=3).map(lambda each: f"[{', '.join(each)}]"),
    )
    if not depth:
        return leaves
    below, name = _texts_list(depth - 1, names), f"t{depth}"
    return st.one_of(
        leaves,
        st.builds(f"{{}}.filter({name}, {{}})".format, below, _truth(depth - 1, (*names, name))),
        st.builds(f"{{}}.map({name}, {{}})".format, below, _text(depth - 1, (*names, name))),
        _infix(("+",), below, below),
    )


def _truth(depth: int, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    leaves = st.one_of(
        st.sampled_from(("true", "false", "self.on", "self.ratio > 0.5", "self.ratio * 2.0 == 4.0")),
        st.sampled_from(_FIELDS).map("has(self.{})".format),
        _text(0, names).map("isIP({})".format),
    )
    if not depth:
        return leaves
    below, text, number = _truth(depth - 1, names), _text(depth - 1, names), _number(depth - 1, names)
    name = f"e{depth}"
    return st.one_of(
        leaves,
        _infix(("&&", "||"), below, below),
        below.map("!({})".format),
        _infix(("==", "!=", "<", "<=", ">", ">="), number, number),
        _infix(("==", "!=", "<", ">"), text, text),
        _infix(("in",), text, _texts_list(depth - 1, names)),
        _infix(("in",), text, st.just("self.labels")),
        st.builds("{}.{}({})".format, _text(0, names), st.sampled_from(("startsWith", "endsWith", "contains")), text),
        st.builds("{}.matches('{}')".format, text, st.sampled_from(_PATTERNS)),
        _choice(below, below),
        st.builds(
            f"{{}}.{{}}({name}, {{}})".format,
            _texts_list(depth - 1, names),
            st.sampled_from(("all", "exists", "exists_one")),
            _truth(depth - 1, (*names, name)),
        ),
    )
