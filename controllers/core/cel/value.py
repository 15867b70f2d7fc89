"""Input of expressions: JSON values brought into the sizes and types that their shapes promise.

Owns the run-time half of the bounds that the estimate of an expression's cost rests on. Never changes what it is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from controllers.core.cel.bound import LEAF_OCTETS
from controllers.core.cel.shape import ANY, DEPTH_LIMIT, INPUT_LIMIT_OCTETS, TEXT, TEXT_LIMIT_OCTETS, Kind, Shape

_INTEGER_BITS: Final = 63


class InputError(ValueError):
    """A value that expressions cannot read: too large, too deep or no JSON; the text names the place and the limit."""


def admit(value: object, shape: Shape, name: str) -> Any:
    """Return a value as expressions read it: absent and unknown fields left out, numbers in the type of their schema.

    `name` is the variable's, for messages. Raises InputError.
    """
    return _Reader().read(value, shape, name, 0)


class _Reader:
    """One pass over a value that keeps account of its weight."""

    def __init__(self) -> None:
        self._weight = 0

    def read(self, value: object, shape: Shape, path: str, depth: int) -> Any:
        self._weigh(LEAF_OCTETS, path)
        if depth > DEPTH_LIMIT:
            raise InputError(f"{path} is nested more than {DEPTH_LIMIT} deep")
        match value:
            case str():
                return self._text(value, shape, path)
            case Mapping():
                return self._object(value, shape, path, depth)
            case list() | tuple():
                self._count(len(value), shape, path)
                element = (shape.element if shape.kind is Kind.LIST else None) or ANY
                return [self.read(each, element, f"{path}[{index}]", depth + 1) for index, each in enumerate(value)]
            case None | bool():
                return value
            case int() | float():
                return _number(value, shape, path)
            case _:
                raise InputError(f"{path} is no JSON value")

    def _object(self, value: Mapping[Any, Any], shape: Shape, path: str, depth: int) -> dict[str, Any]:
        if shape.kind is Kind.OBJECT:
            known = {key: each for key, each in value.items() if key in shape.fields and each is not None}
            return {key: self.read(each, shape.fields[key], f"{path}.{key}", depth + 1) for key, each in known.items()}
        self._count(len(value), shape, path)
        element = (shape.element if shape.kind is Kind.MAP else None) or ANY
        for key in value:
            self._text(str(key), TEXT, path)
        return {str(key): self.read(each, element, f"{path}.{key}", depth + 1) for key, each in value.items()}

    def _text(self, value: str, shape: Shape, path: str) -> str:
        if "\0" in value:  # the engine would read only what stands before it
            raise InputError(f"{path} holds a NUL character")
        limit_octets = shape.limit_octets if shape.kind is Kind.TEXT else TEXT_LIMIT_OCTETS
        try:
            octets = len(value) if value.isascii() else len(value.encode())
        except UnicodeEncodeError:
            raise InputError(f"{path} holds half of a surrogate pair") from None
        if octets > limit_octets:
            raise InputError(f"{path} takes {octets} octets, allowed are {limit_octets}")
        self._weigh(octets, path)
        return value

    def _count(self, items: int, shape: Shape, path: str) -> None:
        if items > shape.limit_items:
            raise InputError(f"{path} has {items} items, allowed are {shape.limit_items}")

    def _weigh(self, octets: int, path: str) -> None:
        self._weight += octets
        if self._weight > INPUT_LIMIT_OCTETS:
            raise InputError(f"everything up to {path} takes more than {INPUT_LIMIT_OCTETS} octets")


def _number(value: float, shape: Shape, path: str) -> float:
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
        raise InputError(f"{path} does not fit in 64 bits")
    if not math.isfinite(value):
        raise InputError(f"{path} is no finite number")
    return float(value) if shape.kind is Kind.NUMBER else value
