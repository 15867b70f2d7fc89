"""What an expression can cost at most, estimated from its syntax and the sizes of what it reads.

Steps stand for nanoseconds on a slow machine, rounded up; they are counted, never measured, so that the same expression is
always admitted or always refused. Never evaluates anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from controllers.core.cel.bound import LEAF_OCTETS, SCALAR, Bound, either, text_bound, together
from controllers.core.cel.syntax import Call, Literal, Loop, Name, Node, Select, Sequence
from controllers.core.pattern import Pattern, PatternError

LIMIT_STEPS: Final = 250_000_000
LOOP_LIMIT: Final = 10_000
"""Iterations after which the engine itself gives an evaluation up."""

VISIT_LIMIT: Final = 5_000
"""Nodes that one estimate looks at, repeated ones counted again."""

_NODE: Final = 150
_CALL_INTO_PYTHON: Final = 3_000
_NUMBER_OCTETS: Final = 32
_PATTERN: Final = 5_000
_INSTRUCTION: Final = 400


class CostError(ValueError):
    """An expression whose cost has no acceptable bound; the text says why."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Steps of an evaluation, and how large its result may be."""

    steps: int
    result: Bound


Scope = Mapping[str, Bound]
Charge = Callable[[list[Bound]], Estimate]


def estimate(node: Node, scope: Scope) -> Estimate:
    """Return what evaluating a checked expression costs at most; `scope` bounds its variables. Raises CostError."""
    found = _Estimator().visit(node, scope)
    reading = sum(each.weight for each in scope.values()) * 2
    return Estimate(found.steps + reading, found.result)


