"""What an expression is at one moment, as Prometheus would have it of the same samples.

Increases are not extrapolated to the edges of their range. Series that begin within a range have no increase before their second sample,
as with Prometheus.
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from tests.helm.promql import OVER_TIME, Call, Node, Number, Operation, PromqlError, Selector

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
History = Mapping[Labels, Sequence[tuple[float, float]]]
"""Samples of every series as (second, value); the name is the label `__name__`."""

LOOK_BACK_S: Final = 300.0
_MATCH: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "=~": lambda found, wanted: re.fullmatch(wanted, found) is not None,
    "!~": lambda found, wanted: re.fullmatch(wanted, found) is None,
}
_COMPARE: Final = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq}
_COMPUTE: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_AGGREGATE: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {"sum": sum, "min": min, "max": max}


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


def _matches(node: Selector, labels: Labels) -> bool:
    found = dict(labels)
    return found["__name__"] == node.name and all(
        _MATCH[sign](found.get(label, ""), wanted) for label, sign, wanted in node.matchers
    )


def _within(
    node: Selector, history: History, now_s: float, range_s: float
) -> Iterator[tuple[Labels, Sequence[tuple[float, float]]]]:
    for labels, samples in history.items():
        if _matches(node, labels) and (recent := [each for each in samples if now_s - range_s < each[0] <= now_s]):
            yield labels, recent


def _call(node: Call, history: History, now_s: float) -> Vector:
    last = node.arguments[-1]
    if node.name in OVER_TIME:
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
    if isinstance(node.left, Number):
        return {labels: _COMPUTE[node.sign](node.left.value, value) for labels, value in right.items()}
    if isinstance(node.right, Number):
        right = dict.fromkeys(left, node.right.value)
    both = {labels: (value, right[labels]) for labels, value in left.items() if labels in right}
    if node.sign in _COMPUTE:
        return {_nameless(labels): _COMPUTE[node.sign](*values) for labels, values in both.items()}
    return {labels: values[0] for labels, values in both.items() if _COMPARE[node.sign](*values)}


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
