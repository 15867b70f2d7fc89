"""The formats that payload schemas may ask for, as predicates; a format that is not here is a remark and checks nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final


def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_ipv4(value: object) -> bool:
    return not isinstance(value, str) or _parses(IPv4Address, value)


def _is_ipv6(value: object) -> bool:
    return not isinstance(value, str) or ("%" not in value and _parses(IPv6Address, value))


def _parses(kind: type[IPv4Address] | type[IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except AddressValueError:
        return False
    return True


def _fits(bits: int) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        return not isinstance(value, int) or isinstance(value, bool) or -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)

    return check


FORMATS: Final[Mapping[str, Callable[[object], bool]]] = {
    "date-time": _is_date_time,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "int32": _fits(32),
    "int64": _fits(64),
}
