"""JSON (RFC 8259) read without mercy: a name twice, a fraction, a constant of JavaScript or a lone surrogate is an error.

Owns the reading of text into values. Never judges which values belong where, save for the fields of objects.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from ownership.error import FormatError
from ownership.naming import quoted

_INTEGER_DIGITS: Final = 19


class _UnfitError(ValueError):
    """A value that is JSON for others."""


def parse(content: bytes, what: str) -> object:
    """Return the value of a JSON text; raises FormatError, which calls it `what`."""
    try:
        text = content.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_no_fraction,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise FormatError(f"{what}: found octets that are not UTF-8 at {error.start}") from error
    except _UnfitError as error:
        raise FormatError(f"{what}: {error}") from error
    except RecursionError as error:
        raise FormatError(f"{what}: found JSON that is nested too deep") from error
    except ValueError as error:
        raise FormatError(f"{what}: found no JSON ({error})") from error


def fields(value: object, names: frozenset[str], what: str) -> Mapping[str, object]:
    """Return an object that has exactly these fields; raises FormatError."""
    if not isinstance(value, dict):
        raise FormatError(f"{what}: found {kind(value)}, allowed is an object")
    if unknown := value.keys() - names:
        raise FormatError(
            f"{what}: found the unknown field {quoted(min(unknown))}, allowed are {', '.join(sorted(names))}"
        )
    if missing := names - value.keys():
        raise FormatError(f"{what}: the field {min(missing)} is missing")
    return value


def text(value: object, what: str) -> str:
    """Return a string that UTF-8 can carry; raises FormatError."""
    if not isinstance(value, str):
        raise FormatError(f"{what}: found {kind(value)}, allowed is a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{what}: found half of a surrogate pair, allowed is text") from error
    return value


def integer(value: object, lowest: int, highest: int, what: str) -> int:
    """Return an integer within bounds; raises FormatError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise FormatError(f"{what}: found {kind(value)}, allowed is an integer")
    if not lowest <= value <= highest:
        raise FormatError(f"{what}: found {value}, allowed are {lowest} to {highest}")
    return value


def items(value: object, what: str) -> list[Any]:
    """Return an array; raises FormatError."""
    if not isinstance(value, list):
        raise FormatError(f"{what}: found {kind(value)}, allowed is an array")
    return value


def kind(value: object) -> str:
    """Return what a JSON value is, for messages."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", str: "a string", list: "an array", dict: "an object"}
    return names[type(value)]


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _UnfitError(f"found the field {quoted(name)} twice, allowed is once")
    return found


def _no_fraction(number: str) -> object:
    raise _UnfitError(f"found the number {quoted(number)}, allowed are integers")


def _no_constant(name: str) -> object:
    raise _UnfitError(f"found {name}, allowed is JSON")


def _integer(digits: str) -> int:
    if len(digits) > _INTEGER_DIGITS:
        raise _UnfitError(f"found a number of {len(digits)} digits, allowed are {_INTEGER_DIGITS}")
    return int(digits)
