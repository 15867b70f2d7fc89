"""Markers: the text that says which owner claims which record, in TXT records of its own or as entries of pages.

Owns reading and writing of that text. A marker that is ours and yet tells no record is a value of its own: it is never a reason
to delete anything.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ownership.error import FormatError
from ownership.member import Https, Member, MemberType, Srv
from ownership.naming import OwnerID, check_owner, quoted

_HERITAGE: Final = "heritage=dnsweaver"
_VERSION: Final = "2"
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]*\Z")
_UINT16: Final = re.compile(r"[0-9]{1,5}\Z")

_RESERVED: Final = frozenset(
    {
        "heritage",
        "instance",
        "record-version",
        "record-type",
        "record-target",
        "record-srv-priority",
        "record-srv-weight",
        "record-srv-port",
        "record-https-priority",
        "record-https-target-name",
        "record-https-alpn",
    }
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A claim of `owner` to a record; `metadata` is sorted and keeps what other programs noted."""

    owner: OwnerID
    member: Member
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UnclearMarker:
    """A claim of `owner` from before markers told the record, or one that cannot be read; `reason` says which."""

    owner: OwnerID
    reason: str


def parse_marker(value: str) -> Marker | UnclearMarker | None:
    """Return what a text claims, None when it is no marker at all."""
    heritage, comma, rest = value.partition(",")
    if heritage != _HERITAGE:
        return None
    fields: dict[str, str] = {}
    fault = None
    for part in rest.split(",") if comma else ():
        key, equals, text = part.partition("=")
        if not equals:
            fault = f"found {quoted(part)}, allowed is key=value"
        elif key in fields:
            fault = f"found {quoted(key)} twice, allowed is once"
        fields[key] = text
    owner = OwnerID(fields.get("instance", ""))
    if fault is None and "heritage" in fields:
        fault = "found heritage twice, allowed is once"
    if fault is not None:
        return UnclearMarker(owner, fault)
    if "record-version" not in fields:
        return UnclearMarker(owner, "it tells no record")
    try:
        member = _member(fields)
    except ValueError as error:
        return UnclearMarker(owner, str(error))
    metadata = tuple(sorted((key, text) for key, text in fields.items() if key not in _RESERVED))
    return Marker(owner, member, metadata)


def write_marker(marker: Marker) -> str:
    """Return the text of a marker; raises FormatError for what it cannot carry."""
    try:
        return _write(marker)
    except UnicodeEncodeError as error:
        raise FormatError(
            f"found half of a surrogate pair in the record or the metadata of {marker.owner!r}"
        ) from error


def _write(marker: Marker) -> str:
    fields = {"record-version": _VERSION, **_member_fields(marker.member)}
    for key, text in marker.metadata:
        if key in _RESERVED or not key or set(key) & set(",=") or "," in text:
            message = f"found the metadata {quoted(key)}={quoted(text)}"
            raise FormatError(f"{message}, allowed are names of one's own without , and =, and values without ,")
        fields[key] = text.encode().decode()
    owner = check_owner(marker.owner)
    head = [_HERITAGE, f"instance={owner}"] if owner else [_HERITAGE]
    return ",".join([*head, *(f"{key}={text}" for key, text in sorted(fields.items()))])


def _member(fields: Mapping[str, str]) -> Member:
    """Return the record; raises ValueError, which says what keeps it from being told."""
    if (version := fields["record-version"]) != _VERSION:
        raise ValueError(f"record-version: found {quoted(version)}, allowed is {_VERSION}")
    text = fields.get("record-type", "")
    try:
        kind = MemberType(text)
    except ValueError as error:
        raise ValueError(f"record-type: found {quoted(text)}, allowed are {', '.join(MemberType)}") from error
    target = _text(fields, "record-target")
    if kind is MemberType.SRV:
        numbers = (_uint16(fields, f"record-srv-{name}") for name in ("priority", "weight", "port"))
        return Member(kind, target, srv=Srv(*numbers))
    if kind is MemberType.HTTPS:
        name, alpn = _text(fields, "record-https-target-name"), _text(fields, "record-https-alpn")
        return Member(kind, target, https=Https(_uint16(fields, "record-https-priority"), name, alpn))
    return Member(kind, target)


def _member_fields(member: Member) -> dict[str, str]:
    fields = {"record-type": str(member.type), "record-target": _base64url(member.target)}
    if member.srv is not None:
        fields["record-srv-priority"] = str(member.srv.priority)
        fields["record-srv-weight"] = str(member.srv.weight)
        fields["record-srv-port"] = str(member.srv.port)
    if member.https is not None:
        fields["record-https-priority"] = str(member.https.priority)
        fields["record-https-target-name"] = _base64url(member.https.target_name)
        fields["record-https-alpn"] = _base64url(member.https.alpn)
    return fields


def _base64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _text(fields: Mapping[str, str], key: str) -> str:
    encoded = fields.get(key)
    if encoded is None:
        raise ValueError(f"{key} is missing")
    if not _BASE64URL.match(encoded):
        raise ValueError(f"{key}: found {quoted(encoded)}, allowed is base64url without padding")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{key}: found {quoted(encoded)}, allowed is base64url of UTF-8") from error


def _uint16(fields: Mapping[str, str], key: str) -> int:
    text = fields.get(key, "")
    if not _UINT16.match(text) or int(text) > 0xFFFF:
        raise ValueError(f"{key}: found {quoted(text)}, allowed are 0 to 65535")
    return int(text)
