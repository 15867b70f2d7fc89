"""`Fault`: one thing that is wrong with a manifest, as a value that names the field, what was found and what is allowed.

Owns the words and their bounds: however large the refused value is, a fault stays short.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from controllers.api.condition import MESSAGE_LIMIT

FOUND_LIMIT_CHARS: Final = 80
NOTHING: Final = "nothing"


class FaultReason(StrEnum):
    """Why a field is refused: the cause types of the Kubernetes API (metav1.CauseType) and one of the product's own."""

    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    TYPE_INVALID = "FieldValueTypeInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    INVALID_PROVIDER = "InvalidProvider"


@dataclass(frozen=True, slots=True)
class Fault:
    """One refused field; `found` and `allowed` are phrases for people."""

    field: str
    found: str
    allowed: str
    reason: FaultReason = FaultReason.INVALID

    @property
    def message(self) -> str:
        """What was found and what is allowed, without the field."""
        name = f"{self.reason}: " if self.reason is FaultReason.INVALID_PROVIDER else ""
        return f"{name}found {self.found}, allowed: {self.allowed}"

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def tell(faults: Iterable[Fault]) -> str:
    """Return faults as the message of a condition, all that fit in it."""
    text = "; ".join(str(fault) for fault in faults)
    return _cut(text, MESSAGE_LIMIT - len("..."))


def describe(value: object) -> str:
    """Return a JSON value for a message: short values as they are, long texts by their beginning, large ones by their size."""
    match value:
        case None:
            return NOTHING
        case str():
            return _quote(value)
        case Mapping():
            return (
                _sized("an object", len(value), "field")
                if len(value) > 1
                else _excerpt(value, value.values(), "an object")
            )
        case list() | tuple():
            return _sized("a list", len(value), "item") if len(value) > 3 else _excerpt(value, value, "a list")
        case _:
            return _cut(json.dumps(value, default=repr), FOUND_LIMIT_CHARS)


def _quote(text: str) -> str:
    if len(text) <= FOUND_LIMIT_CHARS:
        return json.dumps(text)
    return f"{json.dumps(text[:FOUND_LIMIT_CHARS])}... ({len(text)} characters)"


def _excerpt(value: object, leaves: Iterable[object], noun: str) -> str:
    """JSON of a small container whose leaves may be large all the same."""
    if not all(_is_short(leaf) for leaf in leaves):
        return noun
    return _cut(json.dumps(value, default=repr), FOUND_LIMIT_CHARS)


def _is_short(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 60)


def _sized(noun: str, count: int, unit: str) -> str:
    return f"{noun} of {count} {unit}s"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
