"""Names for imported objects: readable, the same at each import, and never the same for two records.

Owns names only. A name that cannot be told from another one's by reading gets a digest of what it stands for.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from zonemodel.name import APEX, MAX_LABEL_OCTETS, Fqdn, OwnerName
from zonemodel.record import RecordType

MAX_OBJECT_NAME: Final = 253
MAX_ZONE_NAME: Final = 180
"""Leaves room for the names that are made from a zone's: those of its records, its ledger's parts and its pages."""

_DIGEST_DIGITS: Final = 8
_PART_OF_A_LEDGER: Final = re.compile(r"\.part-[0-9]+\Z")
_APEX_WORD: Final = "apex"
_WILDCARD_WORD: Final = "wildcard"


def zone_object_name(domain: Fqdn) -> str:
    """Return the object name for a zone: its domain name, shortened with a digest where that is no name for a Zone."""
    if len(domain) <= MAX_ZONE_NAME and not _PART_OF_A_LEDGER.search(domain):
        return domain
    return f"{_cut(domain, MAX_ZONE_NAME - _DIGEST_DIGITS - 1)}-{_digest(domain)}"


def record_set_object_name(zone_name: str, owner: OwnerName, record_type: RecordType) -> str:
    """Return the object name for a record set of the Zone object `zone_name`: `www-a.example.com`, `apex-mx.example.com`.

    The label that ends in the type divides owner and zone. A digest is added when another label ends alike, and when the
    owner had to be rewritten to be an object name.
    """
    readable = _readable(owner)
    kind = record_type.field
    name = f"{readable}-{kind}.{zone_name}"
    if _is_exact(owner, readable) and _reads_one_way(name) and _fits(name):
        return name
    room = MAX_OBJECT_NAME - len(f"-{kind}-.{zone_name}") - _DIGEST_DIGITS
    return f"{_cut(readable, room)}-{kind}-{_digest(zone_name, owner, kind)}.{zone_name}"


def _readable(owner: OwnerName) -> str:
    if owner == APEX:
        return _APEX_WORD
    labels = owner.split(".")
    if labels[0] == "*":
        labels[0] = _WILDCARD_WORD
    return ".".join(label.removeprefix("_") for label in labels)


def _is_exact(owner: OwnerName, readable: str) -> bool:
    """Say whether the owner can be told from the readable form, the words for the apex and for a wildcard included."""
    if owner == APEX:
        return True
    if owner.startswith("*"):
        return owner[1:] == readable.removeprefix(_WILDCARD_WORD)
    return owner == readable and owner != _APEX_WORD and owner.split(".")[0] != _WILDCARD_WORD


def _reads_one_way(name: str) -> bool:
    endings = tuple(f"-{each.field}" for each in RecordType)
    return sum(label.endswith(endings) for label in name.split(".")) == 1


def _fits(name: str) -> bool:
    return len(name) <= MAX_OBJECT_NAME and all(len(label) <= MAX_LABEL_OCTETS for label in name.split("."))


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a name whose last label stays short enough for what is added to it."""
    labels = text[:limit].rstrip(".").split(".")
    labels[-1] = labels[-1][: MAX_LABEL_OCTETS - _DIGEST_DIGITS - len("-cname-")]
    return ".".join(labels).rstrip(".-")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_DIGEST_DIGITS]