class _Estimator:
    """One walk over an expression; what a loop repeats is walked several times, so the walk is bounded as well."""

    def __init__(self) -> None:
        self._left = VISIT_LIMIT

    def visit(self, node: Node, scope: Scope) -> Estimate:
        self._left -= 1
        if self._left < 0:
            raise CostError("its loops are nested too deeply to estimate what they cost")
        match node:
            case Literal():
                return Estimate(_NODE, SCALAR if node.text is None else text_bound(len(node.text.encode())))
            case Name():
                return Estimate(_NODE, scope.get(node.name, SCALAR))
            case Select():
                operand = self.visit(node.operand, scope)
                return Estimate(operand.steps + _NODE, SCALAR if node.presence else operand.result.select(node.field))
            case Sequence():
                return self._sequence(node, scope)
            case Call():
                return self._matches(node, scope) if node.function == "matches" else self._call(node, scope)
            case Loop():
                return self._loop(node, scope)

    def _sequence(self, node: Sequence, scope: Scope) -> Estimate:
        if node.message:
            raise CostError(f"it makes a message of type {node.message}; write a map")
        parts = [self.visit(each, scope) for each in node.elements]
        element = None
        for part in parts:
            element = part.result if element is None else either(element, part.result)
        weight = LEAF_OCTETS + sum(part.result.weight for part in parts)
        return Estimate(_NODE + sum(part.steps for part in parts), Bound(0, len(parts), weight, element))

    def _call(self, node: Call, scope: Scope) -> Estimate:
        parts = [self.visit(each, scope) for each in node.arguments]
        bounds = [part.result for part in parts]
        if node.function == "_?._":
            own = Estimate(_NODE, bounds[0].select(_literal(node.arguments[1]) or ""))
        else:
            charge = CHARGES.get(node.function)
            if charge is None:
                raise CostError(f"function {node.function} is not available here")
            own = charge(bounds)
        return Estimate(_NODE + own.steps + sum(part.steps for part in parts), own.result)

    def _matches(self, node: Call, scope: Scope) -> Estimate:
        """The engine compiles a pattern at each call and, at worst, keeps every state of it in mind for each octet."""
        text = self.visit(node.arguments[0], scope)
        pattern = _literal(node.arguments[1])
        if pattern is None:
            raise CostError("the pattern of matches has to be a text in quotes, not a value")
        try:
            size = Pattern(pattern).size
        except PatternError as error:
            raise CostError(f"the pattern of matches is refused: {error}") from error
        return Estimate(_NODE + text.steps + _PATTERN + size * (_INSTRUCTION + 2 * text.result.octets), SCALAR)

    def _loop(self, node: Loop, scope: Scope) -> Estimate:
        source, initial = self.visit(node.source, scope), self.visit(node.initial, scope)
        rounds = _Rounds.of(node, source.result)
        grown = self._grown(node, scope, initial.result, rounds)
        steps = []
        for values in (rounds.empty, rounds.full):
            inner = {**scope, **values, node.accumulator: grown}
            steps.append(self.visit(node.condition, inner).steps + self.visit(node.step, inner).steps)
        result = self.visit(node.result, {**scope, node.accumulator: grown})
        own = rounds.total(steps[0], steps[1])
        return Estimate(_NODE + source.steps + initial.steps + own + result.steps, result.result)

    def _grown(self, node: Loop, scope: Scope, initial: Bound, rounds: _Rounds) -> Bound:
        """Return the bound of the accumulator after all rounds.

        It grows by the same in each, since macros only append to a list, count, or keep a truth value.
        """
        if not initial.items and not isinstance(node.initial, Sequence):
            return initial
        least = self.visit(node.step, {**scope, **rounds.empty, node.accumulator: initial}).result
        most = self.visit(node.step, {**scope, **rounds.full, node.accumulator: initial}).result
        return Bound(
            initial.octets,
            initial.items + rounds.total(least.items - initial.items, most.items - initial.items),
            initial.weight + rounds.total(least.weight - initial.weight, most.weight - initial.weight),
            most.element,
            most.fields,
            most.keyed,
        )


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of a loop: how many, how many of them with a value as large as one may be, and the variables in both cases."""

    times: int
    weighty: int
    empty: Scope
    full: Scope

    @classmethod
    def of(cls, node: Loop, source: Bound) -> _Rounds:
        visited, times = source.visited, min(source.items, LOOP_LIMIT)
        grain = visited.grain_octets
        return cls(
            times,
            min(times, source.weight // grain + 1) if grain else times,
            dict.fromkeys(node.variables, visited.emptied()),
            dict.fromkeys(node.variables, visited),
        )

    def total(self, least: int, most: int) -> int:
        """Bound a sum over all rounds, of a quantity between `least` and `most` that is convex in the size of the value."""
        return self.times * max(least, 0) + self.weighty * max(most - least, 0)


def _literal(node: Node) -> str | None:
    return node.text if isinstance(node, Literal) else None


def _scalar(bounds: list[Bound]) -> Estimate:
    return Estimate(0, SCALAR)


def _reading(factor: int) -> Charge:
    """A function that reads its texts once and answers with a number or a truth value."""
    return lambda bounds: Estimate(factor * sum(each.octets for each in bounds), SCALAR)


def _keeping(factor: int) -> Charge:
    """A function that reads its target and gives back no more than it."""
    return lambda bounds: Estimate(factor * bounds[0].octets, bounds[0])


def _passing(bounds: list[Bound]) -> Estimate:
    """A function that gives back one of its arguments."""
    result = bounds[0] if bounds else SCALAR
    for each in bounds[1:]:
        result = either(result, each)
    return Estimate(0, result)


def _choosing(bounds: list[Bound]) -> Estimate:
    return Estimate(0, either(bounds[1], bounds[2]))


def _comparing(bounds: list[Bound]) -> Estimate:
    return Estimate(4 * min(each.weight for each in bounds), SCALAR)


def _member(bounds: list[Bound]) -> Estimate:
    return Estimate(4 * bounds[1].weight + 60 * bounds[1].items, SCALAR)


def _adding(bounds: list[Bound]) -> Estimate:
    result = together(bounds[0], bounds[1])
    return Estimate(result.octets + 60 * result.items, result)


def _indexing(bounds: list[Bound]) -> Estimate:
    return Estimate(0, bounds[0].item)


def _searching(bounds: list[Bound]) -> Estimate:
    return Estimate(bounds[0].octets * (8 + bounds[1].octets // 8), SCALAR)


def _splitting(bounds: list[Bound]) -> Estimate:
    octets = bounds[0].octets
    return Estimate(100 * octets, Bound(0, octets + 1, LEAF_OCTETS * (octets + 2) + octets, text_bound(octets)))


def _joining(bounds: list[Bound]) -> Estimate:
    separator = bounds[1].octets if len(bounds) > 1 else 0
    octets = bounds[0].weight + bounds[0].items * separator
    return Estimate(octets + 60 * bounds[0].items, text_bound(octets))


def _replacing(bounds: list[Bound]) -> Estimate:
    octets = bounds[0].octets + (bounds[0].octets + 1) * bounds[2].octets
    return Estimate(octets + 60 * bounds[0].octets, text_bound(octets))


def _printing(bounds: list[Bound]) -> Estimate:
    return Estimate(bounds[0].octets, text_bound(max(bounds[0].octets, _NUMBER_OCTETS)))


def _asking_python(bounds: list[Bound]) -> Estimate:
    return Estimate(_CALL_INTO_PYTHON + 20 * bounds[0].octets, SCALAR)


CHARGES: Final[Mapping[str, Charge]] = {
    **dict.fromkeys(("_&&_", "_||_", "!_", "@not_strictly_false", "_-_", "_*_", "_/_", "_%_", "-_"), _scalar),
    **dict.fromkeys(("int", "uint", "double", "bool", "duration", "timestamp"), _reading(4)),
    **dict.fromkeys(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"), _comparing),
    **dict.fromkeys(("startsWith", "endsWith", "size"), _reading(4)),
    **dict.fromkeys(("lowerAscii", "upperAscii", "trim", "reverse", "substring", "charAt"), _keeping(8)),
    **dict.fromkeys(("contains", "indexOf", "lastIndexOf"), _searching),
    **dict.fromkeys(
        ("dyn", "type", "value", "or", "orValue", "optional.of", "optional.none", "optional.ofNonZeroValue"), _passing
    ),
    **dict.fromkeys(("isIP", "isIPv4", "isIPv6", "isDNSName"), _asking_python),
    **dict.fromkeys(("_[_]", "_[?_]"), _indexing),
    "hasValue": _scalar,
    "_?_:_": _choosing,
    "@in": _member,
    "_+_": _adding,
    "split": _splitting,
    "join": _joining,
    "replace": _replacing,
    "string": _printing,
}
