"""Compiling and evaluating expressions: the one module that touches `cel_expr_python`.

An expression is checked in a typed environment and then compiled a second time in an untyped one, in which it is evaluated on
plain JSON values; so a field that is absent is an error, as in Kubernetes, and not a default. What goes wrong is a value.
The engine compiles the pattern of `matches` at each call, which takes a hundred times as long as the rest of a rule; what is evaluated
calls a function of our own in its place, which keeps compiled patterns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import cel_expr_python.cel as engine
from cel_expr_python.ext import ext_optional, ext_strings

from controllers.core.cel.bound import bound_of
from controllers.core.cel.cost import LIMIT_STEPS, CostError, estimate
from controllers.core.cel.function import TEXT_PREDICATES, matches
from controllers.core.cel.message import Messages
from controllers.core.cel.shape import Kind, Shape
from controllers.core.cel.syntax import parse_checked, rename_calls
from controllers.core.cel.value import InputError, admit

EXPRESSION_LIMIT_CHARS: Final = 4096

_MATCHES: Final = "matches"
_KEPT_MATCHES: Final = "_matches"
_DYNAMIC: Final = engine.Type.DYN
_SCALARS: Final[Mapping[Kind, Any]] = {
    Kind.TEXT: engine.Type.STRING,
    Kind.INTEGER: engine.Type.INT,
    Kind.NUMBER: engine.Type.DOUBLE,
    Kind.BOOLEAN: engine.Type.BOOL,
}


class Outcome(Enum):
    """The static type that an expression has to have."""

    TRUTH = "bool"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an expression cannot be compiled or evaluated, in one line."""

    reason: str


class Expression:
    """One compiled expression; `steps` is its estimated cost."""

    __slots__ = ("_compiled", "steps", "text")

    def __init__(self, text: str, steps: int, compiled: Any) -> None:
        self.text = text
        self.steps = steps
        self._compiled = compiled

    def evaluate(self, values: Values) -> Any | Failure:
        """Return what the expression gives on values that its environment admitted: plain JSON, or why there is none."""
        try:
            result = self._compiled.eval(values.activation)
            if result.type() == engine.Type.ERROR:
                return Failure(_one_line(str(result.value())).replace(f"{_KEPT_MATCHES}(", f"{_MATCHES}("))
            return result.plain_value()
        except (RuntimeError, TypeError) as error:  # the engine's own errors, and results that have no Python form
            return Failure(_one_line(str(error)))


@dataclass(frozen=True, slots=True)
class Values:
    """Values of an environment's variables, admitted once and read by any number of its expressions."""

    activation: Any


class Environment:
    """The variables that a family of expressions reads, by name and shape."""

    def __init__(self, variables: Mapping[str, Shape]) -> None:
        self._shapes = dict(variables)
        messages = Messages()
        types = {name: _type(messages, name, shape) for name, shape in variables.items()}
        self._typed = _environment(types, messages.pool(), _predicates())
        untyped = dict.fromkeys(variables, _DYNAMIC)
        self._untyped = _environment(untyped, None, [*_predicates(), _kept_matches()])
        self._bounds = {name: bound_of(shape) for name, shape in variables.items()}

    def compile(self, text: str, outcome: Outcome) -> Expression | Failure:
        """Return an expression that type-checks, has the static type asked for and an acceptable cost; or why it is refused."""
        if len(text) > EXPRESSION_LIMIT_CHARS:
            return Failure(f"it has {len(text)} characters, allowed are {EXPRESSION_LIMIT_CHARS}")
        if _UNREADABLE.search(text):
            return Failure("it holds a NUL character or half of a surrogate pair")
        try:
            checked = self._typed.compile(text)
            compiled = self._untyped.compile(text)
            if _MATCHES in text:
                compiled = self._untyped.deserialize(rename_calls(compiled.serialize(), {_MATCHES: _KEPT_MATCHES}))
        except RuntimeError as error:
            return Failure(_one_line(str(error)))
        if not _has_type(checked.return_type(), outcome):
            return Failure(f"its static type is {checked.return_type().name()}, required is {_REQUIRED[outcome]}")
        try:
            steps = estimate(parse_checked(checked.serialize()), self._bounds).steps
        except CostError as error:
            return Failure(str(error))
        if steps > LIMIT_STEPS:
            return Failure(
                f"it may take {steps} steps, allowed are {LIMIT_STEPS}; bound what it reads with maxLength or maxItems"
            )
        return Expression(text, steps, compiled)

    def admit(self, values: Mapping[str, object]) -> Values | Failure:
        """Return the values of the variables, by name, as expressions read them; or why they cannot be read."""
        try:
            data = {name: admit(values.get(name), shape, name) for name, shape in self._shapes.items()}
        except InputError as error:
            return Failure(str(error))
        return Values(self._untyped.Activation(data))


def _type(messages: Messages, name: str, shape: Shape) -> Any:
    if shape.kind is Kind.OBJECT:
        return engine.Type(messages.add(name, shape))
    return _SCALARS.get(shape.kind, _DYNAMIC)


def _environment(variables: Mapping[str, Any], pool: Any, functions: list[Any]) -> Any:
    extensions = [ext_strings.ExtStrings(), ext_optional.ExtOptional()]
    return engine.NewEnv(descriptor_pool=pool, variables=dict(variables), extensions=extensions, functions=functions)


def _predicates() -> list[Any]:
    return [
        engine.FunctionDecl(
            name,
            [engine.Overload(f"{name}_string", engine.Type.BOOL, [engine.Type.STRING], impl=predicate)],
        )
        for name, predicate in TEXT_PREDICATES.items()
    ]


def _kept_matches() -> Any:
    texts = [engine.Type.STRING, engine.Type.STRING]
    overloads = [
        engine.Overload(f"{_KEPT_MATCHES}_{member}", engine.Type.BOOL, texts, is_member=member, impl=matches)
        for member in (True, False)
    ]
    return engine.FunctionDecl(_KEPT_MATCHES, overloads)


_REQUIRED: Final = {Outcome.TRUTH: "bool", Outcome.OBJECT: "a map with text keys, such as {'options': self.options}"}
_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
_NOISE: Final = re.compile(r"\s*\[INVALID_ARGUMENT\]|^[A-Z_]+: |ERROR: <input>:")


def _has_type(found: Any, outcome: Outcome) -> bool:
    """Only exactly the type counts: DYN is a type that the checker knows nothing of."""
    if outcome is Outcome.TRUTH:
        return bool(found == engine.Type.BOOL)
    return bool(found.name().startswith("MAP<STRING,"))


def _one_line(message: str) -> str:
    """Return the engine's words without its codes and the drawing of where they point; its positions stay as line:column."""
    lines = [line for line in message.splitlines() if not line.lstrip().startswith("|")]
    return "; ".join(cleaned for line in lines if (cleaned := _NOISE.sub("", line).strip()))
