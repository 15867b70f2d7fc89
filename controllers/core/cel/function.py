"""Functions that expressions have beside CEL's own: what rules about DNS need, and `matches` with patterns that are kept.

Pure functions over texts; a text that is not what a function asks about is an answer of false, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from controllers.core.pattern import Pattern
from zonemodel.name import object_to_target

PATTERN_CACHE_LIMIT: Final = 256


def is_ipv4(text: str) -> bool:
    """Say whether a text is an IPv4 address in dotted decimal form."""
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    """Say whether a text is an IPv6 address without a zone."""
    try:
        return IPv6Address(text).scope_id is None
    except AddressValueError:
        return False


def is_ip(text: str) -> bool:
    """Say whether a text is an IPv4 or IPv6 address."""
    return is_ipv4(text) or is_ipv6(text)


def is_dns_name(text: str) -> bool:
    """Say whether a text is a lowercase ASCII DNS name without a trailing dot; labels may begin with an underscore."""
    return object_to_target(text) is None and not is_ip(text)


def matches(text: str, pattern: str) -> bool:
    """Say whether a pattern matches somewhere in a text. Raises PatternError, which no pattern in an admitted expression causes."""
    return _compiled(pattern).occurs_in(text)


@lru_cache(maxsize=PATTERN_CACHE_LIMIT)
def _compiled(pattern: str) -> Pattern:
    return Pattern(pattern)


TEXT_PREDICATES: Final[Mapping[str, Callable[[str], bool]]] = {
    "isIP": is_ip,
    "isIPv4": is_ipv4,
    "isIPv6": is_ipv6,
    "isDNSName": is_dns_name,
}
