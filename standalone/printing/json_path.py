"""The JSONPath dialect of `additionalPrinterColumns` (kubectl's), compiled once and run over many objects.

Owns parsing and evaluation. What a path does not find is no result, never an error: columns of young objects are empty.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_FIELD = re.compile(r"\.((?:[^.\[\\{}]|\\.)+)")
_RECURSIVE = re.compile(r"\.\.((?:[^.\[\\{}]|\\.)+)?")
_FILTER = re.compile(r"\[\?\((?P<left>.+?)(?:\s*(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>.+?))?\)\]")
_BRACKET = re.compile(r"\[((?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\]'\"])*)\]")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_KEYS = re.compile(r"\s*'[^']*'\s*(?:,\s*'[^']*'\s*)*")
_KEY = re.compile(r"'([^']*)'")
_KEY_PART = re.compile(r"(?:[^.\\]|\\.)+")
_INDEX = re.compile(r"-?\d+")
_SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::(\d+))?")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class JsonPathError(ValueError):
    """A path that cannot be read; the text quotes the path and says from where on."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A compiled path."""

    fields: tuple[str, ...] | None
    """The field names when the path is nothing but these: the usual case, walked without generators."""
    steps: tuple[Step, ...]

    def find(self, document: Any) -> list[Any]:
        """All values that the path leads to, in document order; none when any part is missing."""
        if self.fields is not None:
            return _walk(document, self.fields)
        nodes = [document]
        for step in self.steps:
            nodes = [found for node in nodes for found in step(node)]
            if not nodes:
                break
        return nodes


@lru_cache(maxsize=1024)
def compile_path(text: str) -> JsonPath:
    """Compile a path such as `.status.conditions[?(@.type=="Ready")].status`; raises JsonPathError."""
    body = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    return _compile(body.removeprefix("$"), text)


def _compile(body: str, text: str) -> JsonPath:
    if body == ".":
        return JsonPath((), ())
    position, steps = 0, []
    names: list[str] | None = []
    while position < len(body):
        step, name, position = _next_step(body, position, text)
        steps.append(step)
        names = [*names, name] if names is not None and name is not None else None
    return JsonPath(None if names is None else tuple(names), tuple(steps))


def _next_step(body: str, position: int, text: str) -> tuple[Step, str | None, int]:
    """The step at `position`, its field name when it is a plain field, and where the next one starts."""
    if match := _RECURSIVE.match(body, position):
        return _recursive(_unescape(match[1]) if match[1] else None), None, match.end()
    if match := _FIELD.match(body, position):
        name = _unescape(match[1])
        return (_wildcard, None, match.end()) if name == "*" else (_keys([(name,)]), name, match.end())
    if match := _FILTER.match(body, position):
        return _filter(match, text), None, match.end()
    if match := _BRACKET.match(body, position):
        step, only_name = _bracket(match[1].strip(), text)
        return step, only_name, match.end()
    raise JsonPathError(f"JSONPath {text!r}: cannot read {body[position:]!r}")


def _bracket(content: str, text: str) -> tuple[Step, str | None]:
    if content == "*":
        return _wildcard, None
    if _KEYS.fullmatch(content):
        # A dot in a quoted key separates as everywhere in a path, unless it is escaped.
        keys = [tuple(_unescape(part) for part in _KEY_PART.findall(match[1])) for match in _KEY.finditer(content)]
        return _keys(keys), keys[0][0] if len(keys) == 1 and len(keys[0]) == 1 else None
    if match := _SLICE.fullmatch(content):
        start, stop, stride = (int(part) if part else None for part in match.groups())
        return _slice(slice(start, stop, stride or None)), None
    parts = [part.strip() for part in content.split(",")]
    if all(_INDEX.fullmatch(part) for part in parts):
        return _index(tuple(int(part) for part in parts)), None
    raise JsonPathError(
        f"JSONPath {text!r}: cannot read [{content}]; allowed are names in quotes, numbers, slices and *"
    )


def _walk(document: Any, fields: tuple[str, ...]) -> list[Any]:
    node = document
    for name in fields:
        if not isinstance(node, Mapping) or name not in node:
            return []
        node = node[name]
    return [node]


def _keys(keys: Sequence[tuple[str, ...]]) -> Step:
    def step(node: Any) -> Iterator[Any]:
        for fields in keys:
            yield from _walk(node, fields)

    return step


def _wildcard(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping):
        yield from (node[name] for name in sorted(node))
    elif _is_list(node):
        yield from node


def _index(positions: tuple[int, ...]) -> Step:
    def step(node: Any) -> Iterator[Any]:
        if _is_list(node):
            yield from (node[each] for each in positions if -len(node) <= each < len(node))

    return step


def _slice(part: slice) -> Step:
    def step(node: Any) -> Iterator[Any]:
        if _is_list(node):
            yield from node[part]

    return step


def _recursive(name: str | None) -> Step:
    def step(node: Any) -> Iterator[Any]:
        if name is None:
            yield node
        elif isinstance(node, Mapping) and name in node:
            yield node[name]
        for child in _wildcard(node):
            yield from step(child)

    return step


def _filter(match: re.Match[str], text: str) -> Step:
    left = _operand(match["left"].strip(), text)
    if match["operator"] is None:
        return lambda node: (item for item in _items(node) if left(item))
    right = _operand(match["right"].strip(), text)
    compare = _COMPARISONS[match["operator"]]
    return lambda node: (item for item in _items(node) if _holds(compare, left(item), right(item)))


def _operand(source: str, text: str) -> Callable[[Any], list[Any]]:
    """A side of a filter: a path from the item (`@.x`) or a literal; either gives a list of values."""
    if source.startswith("@"):
        return _compile(source[1:] or ".", text).find
    if match := _QUOTED.fullmatch(source):
        literal: Any = _unescape(match[1] if match[1] is not None else match[2])
    elif source in ("true", "false"):
        literal = source == "true"
    else:
        try:
            literal = float(source)
        except ValueError:
            raise JsonPathError(
                f"JSONPath {text!r}: {source!r} is neither a path from @, a quoted text, a number, true nor false"
            ) from None
    return lambda _item: [literal]


def _holds(compare: Callable[[Any, Any], bool], left: list[Any], right: list[Any]) -> bool:
    """Values of different types are unlike and have no order."""
    if not left or not right:
        return False
    first, second = left[0], right[0]
    if _type_of(first) is not _type_of(second):
        return compare is operator.ne
    try:
        return compare(first, second)
    except TypeError:
        return False


def _type_of(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _items(node: Any) -> Sequence[Any]:
    return node if _is_list(node) else ()


def _is_list(node: Any) -> bool:
    return isinstance(node, list | tuple)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
