"""The functions Kubernetes adds to CEL: lists, regular expressions, addresses, URLs and quantities.

Owns their meaning as plain Python. Addresses, URLs and quantities are passed around as their canonical text. Results
are bounded in size, so that no rule can make the server hold more than it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from standalone.schema.cel import address, quantity, semver
from standalone.schema.cel.address import parses
from standalone.schema.pattern import Pattern

RESULT_LIMIT_CHARACTERS: Final = 1 << 20
_ELEMENT_TYPES: Final = ("int", "double", "string", "bool", "bytes", "duration", "timestamp", "list", "map")


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature: type names as `engine` knows them, and the function behind it."""

    parameters: tuple[str, ...]
    result: str
    implementation: Callable[..., Any]
    is_member: bool = True


def _function(parameters: str, result: str, implementation: Callable[..., Any]) -> Overload:
    return Overload(tuple(parameters.split()), result, implementation, is_member=False)


def _member(parameters: str, result: str, implementation: Callable[..., Any]) -> Overload:
    return Overload(tuple(parameters.split()), result, implementation)


def _sum(items: Sequence[Any]) -> Any:
    if not items:
        return 0
    total = items[0]
    for item in items[1:]:
        total = total + item
    return total


def _extreme(choose: Callable[[Sequence[Any]], Any], name: str) -> Callable[[Sequence[Any]], Any]:
    def extreme(items: Sequence[Any]) -> Any:
        if not items:
            raise ValueError(f"{name} called on empty list")
        return choose(items)

    return extreme


def _is_sorted(items: Sequence[Any]) -> bool:
    return all(not later < earlier for earlier, later in pairwise(items))


def _index_of(items: Sequence[Any], wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if item == wanted), -1)


def _last_index_of(items: Sequence[Any], wanted: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if items[index] == wanted), -1)


def _find_in_text(text: str, wanted: str, start: int = 0) -> int:
    _within(start, text)
    return text.find(wanted, start)


