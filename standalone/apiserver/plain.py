"""Decoded bodies as plain JSON values, as Kubernetes' decoders leave them.

Owns which numbers are the same number, what a key that is no text is called, and which YAML scalars are texts. Never parses.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

_EXACT: Final = 2**53
_INT64: Final = range(-(2**63), 2**64)
_PREFIX: Final = "tag:yaml.org,2002:"
_INTEGER: Final = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)\Z")
_FLOAT: Final = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))\Z|\.(?:nan|NaN|NAN)\Z"
)


class YamlLoader(yaml.CSafeLoader):
    """Reads times of day and dates as the texts they are, and numbers with an exponent as numbers."""


YamlLoader.yaml_implicit_resolvers = {
    first: [
        (tag, {f"{_PREFIX}int": _INTEGER, f"{_PREFIX}float": _FLOAT}.get(tag, pattern))
        for tag, pattern in resolvers
        if tag not in (f"{_PREFIX}timestamp", f"{_PREFIX}value")
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def whole_numbers(value: Any) -> Any:
    """A JSON value with each whole number as an integer: `1.0` is stored as `1`, which decoders of typed clients take."""
    if type(value) is dict:
        return {name: whole_numbers(member) for name, member in value.items()}
    if type(value) is list:
        return [whole_numbers(item) for item in value]
    return _number(value) if type(value) is float else value


def json_value(value: Any) -> Any:
    """What YAML decodes to, as a JSON value. Raises ValueError for what JSON cannot say."""
    if type(value) is dict:
        return {_key(name): json_value(member) for name, member in value.items()}
    if type(value) is list:
        return [json_value(item) for item in value]
    if type(value) is int and value not in _INT64:
        return float(value)
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"found the number {value}, which JSON has not")
        return _number(value)
    if value is None or type(value) in (str, int, bool):
        return value
    raise ValueError(f"found a value of type {type(value).__name__}, which JSON has not")


def _number(value: float) -> float:
    return int(value) if abs(value) <= _EXACT and value.is_integer() else value


def _key(name: Any) -> str:
    if type(name) is str:
        return name
    if type(name) is bool:
        return "true" if name else "false"
    if type(name) in (int, float):
        return str(name)
    raise ValueError(f"found the key {name!r}, a text is required")
