"""What the text of a rule says about what it needs."""

from __future__ import annotations

from typing import Any

import pytest

from standalone.schema.cel.source import (
    ANY_BYTES,
    PRESENCE,
    Uses,
    paths_of,
    quick_bytes,
    rewritten,
    unchanged_paths,
    uses_of,
)


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("self.a.b == 1", [("a", "b")]),
        ("self.a.size() > 1", [("a",)]),
        ("self.size() > 1", [()]),
        ("self == oldSelf", [()]),
        ("has(self.a) && self.b[0].c == 1", [("a", "has()"), ("b",)]),
        ("!has( self.a.b )", [("a", "b", "has()")]),
        ("'self.x' == self.y", [("y",)]),
        ("self.a ? self.b : self.c", [("a",), ("b",), ("c",)]),
        ("self.?a.b", [("a", "b")]),
        ("self.?a.?b.orValue(1)", [("a", "b")]),
        ("x.self.a", []),
        ("// self.a\n self.b", [("b",)]),
        (r"self.a.matches(r'\d\'self.b')", [("a",)]),
        ("self . a . b", [("a", "b")]),
    ],
)
def test_paths_after_a_variable(expression: str, paths: Any) -> None:
    assert paths_of(expression, "self") == paths


def test_uses_join_paths_and_stop_at_what_is_used_whole() -> None:
    used = uses_of(["self.a.b == self.a.c", "self.d == 1"], "self")
    assert used is not None
    assert used.members is not None
    assert set(used.members) == {"a", "d"}
    assert used.members["a"].members == {"b": Uses(None), "c": Uses(None)}
    whole = uses_of(["self.a.b == 1 && self.a == x"], "self")
    assert whole is not None
    assert whole.members == {"a": Uses(None)}
    assert uses_of(["1 == 1"], "self") is None


def test_presence_alone_is_less_than_the_value() -> None:
    assert uses_of(["has(self.a.b)"], "self") == Uses({"a": Uses({"b": PRESENCE})})
    assert uses_of(["has(self.a.b) && self.a.b.c == 1"], "self") == Uses({"a": Uses({"b": Uses({"c": Uses(None)})})})
    assert uses_of(["!has(self.a) || self.a == 1"], "self") == Uses({"a": Uses(None)})


def test_only_member_calls_are_renamed() -> None:
    assert rewritten("self.s.indexOf('indexOf(') == replace") == "self.s.indexOf_('indexOf(') == replace"


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        ("self == oldSelf", [()]),
        ("self.a.b == oldSelf.a.b", [("a", "b")]),
        ("oldSelf.a == self.a && self.b == oldSelf.b", [("a",), ("b",)]),
        ("has(self.a) == has(oldSelf.a)", [()]),
        ("has(self.a.b) == has( oldSelf.a.b ) && self == oldSelf", [("a",), ()]),
        ("has(self.a) == oldSelf.a", None),
        ("has(self) == has(oldSelf)", None),
        ("self.a == oldSelf.b", None),
        ("self.a >= oldSelf.a", None),
        ("self.a == oldSelf.a || true", None),
        ("self.a == 1", None),
    ],
)
def test_rules_that_only_compare_with_old_values_are_recognised(rule: str, paths: Any) -> None:
    assert unchanged_paths(rule) == paths


@pytest.mark.parametrize(
    ("expression", "quick"),
    [
        ("self.a == 'x.all(y, z)'", ANY_BYTES),
        ("self.all.map == 1", ANY_BYTES),
        ("self.a.all(x, x)", 1_008),
        ("self.a . // why\n all (x, x)", 997),
        (f"self.a == '{'x' * 600}'", 412),
        (f"self.a == '{'x' * 1_200}'", 0),
        ("self.a.all(x, self.a.exists(y, x == y))", 985),
        ("[self.t + self.t].all(a, [a + a].all(b, [b + b].all(c, c != '')))", 0),
        ("cel.bind(a, self.t + self.t, cel.bind(b, a + a, cel.bind(c, b + b, c != '')))", 0),
        ("optional.of(self.t).optMap(a, a + a).optMap(a, a + a).optMap(a, a + a).hasValue()", 0),
    ],
)
def test_over_how_large_objects_an_expression_is_quick(expression: str, quick: int) -> None:
    assert quick_bytes(expression) == quick
