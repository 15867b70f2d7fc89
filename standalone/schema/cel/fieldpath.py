"""`fieldPath` of rules: a simple JSON path of members below the rule's position.

Owns its syntax, its check against the schema and its spelling in faults.
"""

from __future__ import annotations

import re
from typing import Final

from standalone.schema.node import Node

_STEP: Final = re.compile(r"\.(?P<name>[^.\[\]']+)|\['(?P<quoted>(?:\\.|[^'\\])*)'\]")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED_CHARACTERS: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}


def steps_of(path: str) -> list[str]:
    """Return the member names of a path; raise ValueError when it is not one."""
    steps = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"expected [ or . but got: {path[position:]}")
        name = match["name"]
        steps.append(_unescaped(match["quoted"]) if name is None else name)
        position = match.end()
    return steps


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPED_CHARACTERS:
            raise ValueError(f"invalid escape char {match[0]}")
        return _ESCAPED_CHARACTERS[match[1]]

    return _ESCAPE.sub(character, text)


def leads_somewhere(path: str, node: Node) -> bool:
    """Return whether a path is well formed and names members the schema knows."""
    try:
        steps = steps_of(path)
    except ValueError:
        return False
    here: Node | None = node
    for name in steps:
        here = None if here is None else here.properties.get(name, here.additional)
        if here is None:
            return False
    return True


def spelled_field_path(path: str) -> str:
    """Return a path without its leading dot, as faults append it; empty for none."""
    return ".".join(steps_of(path)) if path.strip() else ""
