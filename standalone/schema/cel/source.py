"""The text of a CEL expression, as far as it matters before compiling: which parts of the variables it uses.

Owns a tokenizer and what follows from it. Never evaluates or type-checks; the engine does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      (?P<comment>//[^\n]*)
    | (?P<text>[rRbB]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>[0-9][0-9a-zA-Z]*)
    | (?P<space>\s+)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_RENAMED: Final = frozenset({"indexOf", "lastIndexOf", "replace"})
"""Functions the engine declares for strings alone or without a bound: calls go to ours, named with an underscore."""


_MACROS: Final = frozenset(
    {
        *("all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy"),
        *("transformList", "transformMap", "transformMapEntry"),
        *("bind", "optMap", "optFlatMap"),
    }
)
"""The macros of CEL that evaluate a part again and again, or name a value that can then be put to itself."""
_FEW_MACROS: Final = 2
_SHORT: Final = 500
_SMALL_BYTES: Final = 1024
ANY_BYTES: Final = sys.maxsize


@dataclass(frozen=True, slots=True)
class Uses:
    """The parts of one variable that an expression can reach: a tree of member names, a leaf being all below it."""

    members: dict[str, Uses] | None
    """None: the value as a whole."""
    presence_only: bool = False
    """Only whether the value is there matters, not what it is."""

    @property
    def whole(self) -> bool:
        return self.members is None


WHOLE: Final = Uses(None)
PRESENCE: Final = Uses(None, presence_only=True)
_PRESENT: Final = "has()"
"""Ends a path whose last member is only asked for with has(); no member can be named so."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def _tokens(expression: str) -> list[_Token]:
    found = (_Token(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(expression))
    return [token for token in found if token.kind not in ("space", "comment")]


def paths_of(expression: str, variable: str) -> list[tuple[str, ...]]:
    """Return the member path after each occurrence of `variable`: `self.a.b.size()` gives `("a", "b")`.

    The path inside `has(…)` ends with a mark that says that only presence matters.
    """
    tokens = _tokens(expression)
    paths = []
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text == variable and not _is_member(tokens, index):
            path = _path_after(tokens, index + 1)
            asked = [each.text for each in tokens[max(0, index - 2) : index]] == ["has", "("]
            paths.append((*path, _PRESENT) if asked and path else path)
    return paths


def _is_member(tokens: Sequence[_Token], index: int) -> bool:
    """Return whether the name at `index` follows a dot, or the dot and question mark of an optional selection."""
    before = "".join(token.text for token in tokens[max(0, index - 2) : index])
    return before.endswith(".") or before == ".?"


def _path_after(tokens: Sequence[_Token], index: int) -> tuple[str, ...]:
    path: list[str] = []
    while index + 1 < len(tokens) and tokens[index].text == ".":
        step = index + 2 if tokens[index + 1].text == "?" else index + 1
        if step >= len(tokens) or tokens[step].kind != "name":
            break
        if step + 1 < len(tokens) and tokens[step + 1].text == "(":
            break
        path.append(tokens[step].text)
        index = step + 1
    return tuple(path)


def uses_of(expressions: Sequence[str], variable: str) -> Uses | None:
    """Return what the expressions can reach of `variable`; None when they do not mention it.

    Sound because a value can only be reached through its variable: what no member path leads to cannot matter.
    """
    paths = [path for expression in expressions for path in paths_of(expression, variable)]
    return _tree(paths) if paths else None


def _tree(paths: Sequence[tuple[str, ...]]) -> Uses:
    if not all(paths):
        return WHOLE
    heads = dict.fromkeys(path[0] for path in paths if path[0] != _PRESENT)
    if not heads:
        return PRESENCE
    return Uses({head: _tree([path[1:] for path in paths if path[0] == head]) for head in heads})


def rewritten(expression: str) -> str:
    """Return the expression with calls of the renamed functions sent to ours; positions shift by one for each."""
    parts = []
    previous = ""
    for match in _TOKEN.finditer(expression):
        text = match.group()
        if match.lastgroup == "name" and text in _RENAMED and previous == ".":
            text += "_"
        parts.append(text)
        if match.lastgroup not in ("space", "comment"):
            previous = text
    return "".join(parts)


def quick_bytes(expression: str) -> int:
    """Return the size of the largest objects over which an expression is over before it matters: ANY_BYTES of any.

    A long one may do as much as a loop does, and each further macro may multiply what the others make.
    """
    tokens = _tokens(expression)
    macros = sum(name.text in _MACROS and after.text == "(" for name, after in pairwise(tokens))
    if not macros and len(expression) <= _SHORT:
        return ANY_BYTES
    return max(0, _SMALL_BYTES - len(expression)) if macros <= _FEW_MACROS else 0


def unchanged_paths(rule: str) -> list[tuple[str, ...]] | None:
    """Return what must be there for a rule that only says that members, or their presence, equal the old ones.

    Such a rule holds for a value that did not change, if the members exist: it need not be evaluated. None for every
    other rule.
    """
    paths = []
    for clause in rule.split("&&"):
        sides = [_PLAIN_PATH.fullmatch(side.strip()) for side in clause.split("==")]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return None
        mine, theirs = (side.groupdict() for side in sides if side is not None)
        if {mine["root"], theirs["root"]} != {"self", "oldSelf"}:
            return None
        if (mine["path"], mine["asked"]) != (theirs["path"], theirs["asked"]):
            return None
        path = tuple(mine["path"].split(".")[1:])
        if mine["asked"] and not path:
            return None
        paths.append(path[:-1] if mine["asked"] else path)
    return paths


_PLAIN_PATH: Final = re.compile(
    r"(?P<asked>has\()?\s*(?P<root>self|oldSelf)(?P<path>(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*(?(asked)\))"
)
