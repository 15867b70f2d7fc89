"""The second engine: `cel-python`, which shares no code with ours, asked about the same expression and the same values.

Owns the module that touches it, and the translation of its values. Slow, and lenient where ours is strict: a reference only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError, CELFunction

from controllers.core.cel.function import TEXT_PREDICATES


class Answer(Enum):
    """An answer that is no value."""

    ERROR = "error"


def _environment() -> celpy.Environment:
    """Make the engine, which raises the interpreter's limit of recursion, and leave the limit as it was."""
    limit = sys.getrecursionlimit()
    try:
        return celpy.Environment()
    finally:
        sys.setrecursionlimit(limit)


def _predicate(name: str) -> Callable[[Any], celtypes.BoolType]:
    return lambda text: celtypes.BoolType(TEXT_PREDICATES[name](str(text)))


_ENVIRONMENT: Final = _environment()
_FUNCTIONS: Final[dict[str, CELFunction]] = {name: _predicate(name) for name in TEXT_PREDICATES}


def ask(text: str, values: Mapping[str, Any]) -> Any:
    """Return what the expression gives, as JSON, or Answer.ERROR."""
    try:
        return _plain(_program(text).evaluate({name: json_to_cel(value) for name, value in values.items()}))
    except (CELEvalError, ValueError, TypeError):
        return Answer.ERROR


@lru_cache(maxsize=256)
def _program(text: str) -> Any:
    return _ENVIRONMENT.program(_ENVIRONMENT.compile(text), functions=_FUNCTIONS)


def _plain(value: Any) -> Any:
    match value:
        case celtypes.BoolType() | bool():
            return bool(value)
        case celtypes.DoubleType():
            return float(value)
        case celtypes.IntType() | celtypes.UintType():
            return int(value)
        case celtypes.StringType():
            return str(value)
        case celtypes.ListType():
            return [_plain(each) for each in value]
        case celtypes.MapType():
            return {_plain(key): _plain(each) for key, each in value.items()}
        case None:
            return None
    raise TypeError(f"no JSON: {type(value).__name__}")
