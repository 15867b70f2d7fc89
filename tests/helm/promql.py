"""As much of PromQL as the chart's alerts and dashboards use, parsed strictly; what it comes to is `promql_value`'s.

Whatever is not used there is refused, so that a slip in an expression is a failure and never an empty answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TOKEN: Final = re.compile(
    r"""\s*(\[\$__rate_interval\]|\[\d+[smhd]\]|"[^"\\]*"|[a-zA-Z_:][\w:]*|\d+(?:\.\d+)?|[!=]~|[<>!=]=|[-+*/<>=(){},])"""
)
_SIGNS: Final = ("=", "!=", "=~", "!~")
_COMPARISONS: Final = ("<", ">", "<=", ">=", "==")
AGGREGATIONS: Final = ("sum", "min", "max")
OVER_TIME: Final = ("rate", "increase", "min_over_time")
_FUNCTIONS: Final = (*OVER_TIME, *AGGREGATIONS, "absent", "topk", "histogram_quantile")
_RATE_INTERVAL: Final = "[$__rate_interval]"
_RATE_INTERVAL_S: Final = 300.0


class PromqlError(Exception):
    """The expression is not one, or more than is understood here."""


@dataclass(frozen=True, slots=True)
class Selector:
    """The series that are asked for, with their present value or those of a range."""

    name: str
    matchers: tuple[tuple[str, str, str], ...]
    range_s: float | None


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an aggregation; `by` are the labels that an aggregation keeps."""

    name: str
    arguments: tuple[Node, ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """Two sides and what is between them."""

    sign: str
    left: Node
    right: Node


Node = Selector | Number | Call | Operation


def parse(text: str) -> Node:
    """Raises PromqlError."""
    words, place = [], 0
    while text[place:].strip():
        if (found := _TOKEN.match(text, place)) is None:
            raise PromqlError(f"{text}: found {text[place : place + 10]!r} at {place}")
        words.append(found[1])
        place = found.end()
    parser = _Parser(words, text)
    node = parser.operation(0)
    parser.end()
    return node


def kept_labels(node: Node, labels_of: Callable[[str], set[str]]) -> set[str]:
    """Return the labels that results have, when series have `labels_of` their name."""
    match node:
        case Selector():
            return labels_of(node.name)
        case Number():
            return set()
        case Call(name="absent"):
            return set()
        case Call() if node.name in AGGREGATIONS:
            return set(node.by)
        case Call(name="histogram_quantile"):
            return kept_labels(node.arguments[-1], labels_of) - {"le"}
        case Call():
            return kept_labels(node.arguments[-1], labels_of)
        case Operation():
            return kept_labels(node.left, labels_of) or kept_labels(node.right, labels_of)


def missing_labels(node: Node, labels_of: Callable[[str], set[str]]) -> set[str]:
    """Return the labels that are asked for where nothing has them: in matchers, and in what aggregations keep."""
    match node:
        case Selector():
            return {label for label, _, _ in node.matchers} - labels_of(node.name)
        case Call():
            within = set().union(*(missing_labels(each, labels_of) for each in node.arguments))
            return within | (set(node.by) - kept_labels(node.arguments[-1], labels_of))
        case Operation():
            return missing_labels(node.left, labels_of) | missing_labels(node.right, labels_of)
        case Number():
            return set()


class _Parser:
    """Reads words from left to right; operators bind as in PromQL."""

    _LEVELS: Final = (("or",), _COMPARISONS, ("+", "-"), ("*", "/"))

    def __init__(self, words: Iterable[str], text: str) -> None:
        self._words = list(words)
        self._text = text

    def operation(self, level: int) -> Node:
        if level == len(self._LEVELS):
            return self._term()
        left = self.operation(level + 1)
        while self._next in self._LEVELS[level]:
            sign = self._take()
            left = Operation(sign, left, self.operation(level + 1))
        return left

    def end(self) -> None:
        if self._words:
            raise PromqlError(f"{self._text}: found {self._next!r} after its end")

    @property
    def _next(self) -> str:
        return self._words[0] if self._words else ""

    def _take(self, *allowed: str) -> str:
        if not self._words or (allowed and self._next not in allowed):
            raise PromqlError(f"{self._text}: found {self._next!r}, allowed: {' '.join(allowed) or 'more'}")
        return self._words.pop(0)

    def _term(self) -> Node:
        word = self._take()
        if word == "(":
            node = self.operation(0)
            self._take(")")
            return node
        if word[0].isdigit():
            return Number(float(word))
        if self._next in ("(", "by"):
            return self._function(word)
        return self._selector(word)

    def _function(self, name: str) -> Call:
        if name not in _FUNCTIONS:
            raise PromqlError(f"{self._text}: found {name}, allowed: {' '.join(sorted(_FUNCTIONS))}")
        by = []
        if self._next == "by":
            self._take()
            self._take("(")
            while self._next != ")":
                by.append(self._take())
                if self._take(",", ")") == ")":
                    break
        self._take("(")
        arguments = [self.operation(0)]
        while self._take(",", ")") == ",":
            arguments.append(self.operation(0))
        return Call(name, tuple(arguments), tuple(by))

    def _selector(self, name: str) -> Selector:
        if re.fullmatch(r"[a-zA-Z_:][\w:]*", name) is None:
            raise PromqlError(f"{self._text}: found {name!r}, allowed: the name of a series")
        matchers = []
        if self._next == "{":
            self._take()
            while True:
                label, sign, value = self._take(), self._take(*_SIGNS), self._take()
                matchers.append((label, sign, value.strip('"')))
                if self._take(",", "}") == "}":
                    break
        range_s = None
        if self._next.startswith("["):
            word = self._take()
            range_s = _RATE_INTERVAL_S if word == _RATE_INTERVAL else float(word[1:-2]) * UNITS_S[word[-2]]
        return Selector(name, tuple(matchers), range_s)
