"""Message descriptions, and the one walk that turns wire fields into a JSON-shaped object by them.

Owns what JSON form each protobuf type takes. Fields that a description does not name are skipped, as Kubernetes does.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from standalone.protobuf.wire import fields, signed

Convert = Callable[[int | bytes], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its JSON name, how its value is converted, and how often it may come.

    `optional` marks what the client can leave unset: when it comes, even a zero or an empty message says something.
    All other singular fields are always sent, so there a zero means unset.
    """

    name: str
    convert: Convert
    optional: bool = False
    repeated: bool = False
    is_map: bool = False


Description = Mapping[int, Field]


def read(description: Description, body: bytes) -> dict[str, Any]:
    """The JSON-shaped object of a message; raises ValueError that names the field path at fault."""
    result: dict[str, Any] = {}
    for number, raw in fields(body):
        field = description.get(number)
        if field is None:
            continue
        try:
            value = field.convert(raw)
        except ValueError as fault:
            raise ValueError(f"{field.name}: {fault}") from None
        if field.is_map:
            result.setdefault(field.name, {}).update([value])
        elif field.repeated:
            result.setdefault(field.name, []).append(value)
        elif field.optional or value not in ("", 0, None, {}):
            result[field.name] = value
    return result


def message(description: Description) -> Convert:
    """The conversion of a nested message."""
    return lambda raw: read(description, _bytes(raw))


def string(raw: int | bytes) -> str:
    try:
        return _bytes(raw).decode()
    except UnicodeDecodeError:
        raise ValueError("expected UTF-8 text") from None


def base64_bytes(raw: int | bytes) -> str:
    """`bytes` fields are base64 in JSON."""
    return base64.b64encode(_bytes(raw)).decode()


def integer(raw: int | bytes) -> int:
    if isinstance(raw, bytes):
        raise ValueError(f"expected a number, found {len(raw)} bytes")
    return signed(raw)


def boolean(raw: int | bytes) -> bool:
    return integer(raw) != 0


def map_entry(value: Convert) -> Callable[[int | bytes], tuple[str, Any]]:
    """A map comes as repeated pairs of key (1) and value (2); an absent part is the empty one."""

    def convert(raw: int | bytes) -> tuple[str, Any]:
        parts = dict(fields(_bytes(raw)))
        return string(parts.get(1, b"")), value(parts.get(2, b""))

    return convert


def seconds_time(raw: int | bytes) -> str | None:
    """`Time`: RFC 3339 with whole seconds; an empty message is the zero time, which JSON writes as null."""
    moment = _moment(raw)
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}Z"


def micro_time(raw: int | bytes) -> str | None:
    """`MicroTime`: RFC 3339 with six decimals."""
    moment = _moment(raw)
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def int_or_string(raw: int | bytes) -> int | str:
    """`IntOrString`: type (1) says which of intVal (2) and strVal (3) counts."""
    parts = dict(fields(_bytes(raw)))
    return string(parts.get(3, b"")) if parts.get(1, 0) == 1 else integer(parts.get(2, 0))


def json_object(raw: int | bytes) -> Any:
    """`FieldsV1`: JSON text inside a message."""
    text = dict(fields(_bytes(raw))).get(1, b"")
    try:
        return orjson.loads(_bytes(text)) if text else None
    except orjson.JSONDecodeError as fault:
        raise ValueError(f"expected JSON, {fault}") from None


def _moment(raw: int | bytes) -> datetime | None:
    parts = dict(fields(_bytes(raw)))
    if not parts:
        return None
    seconds, nanos = integer(parts.get(1, 0)), integer(parts.get(2, 0))
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise ValueError(f"{seconds} s is outside the years 1 to 9999") from None


def _bytes(raw: int | bytes) -> bytes:
    if isinstance(raw, int):
        raise ValueError(f"expected bytes, found the number {raw}")
    return raw
