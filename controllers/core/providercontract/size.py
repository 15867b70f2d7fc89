"""How large a JSON value may be before anything recursive looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEPTH_LIMIT: Final = 32
NODE_LIMIT: Final = 20_000


class SizeError(ValueError):
    """A value that is nested too deep or holds too much; the text says which."""


def check_size(value: object) -> None:
    """Raise SizeError for a value nested more than DEPTH_LIMIT deep or holding more than NODE_LIMIT values."""
    level: list[object] = [value]
    nodes = 0
    for _ in range(DEPTH_LIMIT + 1):
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise SizeError(f"it holds more than {NODE_LIMIT} values")
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return
    raise SizeError(f"it is nested more than {DEPTH_LIMIT} deep")


def _children(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []
