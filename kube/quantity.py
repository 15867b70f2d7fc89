"""Numbers with their nouns, and values by the name of their kind, as people say them: `1 server`, `2,000 servers`, `a list`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, which takes an `s` unless there is exactly one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def kind_of(value: object) -> str:
    """Return what a value of YAML or JSON is."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")
