"""Domain names in the three spellings the product uses, and the rules for accepting them.

`OwnerName` is relative to a zone (`@`, `*`, `www`, `*.app`), `Fqdn` is absolute, lowercase and without the trailing dot,
`WireName` is the uncompressed octet form of RFC 1035 section 3.1. Nothing is normalised here: a name is canonical or it is
objected to.
"""

from __future__ import annotations

import re
from typing import Final, NewType

OwnerName = NewType("OwnerName", str)
Fqdn = NewType("Fqdn", str)
WireName = NewType("WireName", bytes)

APEX: Final = OwnerName("@")
MAX_LABEL_OCTETS: Final = 63
MAX_NAME_OCTETS: Final = 255

_LDH = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z")
_UNDERSCORED = re.compile(r"_?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z")


def owner_fqdn(owner: OwnerName, domain: Fqdn) -> Fqdn:
    """Return the absolute name of an owner inside the zone `domain`."""
    return domain if owner == APEX else Fqdn(f"{owner}.{domain}")


def relative_to(fqdn: Fqdn, domain: Fqdn) -> OwnerName | None:
    """Return the owner name of `fqdn` inside `domain`, or None when it lies outside (whole labels count, not suffixes)."""
    if fqdn == domain:
        return APEX
    suffix = f".{domain}"
    return OwnerName(fqdn[: -len(suffix)]) if fqdn.endswith(suffix) else None


def to_wire(fqdn: str) -> WireName:
    """Return the octet form of an ASCII name; a trailing dot is optional and "." or "" is the root.

    Raises ValueError for an empty label, a label over 63 octets or a name over 255 octets (RFC 1035 section 2.3.4).
    """
    text = fqdn[:-1] if fqdn.endswith(".") else fqdn
    wire = bytearray()
    for label in text.split(".") if text else ():
        octets = label.encode("ascii")
        if not 1 <= len(octets) <= MAX_LABEL_OCTETS:
            raise ValueError(f"{fqdn!r} has a label of {len(octets)} octets, allowed are 1 to {MAX_LABEL_OCTETS}")
        wire.append(len(octets))
        wire += octets
    wire.append(0)
    if len(wire) > MAX_NAME_OCTETS:
        raise ValueError(f"{fqdn!r} takes {len(wire)} octets on the wire, allowed are {MAX_NAME_OCTETS}")
    return WireName(bytes(wire))


def wire_labels(wire: WireName) -> list[bytes]:
    """Return the labels of an uncompressed name, leftmost first, the root label left out."""
    labels = []
    position = 0
    while length := wire[position]:
        labels.append(wire[position + 1 : position + 1 + length])
        position += 1 + length
    return labels


def is_within(name: WireName, apex: WireName) -> bool:
    """Say whether `name` is `apex` or below it: whole labels count, equal octets at the end are not enough."""
    if not name.endswith(apex):
        return False
    start, end = 0, len(name) - len(apex)
    while start < end:
        start += 1 + name[start]
    return start == end


def from_labels(labels: list[bytes]) -> WireName:
    """Return the octet form of labels given leftmost first."""
    return WireName(b"".join(bytes((len(label),)) + label for label in labels) + b"\0")


def object_to_domain(text: str) -> str | None:
    """Say why `text` is not a canonical absolute domain name (zone apex, NS, MX target), or None when it is."""
    return _object_to_labels(text, _LDH, "[a-z0-9-]")


def object_to_target(text: str) -> str | None:
    """Like `object_to_domain`, but labels may begin with an underscore, as CNAME targets do (RFC 8552)."""
    return _object_to_labels(text, _UNDERSCORED, "[a-z0-9-], optionally with a leading underscore")


def object_to_owner(text: str, *, underscore: bool) -> str | None:
    """Say why `text` is not an owner name (`@`, `*`, `*.rel`, `rel`), or None when it is.

    `underscore` allows labels that begin with an underscore, as TXT and CNAME owners need (RFC 8552).
    """
    if text in {"@", "*"}:
        return None
    rest = text[2:] if text.startswith("*.") else text
    return object_to_target(rest) if underscore else object_to_domain(rest)


def object_to_length(owner: OwnerName, domain: Fqdn) -> str | None:
    """Say why the owner does not fit in the zone by its length on the wire (RFC 1035 section 2.3.4), or None."""
    fqdn = owner_fqdn(owner, domain)
    octets = len(fqdn) + 2
    if octets > MAX_NAME_OCTETS:
        return f"the name {_abbreviated(fqdn)} takes {octets} octets on the wire, allowed are {MAX_NAME_OCTETS}"
    return None


def _object_to_labels(text: str, pattern: re.Pattern[str], allowed: str) -> str | None:
    if not text:
        return "must not be empty"
    if not text.isascii():
        return "must be ASCII; write an internationalised name in its xn-- form (RFC 5890)"
    if text != text.lower():
        return "must be lowercase"
    if text.endswith("."):
        return "must not end in a dot"
    for label in text.split("."):
        if not label:
            return "must not hold an empty label"
        if len(label) > MAX_LABEL_OCTETS:
            return f"holds a label of {len(label)} octets, allowed are 1 to {MAX_LABEL_OCTETS}"
        if not pattern.match(label):
            return f"holds the label {label!r}, allowed are {allowed}, neither beginning nor ending in a hyphen"
    if len(text) + 2 > MAX_NAME_OCTETS:
        return f"takes {len(text) + 2} octets on the wire, allowed are {MAX_NAME_OCTETS}"
    return None


def _abbreviated(text: str) -> str:
    return text if len(text) <= 64 else f"{text[:61]}..."
