"""As much of PromQL as the chart's alerts and dashboards use: parsed strictly, and evaluated at one moment as Prometheus does.

Whatever is not used there is refused, so that a slip in an expression is a failure and never an empty answer. Increases are not
extrapolated to the edges of their range. Series that begin within a range have no increase before their second sample, as with Prometheus.
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
History = Mapping[Labels, Sequence[tuple[float, float]]]
"""Samples of every series as (second, value); the name is the label `__name__`."""

LOOK_BACK_S: Final = 300.0
UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TOKEN: Final = re.compile(
    r"""\s*(\[\$__rate_interval\]|\[\d+[smhd]\]|"[^"\\]*"|[a-zA-Z_:][\w:]*|\d+(?:\.\d+)?|[!=]~|[<>!=]=|[-+*/<>=(){},])"""
)
_MATCH: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "=~": lambda found, wanted: re.fullmatch(wanted, found) is not None,
    "!~": lambda found, wanted: re.fullmatch(wanted, found) is None,
}
_COMPARE: Final = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq}
_COMPUTE: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_AGGREGATE: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {"sum": sum, "min": min, "max": max}
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

    def matches(self, labels: Labels) -> bool:
        found = dict(labels)
        return found["__name__"] == self.name and all(
            _MATCH[sign](found.get(label, ""), wanted) for label, sign, wanted in self.matchers
        )


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


def selectors(node: Node) -> Iterator[Selector]:
    """Yield every selector within."""
    match node:
        case Selector():
            yield node
        case Call():
            for each in node.arguments:
                yield from selectors(each)
        case Operation():
            yield from selectors(node.left)
            yield from selectors(node.right)


def kept_labels(node: Node, labels_of: Callable[[str], set[str]]) -> set[str]:
    """Return the labels that results have, when series have `labels_of` their name."""
    match node:
        case Selector():
            return labels_of(node.name)
        case Number():
            return set()
        case Call(name="absent"):
            return set()
        case Call() if node.name in _AGGREGATE:
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


def evaluate(node: Node, history: History, now_s: float) -> Vector:
    """Return what an expression is at a moment; a constant has no labels."""
    match node:
        case Number():
            return {frozenset(): node.value}
        case Selector():
            return {labels: samples[-1][1] for labels, samples in _within(node, history, now_s, LOOK_BACK_S)}
        case Call():
            return _call(node, history, now_s)
        case Operation():
            return _operate(node, evaluate(node.left, history, now_s), evaluate(node.right, history, now_s))


def samples_of(exposition: str, **target: str) -> Vector:
    """Return what a scrape of this text gives, with the labels of who was scraped."""
    return {
        frozenset({"__name__": sample.name, **sample.labels, **target}.items()): sample.value
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def _within(
    node: Selector, history: History, now_s: float, range_s: float
) -> Iterator[tuple[Labels, Sequence[tuple[float, float]]]]:
    for labels, samples in history.items():
        if node.matches(labels) and (recent := [each for each in samples if now_s - range_s < each[0] <= now_s]):
            yield labels, recent


def _call(node: Call, history: History, now_s: float) -> Vector:
    last = node.arguments[-1]
    if node.name in ("rate", "increase", "min_over_time"):
        if not isinstance(last, Selector) or last.range_s is None:
            raise PromqlError(f"{node.name}: found no range, as in [5m]")
        found = _within(last, history, now_s, last.range_s)
        over = _OVER_TIME[node.name]
        known = {_nameless(labels): over(samples, last.range_s) for labels, samples in found}
        return {labels: value for labels, value in known.items() if value is not None}
    vector = evaluate(last, history, now_s)
    if node.name == "absent":
        return {} if vector else {frozenset(): 1.0}
    if node.name == "topk":
        count = evaluate(node.arguments[0], history, now_s)[frozenset()]
        return dict(sorted(vector.items(), key=lambda each: -each[1])[: int(count)])
    if node.name == "histogram_quantile":
        return _quantiles(evaluate(node.arguments[0], history, now_s)[frozenset()], vector)
    groups: dict[Labels, list[float]] = defaultdict(list)
    for labels, value in vector.items():
        groups[frozenset(each for each in labels if each[0] in node.by)].append(value)
    return {labels: _AGGREGATE[node.name](values) for labels, values in groups.items()}


def _operate(node: Operation, left: Vector, right: Vector) -> Vector:
    if node.sign == "or":
        return left | {labels: value for labels, value in right.items() if labels not in left}
    is_scalar = isinstance(node.right, Number)
    found: Vector = {}
    for labels, value in left.items():
        if isinstance(node.left, Number):
            return {key: _COMPUTE[node.sign](value, other) for key, other in right.items()}
        other = right.get(frozenset() if is_scalar else labels)
        if other is None:
            continue
        if node.sign in _COMPUTE:
            found[_nameless(labels)] = _COMPUTE[node.sign](value, other)
        elif _COMPARE[node.sign](value, other):
            found[labels] = value
    return found


def _increase(samples: Sequence[tuple[float, float]], range_s: float) -> float | None:
    if (rate := _rate(samples, range_s)) is None:
        return None
    return rate * range_s


def _rate(samples: Sequence[tuple[float, float]], _: float) -> float | None:
    if len(samples) < 2:
        return None
    values = [value for _, value in samples]
    grown = sum(after if after < before else after - before for before, after in pairwise(values))
    return grown / (samples[-1][0] - samples[0][0])


def _least(samples: Sequence[tuple[float, float]], _: float) -> float | None:
    return min(value for _, value in samples)


_OVER_TIME: Final[Mapping[str, Callable[[Sequence[tuple[float, float]], float], float | None]]] = {
    "rate": _rate,
    "increase": _increase,
    "min_over_time": _least,
}
_FUNCTIONS: Final = {*_OVER_TIME, *_AGGREGATE, "absent", "topk", "histogram_quantile"}


def _quantiles(part: float, buckets: Vector) -> Vector:
    """Return the upper bound of the bucket that the quantile lies in: a bound is as much as anybody here wants to know."""
    groups: dict[Labels, list[tuple[float, float]]] = defaultdict(list)
    for labels, value in buckets.items():
        groups[frozenset(each for each in labels if each[0] != "le")].append((float(dict(labels)["le"]), value))
    found: Vector = {}
    for labels, counts in groups.items():
        total = max(count for _, count in counts)
        found[labels] = min(bound for bound, count in counts if count >= part * total) if total else math.nan
    return found


def _nameless(labels: Labels) -> Labels:
    return frozenset(each for each in labels if each[0] != "__name__")


class _Parser:
    """Reads words from left to right; operators bind as in PromQL."""

    _LEVELS: Final = (("or",), tuple(_COMPARE), ("+", "-"), ("*", "/"))

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
                label, sign, value = self._take(), self._take(*_MATCH), self._take()
                matchers.append((label, sign, value.strip('"')))
                if self._take(",", "}") == "}":
                    break
        range_s = None
        if self._next.startswith("["):
            word = self._take()
            range_s = _RATE_INTERVAL_S if word == _RATE_INTERVAL else float(word[1:-2]) * UNITS_S[word[-2]]
        return Selector(name, tuple(matchers), range_s)
