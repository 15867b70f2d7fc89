"""The CEL engine behind a small typed face.

Owns environments, compilation and evaluation, and the translation of the engine's words to Kubernetes'. The one module
that touches the untyped cel_expr_python package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from cel_expr_python import cel

from standalone.schema.cel.library import FUNCTIONS, Overload

_CONFIG: Final = """
name: kubernetes
extensions:
  - name: bindings
  - name: lists
  - name: optional
  - name: sets
  - name: strings
    version: 2
  - name: two-var-comprehensions
"""
_TYPES: Final[Mapping[str, Any]] = {
    "bool": cel.Type.BOOL,
    "bytes": cel.Type.BYTES,
    "double": cel.Type.DOUBLE,
    "duration": cel.Type.DURATION,
    "dyn": cel.Type.DYN,
    "int": cel.Type.INT,
    "list": cel.Type.List(cel.Type.DYN),
    "map": cel.Type.MAP,
    "string": cel.Type.STRING,
    "strings": cel.Type.List(cel.Type.STRING),
    "timestamp": cel.Type.TIMESTAMP,
}
_STATUS: Final = re.compile(r"^[A-Z_]+: ")
_MISSING_KEY: Final = re.compile(r'Key not found in map : "?(.*?)"?$')
_BAD_INDEX: Final = re.compile(r"Index error: index=(-?\d+)")


class ResultType(Enum):
    """What an expression must evaluate to."""

    BOOL = "bool"
    STRING = "string"


class CompileError(ValueError):
    """An expression the engine refuses, with its reason and the place in the expression."""


class WrongResultError(CompileError):
    """An expression that compiles but yields another type than it must."""


class EvaluationError(Exception):
    """An evaluation that ended in an error, in Kubernetes' words."""


class BudgetExceededError(EvaluationError):
    """An evaluation that took more steps than the engine allows."""


def message_type(name: str) -> Any:
    """Return the type of a declared message."""
    return cel.Type(name)


def list_type(element: Any) -> Any:
    return cel.Type.List(element)


def map_type(element: Any) -> Any:
    return cel.Type.Map(cel.Type.STRING, element)


def known_type(name: str) -> Any:
    """Return a type without parameters: `dyn`, `int`, `timestamp` and the like."""
    return _TYPES[name]


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression; evaluating it is safe from any thread that holds the interpreter."""

    compiled: Any

    def evaluate(self, data: Mapping[str, Any]) -> Any:
        """Return the plain value; raise EvaluationError or BudgetExceededError."""
        try:
            outcome = self.compiled.eval(data=data)
        except RuntimeError as stopped:
            raise BudgetExceededError(str(stopped)) from stopped
        if outcome.type() == cel.Type.ERROR:
            raise EvaluationError(_reworded(str(outcome.value())))
        return outcome.plain_value()


class Environment:
    """Variables with their types; expressions are compiled in one."""

    def __init__(self, variables: Mapping[str, Any], pool: Any = None) -> None:
        options: dict[str, Any] = {"descriptor_pool": pool} if pool is not None else {}
        self._env: Any = cel.NewEnv(
            config=cel.NewEnvConfigFromYaml(_CONFIG),
            variables=dict(variables),
            functions=[_declaration(name, overloads) for name, overloads in FUNCTIONS.items()],
            **options,
        )

    def compile(self, expression: str, result: ResultType | None = None) -> Program:
        """Return the program; raise CompileError when it does not compile or is not of type `result`."""
        try:
            compiled = self._env.compile(expression)
        except RuntimeError as refused:
            raise CompileError(_located(str(refused))) from refused
        if result is not None and compiled.return_type() != _TYPES[result.value]:
            article = "a bool" if result is ResultType.BOOL else "a string"
            raise WrongResultError(f"must evaluate to {article}")
        return Program(compiled)


def _declaration(name: str, overloads: tuple[Overload, ...]) -> Any:
    return cel.FunctionDecl(
        name,
        [
            cel.Overload(
                f"{name}_{'_'.join(overload.parameters)}_{overload.is_member}",
                _TYPES[overload.result],
                [_TYPES[parameter] for parameter in overload.parameters],
                overload.is_member,
                overload.implementation,
            )
            for overload in overloads
        ],
    )


def _located(text: str) -> str:
    return _STATUS.sub("", text).removesuffix(" [INVALID_ARGUMENT]")


def _reworded(text: str) -> str:
    """Say what went wrong as kube-apiserver says it."""
    if (missing := _MISSING_KEY.search(text)) is not None:
        return f"no such key: {missing[1]}"
    if (index := _BAD_INDEX.search(text)) is not None:
        return f"index out of bounds: {index[1]}"
    text = _STATUS.sub("", text)
    return {"divide by zero": "division by zero"}.get(text, text)
