"""The text of a CEL expression, as far as it matters before compiling: which parts of the variables it uses.

Owns a tokenizer and what follows from it. Never evaluates or type-checks; the engine does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Uses:
    """The parts of one variable that an expression can reach: a tree of member names, a leaf being all below it."""

    members: dict[str, Uses] | None
    """None: the value as a whole."""

    @property
    def whole(self) -> bool:
        return self.members is None


WHOLE: Final = Uses(None)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def _tokens(expression: str) -> list[_Token]:
    found = (_Token(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(expression))
    return [token for token in found if token.kind not in ("space", "comment")]


def paths_of(expression: str, variable: str) -> list[tuple[str, ...]]:
    """Return the member path after each occurrence of `variable`: `self.a.b.size()` gives `("a", "b")`."""
    tokens = _tokens(expression)
    paths = []
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text == variable and not _is_member(tokens, index):
            paths.append(_path_after(tokens, index + 1))
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
    heads = dict.fromkeys(path[0] for path in paths)
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


def unchanged_paths(rule: str) -> list[tuple[str, ...]] | None:
    """Return the compared paths when the rule only says that members equal their old values; None for other rules.

    Such a rule holds for a value that did not change, if the members exist: it need not be evaluated.
    """
    paths = []
    for clause in rule.split("&&"):
        sides = clause.split("==")
        if len(sides) != 2:
            return None
        left, right = (side.strip() for side in sides)
        if left.startswith("oldSelf"):
            left, right = right, left
        mine, theirs = _PLAIN_PATH.fullmatch(left), _PLAIN_PATH.fullmatch(right)
        if mine is None or theirs is None or mine["root"] != "self" or theirs["root"] != "oldSelf":
            return None
        if mine["path"] != theirs["path"]:
            return None
        paths.append(tuple(mine["path"].split(".")[1:]))
    return paths


_PLAIN_PATH: Final = re.compile(r"(?P<root>self|oldSelf)(?P<path>(?:\.[A-Za-z_][A-Za-z0-9_]*)*)")
