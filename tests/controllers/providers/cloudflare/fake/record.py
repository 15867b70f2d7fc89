"""DNS records of the fake: what is accepted, how it is kept, how it reads back.

Follows the DNS record section of Cloudflare's public API reference; codes and messages are those that it answers with.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum, auto
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any

from tests.controllers.providers.cloudflare.fake.failure import (
    ADDRESS_OR_CNAME,
    CNAME,
    IDENTICAL,
    NS,
    ApiError,
)

Record = dict[str, Any]

TYPES = ("A", "AAAA", "CNAME", "MX", "NS", "TXT", "CAA")
PROXIABLE = ("A", "AAAA", "CNAME")
COMMENT_LIMIT = 100
TAG_LIMIT = 20
CHARACTER_STRING_OCTETS = 255
WRITABLE = ("type", "name", "content", "ttl", "proxied", "comment", "tags", "priority", "data", "settings")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class TextForm(Enum):
    """How TXT content reads back."""

    AS_SENT = auto()
    QUOTED = auto()  # one quoted string, however long
    SPLIT = auto()  # quoted strings of at most 255 octets
    BARE = auto()  # without quotes


def moment() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def merged(record: Record, body: Record) -> Record:
    """Return the record after a PATCH."""
    changed = {**record, **{key: body[key] for key in WRITABLE if key in body}}
    if "content" in body and "data" not in body:
        changed.pop("data", None)
    return changed


def checked(body: Record, zone_name: str, *, tags_allowed: int) -> Record:
    """Return the writable fields as they are kept. Raises ApiError."""
    kind = body.get("type")
    if kind not in TYPES:
        raise ApiError(400, 9000, "DNS record type is invalid.")
    name = str(body.get("name", "")).lower().rstrip(".")
    if name == "@":
        name = zone_name
    if name != zone_name and not name.endswith(f".{zone_name}"):
        raise ApiError(400, 9000, "DNS name is invalid.")
    proxied = bool(body.get("proxied", False))
    if proxied and kind not in PROXIABLE:
        raise ApiError(400, 9004, "This record type cannot be proxied.")
    kept = {"type": kind, "name": name, "proxied": proxied, "proxiable": kind in PROXIABLE}
    kept["ttl"] = 1 if proxied else _ttl(body.get("ttl", 1))
    kept["comment"] = _comment(body.get("comment"))
    kept["tags"] = _tags(body.get("tags") or [], tags_allowed)
    kept["settings"] = body.get("settings") or {}
    return {**kept, **_content(str(kind), body)}


def _ttl(ttl: Any) -> int:
    if ttl != 1 and not (isinstance(ttl, int) and 60 <= ttl <= 86400):
        raise ApiError(400, 9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.")
    return int(ttl)


def _comment(comment: Any) -> str | None:
    if comment is not None and len(comment) > COMMENT_LIMIT:
        raise ApiError(400, 9313, f"DNS record comment exceeds {COMMENT_LIMIT} characters.")
    return comment or None


def _tags(tags: list[str], allowed: int) -> list[str]:
    if len(tags) > allowed:
        raise ApiError(400, 9300, f"DNS record has {len(tags)} tags, exceeding the quota of {allowed}.")
    named = []
    for tag in tags:
        name, colon, value = tag.partition(":")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name) or name.lower().startswith("cf-") or "\n" in value:
            raise ApiError(400, 9301, f"DNS record tag {tag!r} is invalid.")
        named.append(f"{name.lower()}{colon}{value}")
    return sorted(named)


def _content(kind: str, body: Record) -> Record:
    data, content = body.get("data"), body.get("content")
    match kind:
        case "CAA":
            return _caa(data or {})
        case "MX":
            priority = body.get("priority")
            if not isinstance(priority, int) or not 0 <= priority <= 65535:
                raise ApiError(400, 9100, "priority is a required field for MX records.")
            return {"content": _host(content, "MX"), "priority": priority}
        case "CNAME" | "NS":
            return {"content": _host(content, kind)}
        case "TXT":
            if not isinstance(content, str) or not content:
                raise ApiError(400, 9106, "content for TXT record must not be empty.")
            return {"content": content}
    return {"content": _address(kind, content)}


def _address(kind: str, content: Any) -> str:
    try:
        return str(IPv4Address(content) if kind == "A" else IPv6Address(content))
    except (AddressValueError, TypeError):
        code, family = (9005, "IPv4") if kind == "A" else (9006, "IPv6")
        raise ApiError(400, code, f"Content for {kind} record must be a valid {family} address.") from None


def _host(content: Any, kind: str) -> str:
    if not isinstance(content, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,254}", content) or content == ".":
        raise ApiError(400, 9007, f"Content for {kind} record is invalid.")
    return content.rstrip(".").lower()


def _caa(data: Record) -> Record:
    flags, tag, value = data.get("flags"), data.get("tag"), data.get("value")
    if not isinstance(flags, int) or not isinstance(tag, str) or not isinstance(value, str) or not value:
        raise ApiError(400, 9101, "flags, tag and value are required data fields for CAA records.")
    return {
        "data": {"flags": flags, "tag": tag, "value": value},
        "content": f'{flags} {tag} "{value}"',
    }


def refuse_conflict(record: Record, others: list[Record]) -> None:
    """Raise ApiError when a record cannot stand beside the others of its zone."""
    kind = record["type"]
    for other in others:
        if other["name"] != record["name"]:
            continue
        pair = {kind, other["type"]}
        if kind == "CNAME" and other["type"] in PROXIABLE:
            raise ADDRESS_OR_CNAME
        if other["type"] == "CNAME" and kind in PROXIABLE:
            raise CNAME
        if "NS" in pair and len(pair) == 2:
            raise NS
        if kind == other["type"] and _identity(record) == _identity(other):
            raise IDENTICAL


def _identity(record: Record) -> tuple[Any, ...]:
    if record["type"] == "TXT":
        return (octets(record["content"]),)
    return record["content"], record.get("priority")


def octets(content: str) -> bytes:
    """What a TXT content says, quoted or not."""
    strings = _QUOTED.findall(content)
    if not content.startswith('"') or not strings:
        return content.encode()
    pieces = re.split(r"\\(\d{3}|.)", "".join(strings))
    said = (
        bytes((int(piece),)) if number % 2 and len(piece) == 3 else piece.encode()
        for number, piece in enumerate(pieces)
    )
    return b"".join(said)


def shown(record: Record, form: TextForm) -> Record:
    """Return a record as a response shows it."""
    if record["type"] != "TXT" or form is TextForm.AS_SENT:
        return dict(record)
    said = octets(record["content"]).decode()
    if form is TextForm.BARE:
        return {**record, "content": said}
    size = CHARACTER_STRING_OCTETS if form is TextForm.SPLIT else max(len(said), 1)
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    return {**record, "content": " ".join('"' + _escaped(piece) + '"' for piece in pieces)}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