def _find_last_in_text(text: str, wanted: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(wanted)
    _within(start, text)
    return text.rfind(wanted, 0, start + len(wanted))


def _within(index: int, text: str) -> None:
    if not 0 <= index <= len(text):
        raise ValueError(f"index out of range: {index}")


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    places = text.count(old) if count < 0 else min(count, text.count(old))
    if len(text) + places * (len(new) - len(old)) > RESULT_LIMIT_CHARACTERS:
        raise ValueError(f"replace would make a text longer than {RESULT_LIMIT_CHARACTERS} characters")
    return text.replace(old, new, count)


def _find(text: str, expression: str) -> str:
    found = Pattern(expression).find_all(text, limit=1)
    return found[0] if found else ""


def _find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    return Pattern(expression).find_all(text, limit=None if limit < 0 else limit)


def _compared(left: str, right: str) -> int:
    """Compare two quantities or two versions; no text is both, and both are passed around as text."""
    if semver.is_version(left) and semver.is_version(right):
        return semver.compare(left, right)
    mine, theirs = quantity.parse(left), quantity.parse(right)
    return (mine > theirs) - (mine < theirs)


def _calculated(calculate: Callable[[Decimal, Decimal], Decimal]) -> Callable[[str, str | int], str]:
    def calculated(left: str, right: str | int) -> str:
        other = quantity.parse(right) if isinstance(right, str) else Decimal(right)
        return quantity.canonical(calculate(quantity.parse(left), other))

    return calculated


def _integer(text: str) -> int:
    value = quantity.parse(text)
    if value != value.to_integral_value():
        raise ValueError("cannot convert value to integer")
    return int(value)


FUNCTIONS: Final[Mapping[str, tuple[Overload, ...]]] = {
    "sum": (_member("list", "dyn", _sum),),
    "min": (_member("list", "dyn", _extreme(min, "min")),),
    "max": (_member("list", "dyn", _extreme(max, "max")),),
    "isSorted": (_member("list", "bool", _is_sorted),),
    "indexOf_": (
        *(_member(f"list {element}", "int", _index_of) for element in _ELEMENT_TYPES),
        _member("string string", "int", _find_in_text),
        _member("string string int", "int", _find_in_text),
    ),
    "lastIndexOf_": (
        *(_member(f"list {element}", "int", _last_index_of) for element in _ELEMENT_TYPES),
        _member("string string", "int", _find_last_in_text),
        _member("string string int", "int", _find_last_in_text),
    ),
    "replace_": (
        _member("string string string", "string", _replace),
        _member("string string string int", "string", _replace),
    ),
    "find": (_member("string string", "string", _find),),
    "findAll": (
        _member("string string", "strings", _find_all),
        _member("string string int", "strings", _find_all),
    ),
    "isIP": (_function("string", "bool", parses(address.parse_address)),),
    "ip": (
        _function("string", "string", lambda text: str(address.parse_address(text))),
        _member("string", "string", lambda text: str(address.parse_network(text).ip)),
    ),
    "ip.isCanonical": (_function("string", "bool", lambda text: str(address.parse_address(text)) == text),),
    "family": (_member("string", "int", lambda text: address.parse_address(text).version),),
    "isUnspecified": (_member("string", "bool", lambda text: address.parse_address(text).is_unspecified),),
    "isLoopback": (_member("string", "bool", lambda text: address.parse_address(text).is_loopback),),
    "isLinkLocalMulticast": (_member("string", "bool", address.is_link_local_multicast),),
    "isLinkLocalUnicast": (_member("string", "bool", lambda text: address.parse_address(text).is_link_local),),
    "isGlobalUnicast": (_member("string", "bool", address.is_global_unicast),),
    "isCIDR": (_function("string", "bool", parses(address.parse_network)),),
    "cidr": (_function("string", "string", lambda text: str(address.parse_network(text))),),
    "containsIP": (_member("string string", "bool", address.contains_address),),
    "containsCIDR": (_member("string string", "bool", address.contains_network),),
    "masked": (_member("string", "string", lambda text: str(address.parse_network(text).network)),),
    "prefixLength": (_member("string", "int", lambda text: address.parse_network(text).network.prefixlen),),
    "isURL": (_function("string", "bool", parses(address.parse_url)),),
    "url": (_function("string", "string", lambda text: address.parse_url(text).geturl()),),
    "getScheme": (_member("string", "string", lambda text: address.parse_url(text).scheme),),
    "getHost": (_member("string", "string", address.url_host),),
    "getHostname": (_member("string", "string", lambda text: address.parse_url(text).hostname or ""),),
    "getPort": (_member("string", "string", address.url_port),),
    "getEscapedPath": (_member("string", "string", lambda text: address.parse_url(text).path),),
    "getQuery": (_member("string", "dyn", address.url_query),),
    "isSemver": (
        _function("string", "bool", semver.is_version),
        _function("string bool", "bool", semver.is_version),
    ),
    "semver": (
        _function("string", "string", semver.canonical),
        _function("string bool", "string", semver.canonical),
    ),
    "major": (_member("string", "int", lambda text: semver.numbers(text)[0]),),
    "minor": (_member("string", "int", lambda text: semver.numbers(text)[1]),),
    "patch": (_member("string", "int", lambda text: semver.numbers(text)[2]),),
    "isQuantity": (_function("string", "bool", parses(quantity.parse)),),
    "quantity": (_function("string", "string", lambda text: quantity.canonical(quantity.parse(text))),),
    "sign": (_member("string", "int", lambda text: _compared(text, "0")),),
    "isInteger": (_member("string", "bool", parses(_integer)),),
    "asInteger": (_member("string", "int", _integer),),
    "asApproximateFloat": (_member("string", "double", lambda text: float(quantity.parse(text))),),
    "add": (
        _member("string string", "string", _calculated(Decimal.__add__)),
        _member("string int", "string", _calculated(Decimal.__add__)),
    ),
    "sub": (
        _member("string string", "string", _calculated(Decimal.__sub__)),
        _member("string int", "string", _calculated(Decimal.__sub__)),
    ),
    "isLessThan": (_member("string string", "bool", lambda left, right: _compared(left, right) < 0),),
    "isGreaterThan": (_member("string string", "bool", lambda left, right: _compared(left, right) > 0),),
    "compareTo": (_member("string string", "int", _compared),),
}
