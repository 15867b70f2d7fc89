"""The string formats that custom resource schemas enforce; every other format name is ignored, as in Kubernetes.

Owns one predicate for each format. Never words the fault.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import date
from email.utils import parseaddr
from typing import Final

from standalone.schema.pattern import Pattern

_NUMERIC: Final = {"integer": frozenset({"int32", "int64"}), "number": frozenset({"float", "double"})}


def known_format(name: str, types: tuple[str, ...]) -> str:
    """Return `name` when it is enforced for a value of these types, else the empty string."""
    only_type = types[0] if len(types) == 1 else ""
    if only_type in _NUMERIC:
        return name if name in _NUMERIC[only_type] else ""
    if only_type in ("", "string"):
        return name if _normal(name) in _CHECKS else ""
    return ""


def string_matches(name: str, text: str) -> bool:
    """Return whether `text` is of the format; true for formats that say nothing about strings."""
    check = _CHECKS.get(_normal(name))
    return check is None or check(text)


def _normal(name: str) -> str:
    return name.replace("-", "")


def _by_pattern(expression: str, limit_bytes: int | None = None) -> Callable[[str], bool]:
    pattern = Pattern(expression)

    def check(text: str) -> bool:
        return (limit_bytes is None or len(text.encode()) <= limit_bytes) and pattern.matches(text)

    return check


def _is_ipv4(text: str) -> bool:
    """Leading zeros are tolerated, and so is an IPv4 address inside an IPv6 one, as Kubernetes does."""
    return "." in text and _is_address(text)


def _is_ipv6(text: str) -> bool:
    return ":" in text and _is_address(text)


def _is_address(text: str) -> bool:
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(_without_leading_zeros(text))
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or not _is_address(address):
        return False
    return int(length) <= (128 if ":" in address else 32)


def _without_leading_zeros(text: str) -> str:
    if ":" in text:
        return text
    return ".".join(octet.lstrip("0") or "0" if octet.isdigit() else octet for octet in text.split("."))


def _is_date(text: str) -> bool:
    if not _DATE_SHAPE.matches(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    day, separator, time_of_day = text.lower().partition("t")
    return bool(separator) and _is_date(day) and _TIME_OF_DAY.matches(time_of_day)


def _is_email(text: str) -> bool:
    _, address = parseaddr(text)
    local, at, domain = address.rpartition("@")
    return bool(at and local and domain) and not domain.startswith(".") and not domain.endswith(".")


def _is_hostname(text: str) -> bool:
    labels_fit = all(len(label.encode()) <= 63 for label in text.split("."))
    return len(text.encode()) <= 255 and labels_fit and _HOSTNAME.matches(text)


def _is_isbn10(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not _ISBN10.matches(digits):
        return False
    weighted = sum((index + 1) * (10 if char in "xX" else int(char)) for index, char in enumerate(digits))
    return weighted % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not _ISBN13.matches(digits):
        return False
    return sum((1, 3)[index % 2] * int(char) for index, char in enumerate(digits)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = "".join(char for char in text if char.isascii() and char.isdigit())
    if not _CREDIT_CARD.matches(digits):
        return False
    doubled = [int(char) * (1 + index % 2) for index, char in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _is_duration(text: str) -> bool:
    """Go's duration syntax, or Scala's (`22 ns`, `3 weeks`) found anywhere in the text."""
    return _GO_DURATION.matches(text) or _SCALA_DURATION.matches(text)


_DATE_SHAPE: Final = Pattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
_TIME_OF_DAY: Final = Pattern(r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$")
_HOSTNAME: Final = Pattern(
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\p{S}\p{L}-]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)\.)+[a-zA-Z\p{L}]{2,63})$"
)
_ISBN10: Final = Pattern(r"^[0-9]{9}[0-9Xx]$")
_ISBN13: Final = Pattern(r"^[0-9]{13}$")
_CREDIT_CARD: Final = Pattern(
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
)
_GO_DURATION: Final = Pattern(r"^[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$")
_SCALA_DURATION: Final = Pattern(
    r"(?i)[0-9]+\s*(ns|nano|us|µs|micro|ms|milli|s\b|sec|m\b|min|h\b|hr\b|hour|d\b|day|w\b|wk\b|week)"
)
_SHORT_NAME: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_HEX4: Final = "[0-9a-f]{4}"
_RGB: Final = r"(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"

_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _by_pattern(r"(?i)^[0-9a-f]{24}$"),
    "uri": _by_pattern(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|/)[^\x00-\x1f\x7f ]*$"),
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": _by_pattern(
        r"(?i)^([0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{2}(:[0-9a-f]{2}){7}|[0-9a-f]{2}(:[0-9a-f]{2}){19}"
        r"|[0-9a-f]{2}(-[0-9a-f]{2}){5}|[0-9a-f]{2}(-[0-9a-f]{2}){7}|[0-9a-f]{2}(-[0-9a-f]{2}){19}"
        r"|[0-9a-f]{4}(\.[0-9a-f]{4}){2}|[0-9a-f]{4}(\.[0-9a-f]{4}){3}|[0-9a-f]{4}(\.[0-9a-f]{4}){9})$"
    ),
    "uuid": _by_pattern(rf"(?i)^[0-9a-f]{{8}}-?{_HEX4}-?{_HEX4}-?{_HEX4}-?[0-9a-f]{{12}}$"),
    "uuid3": _by_pattern(rf"(?i)^[0-9a-f]{{8}}-?{_HEX4}-?3[0-9a-f]{{3}}-?{_HEX4}-?[0-9a-f]{{12}}$"),
    "uuid4": _by_pattern(rf"(?i)^[0-9a-f]{{8}}-?{_HEX4}-?4[0-9a-f]{{3}}-?[89ab][0-9a-f]{{3}}-?[0-9a-f]{{12}}$"),
    "uuid5": _by_pattern(rf"(?i)^[0-9a-f]{{8}}-?{_HEX4}-?5[0-9a-f]{{3}}-?[89ab][0-9a-f]{{3}}-?[0-9a-f]{{12}}$"),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _by_pattern(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"),
    "hexcolor": _by_pattern(r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    "rgbcolor": _by_pattern(rf"^rgb\(\s*{_RGB}\s*,\s*{_RGB}\s*,\s*{_RGB}\s*\)$"),
    "gobytes": _by_pattern(r"^[A-Za-z0-9+/]*=*$"),  # of built-in kinds, whose decoder has judged it
    "byte": _by_pattern(r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"),
    "password": lambda _text: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_date_time,
    "k8sshortname": _by_pattern(rf"^{_SHORT_NAME}$", limit_bytes=63),
    "k8slongname": _by_pattern(rf"^{_SHORT_NAME}(\.{_SHORT_NAME})*$", limit_bytes=253),
}
