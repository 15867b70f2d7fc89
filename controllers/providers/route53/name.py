"""Domain names as Route 53 writes them, and as we compare them.

Route 53 returns names with a last dot and with three-digit octal escapes for everything but letters, digits, hyphen and underscore
("DNS domain name format" in its developer guide); what it is sent may be escaped or not, in any case. We compare names without the
last dot, in lowercase, with the asterisk as it is and every other special octet escaped.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_*")
DOT: Final = ord(".")
BACKSLASH: Final = ord("\\")


def read_name(text: str) -> str:
    """Return a name of Route 53 in the form that we compare; the root is empty. Raises ValueError on an escape that is none."""
    octets, out = text.encode(), []
    at = 0
    while at < len(octets):
        octet = octets[at]
        at += 1
        if octet == BACKSLASH:
            octet, at = _escaped_octet(octets, at)
        elif octet == DOT:
            out.append(".")
            continue
        out.append(_written(octet))
    return "".join(out).removesuffix(".")


def write_name(name: str) -> str:
    """Return a name in the form that Route 53 returns: escaped where it escapes, with the last dot."""
    return f"{name.replace('*', chr(92) + '052')}." if name else "."


def same_name(one: str, other: str) -> bool:
    """Say whether two spellings are one name. Raises ValueError like `read_name`."""
    return read_name(one) == read_name(other)


def _written(octet: int) -> str:
    if 65 <= octet <= 90:
        octet += 32
    return chr(octet) if octet in PLAIN else f"\\{octet:03o}"


def _escaped_octet(octets: bytes, at: int) -> tuple[int, int]:
    """Return the octet of an escape that begins before `at`, and where it ends."""
    digits = octets[at : at + 3]
    if len(digits) == 3 and all(48 <= digit <= 55 for digit in digits) and digits[0] <= 51:
        return int(digits, 8), at + 3
    if at < len(octets) and not 48 <= octets[at] <= 57:
        return octets[at], at + 1
    raise ValueError(f"an escape is three octal digits or one character, found \\{digits.decode(errors='replace')}")
