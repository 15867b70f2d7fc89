"""DNS records as Cloudflare's API shows them, parsed into what can be compared.

Owns the parse of one record and of its identifier. A content that cannot be read is a value that equals nothing, never an error; an
identifier that is none makes the whole answer worthless, since nothing could be changed or deleted by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final

from controllers.providers.cloudflare.failure import BadAnswerError
from controllers.providers.cloudflare.name import read_name
from controllers.providers.cloudflare.text import readings
from zonemodel.name import to_wire
from zonemodel.record import RecordType

AUTO_TTL: Final = 1
_ID: Final = re.compile(r"[0-9a-f]{32}\Z")
_CAA: Final = re.compile(r'(\d+)\s+([A-Za-z0-9]+)\s+"?(.*?)"?\Z', re.DOTALL)


def is_id(value: object) -> bool:
    """Say whether a value is an identifier of Cloudflare's: 32 lowercase hexadecimal digits."""
    return isinstance(value, str) and _ID.match(value) is not None


@dataclass(frozen=True, slots=True)
class CloudflareRecord:
    """One record of a zone. `values` are the octets that it may stand for, likeliest first; none when they cannot be read.

    `name` is absolute and lowercase; `ttl_s` is 1 for the automatic one; `tags` are sorted.
    """

    id: str
    name: str
    type: str
    values: tuple[bytes, ...]
    ttl_s: int
    proxied: bool
    comment: str
    tags: tuple[str, ...]
    created: datetime | None


def parse_record(found: object) -> CloudflareRecord:
    """Parse one record. Raises BadAnswerError when it has no identifier, name or type."""
    if not isinstance(found, Mapping) or not is_id(found.get("id")):
        raise BadAnswerError("Cloudflare API gave a record with a malformed identifier")
    name, kind = found.get("name"), found.get("type")
    if not isinstance(name, str) or not isinstance(kind, str):
        raise BadAnswerError("Cloudflare API gave a record without name or type")
    ttl = found.get("ttl")
    return CloudflareRecord(
        id=str(found["id"]),
        name=read_name(name),
        type=kind,
        values=_values(kind, found),
        ttl_s=int(ttl) if isinstance(ttl, int | float) else 0,
        proxied=found.get("proxied") is True,
        comment=str(found.get("comment") or ""),
        tags=tuple(sorted(normal_tag(each) for each in found.get("tags") or () if isinstance(each, str))),
        created=parse_time(found.get("created_on")),
    )


def parse_records(found: Iterable[object]) -> tuple[CloudflareRecord, ...]:
    """Parse records that have to be different ones. Raises BadAnswerError when two have one identifier."""
    records = tuple(parse_record(each) for each in found)
    if len({each.id for each in records}) != len(records):
        raise BadAnswerError("Cloudflare API gave two records with one identifier")
    return records


def parse_time(text: object) -> datetime | None:
    """Return a time of the API, None when it is none."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def normal_tag(tag: str) -> str:
    """Return a tag with its name in lowercase: names have no case, values do."""
    name, colon, value = tag.partition(":")
    return f"{name.lower()}{colon}{value}"


def _values(kind: str, found: Mapping[str, Any]) -> tuple[bytes, ...]:
    content = found.get("content")
    try:
        match kind:
            case RecordType.TXT:
                return readings(content) if isinstance(content, str) else ()
            case RecordType.CAA:
                return _caa(found)
            case RecordType.MX:
                return (mx_value(int(found["priority"]), read_name(str(content))),)
            case RecordType.A:
                return (IPv4Address(content).packed,)
            case RecordType.AAAA:
                return (IPv6Address(content).packed,)
            case RecordType.CNAME | RecordType.NS:
                return (to_wire(read_name(str(content))),)
    except (ValueError, KeyError, TypeError):
        return ()
    return ()


def mx_value(preference: int, exchange: str) -> bytes:
    """Return the rdata of a mail exchange (RFC 1035 section 3.3.9). Raises ValueError."""
    return preference.to_bytes(2, "big") + to_wire(exchange.lower()) if 0 <= preference < 65536 else b""


def caa_value(flags: int, tag: str, value: str) -> bytes:
    """Return the rdata of a certification authority restriction (RFC 8659 section 4.1). Raises ValueError."""
    name = tag.encode("ascii")
    return bytes((flags, len(name))) + name + value.encode()


def _caa(found: Mapping[str, Any]) -> tuple[bytes, ...]:
    data = found.get("data")
    if isinstance(data, Mapping) and {"flags", "tag", "value"} <= data.keys():
        return (caa_value(int(data["flags"]), str(data["tag"]).lower(), str(data["value"])),)
    match = _CAA.match(str(found.get("content") or ""))
    return (caa_value(int(match[1]), match[2].lower(), match[3]),) if match else ()
