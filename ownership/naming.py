"""Where ownership stands in a zone: the names of manifests, pages and markers.

Owns spelling in both directions. Never reads a zone.
"""

from __future__ import annotations

import hashlib
from typing import Final, NewType

from ownership.error import FormatError
from zonemodel.name import Fqdn, to_wire

OwnerID = NewType("OwnerID", str)
"""Who claims: an instance ID, empty for the one owner of zones from before there were several."""

STATE_LABEL: Final = "_dnsweaver-state"
PAGE_LABEL: Final = "_dw-p"
MARKER_LABEL: Final = "_dnsweaver"
OWNER_HASH_DIGITS: Final = 16
PAGE_HASH_DIGITS: Final = 32

_QUOTED_CHARS: Final = 60


def check_owner(owner: str) -> OwnerID:
    """Return the owner ID; raises FormatError for one that no marker could carry."""
    for character in owner:
        if character == "," or not character.isprintable():
            message = f"found the owner ID {quoted(owner)}, allowed is printable text without commas"
            raise FormatError(message)
    return OwnerID(owner)


def owner_hash(owner: OwnerID) -> str:
    """Return the digits that stand for an owner in names."""
    return hashlib.sha256(owner.encode()).hexdigest()[:OWNER_HASH_DIGITS]


def shared_state_name(zone: Fqdn) -> Fqdn:
    """Return the name of all owners' manifests, which is known without enumerating the zone."""
    return Fqdn(f"{STATE_LABEL}.{zone}")


def owner_state_name(zone: Fqdn, owner: OwnerID) -> Fqdn:
    """Return the name of one owner's manifests in zones that can be enumerated."""
    return Fqdn(f"{STATE_LABEL}.{owner_hash(owner)}.{zone}")


def page_name(zone: Fqdn, owner: OwnerID, digest: str) -> Fqdn:
    """Return the name of a page."""
    return Fqdn(f"{PAGE_LABEL}.{owner_hash(owner)}.{digest[:PAGE_HASH_DIGITS]}.{zone}")


def marker_name(fqdn: Fqdn) -> str:
    """Return the name of the markers of `fqdn`; it may be too long for a zone, though not for a snapshot."""
    return f"{MARKER_LABEL}.{fqdn}"


def state_hash(name: Fqdn, zone: Fqdn) -> str | None:
    """Return the owner digits of a manifest name, empty for the shared one, None for any other name."""
    if name == shared_state_name(zone):
        return ""
    digits = name.removeprefix(f"{STATE_LABEL}.").removesuffix(f".{zone}")
    return digits if name == f"{STATE_LABEL}.{digits}.{zone}" and _is_hex(digits, OWNER_HASH_DIGITS) else None


def tells_ownership(name: Fqdn, zone: Fqdn) -> bool:
    """Say whether what stands at a name of the zone may be a manifest, a page or a marker."""
    is_page = name.startswith(f"{PAGE_LABEL}.") and name.endswith(f".{zone}")
    return is_page or is_marker_name(name, zone) or state_hash(name, zone) is not None


def is_marker_name(name: Fqdn, zone: Fqdn) -> bool:
    """Say whether markers of a name in the zone stand at `name`."""
    return name.startswith(f"{MARKER_LABEL}.") and name.endswith(f".{zone}")


def marked_name(name: str) -> Fqdn:
    """Return the name that the markers at `name` are about; raises FormatError when it is no normalized marker name."""
    fqdn = name.removeprefix(f"{MARKER_LABEL}.")
    if fqdn == name:
        raise FormatError(f"found the name {quoted(name)}, allowed is {MARKER_LABEL}. and a domain name")
    if not fqdn or fqdn.endswith(".") or fqdn != fqdn.lower() or not _is_plain(fqdn):
        allowed = "lowercase ASCII without spaces and without a dot at the end"
        raise FormatError(f"found the name {quoted(name)}, allowed is {allowed}")
    try:
        to_wire(fqdn)
    except ValueError as error:
        raise FormatError(f"found the name {quoted(name)}: {_shortened(str(error))}") from error
    return Fqdn(fqdn)


def quoted(text: str) -> str:
    """Return text for a message, escaped and not longer than people read."""
    return _shortened(repr(text[: _QUOTED_CHARS + 1]))


def _shortened(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]}…"


def _is_plain(text: str) -> bool:
    return text.isascii() and all("!" <= character <= "~" for character in text)


def _is_hex(text: str, digits: int) -> bool:
    return len(text) == digits and not text.strip("0123456789abcdef")
