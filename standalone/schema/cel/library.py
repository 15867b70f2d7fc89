"""The functions Kubernetes adds to CEL: lists, regular expressions, addresses, URLs and quantities.

Owns their meaning as plain Python. Addresses, URLs and quantities are passed around as their canonical text. Results
are bounded in size, so that no rule can make the server hold more than it was given.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from standalone.schema.cel import quantity, semver
from standalone.schema.gotext import quote
from standalone.schema.pattern import Pattern

RESULT_LIMIT_CHARACTERS: Final = 1 << 20
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
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


def _address(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError as fault:
        raise ValueError(f"IP Address {quote(text)} parse error during conversion from string: {fault}") from fault
    if isinstance(address, ipaddress.IPv6Address) and (address.scope_id or address.ipv4_mapped):
        raise ValueError(f"IP Address {quote(text)} must not have a zone or be an IPv4-mapped IPv6 address")
    return address


def _network(text: str) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface:
    if "/" not in text:
        raise ValueError(f"network address parse error during conversion from string: {quote(text)} has no prefix")
    return ipaddress.ip_interface(text)


def _parses(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def parses(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return parses


def _contains_address(network: str, address: str) -> bool:
    return _address(address) in _network(network).network


def _contains_network(network: str, other: str) -> bool:
    outer, inner = _network(network).network, _network(other).network
    return outer.version == inner.version and inner.prefixlen >= outer.prefixlen and inner.network_address in outer


def _url(text: str) -> SplitResult:
    parts = urlsplit(text)
    if not parts.scheme and not text.startswith("/"):
        raise ValueError(f"URL parse error during conversion from string: {text!r} is neither absolute nor a path")
    _ = parts.port  # a port that is no number is found here
    return parts


def _host(text: str) -> str:
    return _url(text).netloc.rpartition("@")[2]


def _port(text: str) -> str:
    port = _url(text).port
    return "" if port is None else str(port)


def _query(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in filter(None, _url(text).query.split("&")):
        name, _, value = pair.partition("=")
        found.setdefault(name, []).append(value)
    return found


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
    "isIP": (_function("string", "bool", _parses(_address)),),
    "ip": (
        _function("string", "string", lambda text: str(_address(text))),
        _member("string", "string", lambda text: str(_network(text).ip)),
    ),
    "ip.isCanonical": (_function("string", "bool", lambda text: str(_address(text)) == text),),
    "family": (_member("string", "int", lambda text: _address(text).version),),
    "isUnspecified": (_member("string", "bool", lambda text: _address(text).is_unspecified),),
    "isLoopback": (_member("string", "bool", lambda text: _address(text).is_loopback),),
    "isLinkLocalMulticast": (_member("string", "bool", lambda text: _is_link_local_multicast(_address(text))),),
    "isLinkLocalUnicast": (_member("string", "bool", lambda text: _address(text).is_link_local),),
    "isGlobalUnicast": (_member("string", "bool", lambda text: _is_global_unicast(_address(text))),),
    "isCIDR": (_function("string", "bool", _parses(_network)),),
    "cidr": (_function("string", "string", lambda text: str(_network(text))),),
    "containsIP": (_member("string string", "bool", _contains_address),),
    "containsCIDR": (_member("string string", "bool", _contains_network),),
    "masked": (_member("string", "string", lambda text: str(_network(text).network)),),
    "prefixLength": (_member("string", "int", lambda text: _network(text).network.prefixlen),),
    "isURL": (_function("string", "bool", _parses(_url)),),
    "url": (_function("string", "string", lambda text: _url(text).geturl()),),
    "getScheme": (_member("string", "string", lambda text: _url(text).scheme),),
    "getHost": (_member("string", "string", _host),),
    "getHostname": (_member("string", "string", lambda text: _url(text).hostname or ""),),
    "getPort": (_member("string", "string", _port),),
    "getEscapedPath": (_member("string", "string", lambda text: _url(text).path),),
    "getQuery": (_member("string", "dyn", _query),),
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
    "isQuantity": (_function("string", "bool", _parses(quantity.parse)),),
    "quantity": (_function("string", "string", lambda text: quantity.canonical(quantity.parse(text))),),
    "sign": (_member("string", "int", lambda text: _compared(text, "0")),),
    "isInteger": (_member("string", "bool", _parses(_integer)),),
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


def _is_link_local_multicast(address: Address) -> bool:
    return address in ipaddress.ip_network("224.0.0.0/24" if address.version == 4 else "ff02::/16")


def _is_global_unicast(address: Address) -> bool:
    """Go's meaning: every unicast address but the unspecified, loopback, link-local and broadcast ones."""
    broadcast = address == ipaddress.ip_address("255.255.255.255")
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not (special or broadcast)
