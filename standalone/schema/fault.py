"""One objection to one field, worded as Kubernetes words it (apimachinery field errors).

Owns the kinds and the message text. Never collects, sorts or judges faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from standalone.schema import gotext


class FaultKind(Enum):
    """The `reason` of a Status cause; Kubernetes' names for what is wrong with a field."""

    NOT_FOUND = "FieldValueNotFound"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    TYPE_INVALID = "FieldValueTypeInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    INTERNAL = "InternalError"


class Omitted(Enum):
    """Stands for a value that is too large to be worth repeating in a message."""

    OMITTED = "omitted"


_TITLES: Final = {
    FaultKind.NOT_FOUND: "Not found",
    FaultKind.REQUIRED: "Required value",
    FaultKind.DUPLICATE: "Duplicate value",
    FaultKind.INVALID: "Invalid value",
    FaultKind.TYPE_INVALID: "Invalid value",
    FaultKind.NOT_SUPPORTED: "Unsupported value",
    FaultKind.FORBIDDEN: "Forbidden",
    FaultKind.TOO_LONG: "Too long",
    FaultKind.TOO_MANY: "Too many",
    FaultKind.INTERNAL: "Internal error",
}
_WITHOUT_VALUE: Final = frozenset({FaultKind.REQUIRED, FaultKind.FORBIDDEN, FaultKind.TOO_LONG, FaultKind.INTERNAL})
BLOCKING: Final = frozenset(
    {FaultKind.NOT_SUPPORTED, FaultKind.REQUIRED, FaultKind.TOO_LONG, FaultKind.TOO_MANY, FaultKind.TYPE_INVALID}
)
"""Kinds after which validation rules are not evaluated: the rules could not trust the object's shape."""

NO_FIELD: Final = "<nil>"
"""The path Kubernetes prints when a fault belongs to the object as a whole."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at `field` (`spec.recordSets[0].ttl`); `value` is what was found, `detail` what is allowed."""

    kind: FaultKind
    field: str
    value: Any = ""
    detail: str = ""

    @property
    def message(self) -> str:
        return f"{self.field}: {self.body}"

    @property
    def body(self) -> str:
        """The message without the field path, as a Status cause carries it."""
        text = _TITLES[self.kind]
        if self.kind not in _WITHOUT_VALUE and self.value is not Omitted.OMITTED:
            text = f"{text}: {_rendered(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    @property
    def cause(self) -> dict[str, str]:
        """The entry of a Status' `details.causes` (meta/v1 StatusCause)."""
        return {"reason": self.kind.value, "message": self.body, "field": self.field}


def _rendered(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return gotext.number(value)
    if isinstance(value, str):
        return gotext.quote(value)
    return gotext.json_text(value)


class SchemaError(Exception):
    """A schema that is not structural; `faults` names every offending place in it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.message for fault in self.faults))


def required(field: str, detail: str = "") -> Fault:
    return Fault(FaultKind.REQUIRED, field, "", detail)


def invalid(field: str, value: Any, detail: str) -> Fault:
    return Fault(FaultKind.INVALID, field, value, detail)


def type_invalid(field: str, value: Any, detail: str) -> Fault:
    return Fault(FaultKind.TYPE_INVALID, field, value, detail)


def forbidden(field: str, detail: str) -> Fault:
    return Fault(FaultKind.FORBIDDEN, field, "", detail)


def duplicate(field: str, value: Any) -> Fault:
    return Fault(FaultKind.DUPLICATE, field, value)


def not_supported(field: str, value: Any, allowed: Iterable[str]) -> Fault:
    """`allowed` are listed in the order given; an empty list leaves the hint out."""
    quoted = ", ".join(gotext.quote(choice) for choice in allowed)
    return Fault(FaultKind.NOT_SUPPORTED, field, value, f"supported values: {quoted}" if quoted else "")


def too_long(field: str, limit_bytes: int) -> Fault:
    unit = "byte" if limit_bytes == 1 else "bytes"
    return Fault(FaultKind.TOO_LONG, field, "<value omitted>", f"may not be more than {limit_bytes} {unit}")


def too_many(field: str, found: int, limit: int) -> Fault:
    return Fault(FaultKind.TOO_MANY, field, found, f"must have at most {limit} {'item' if limit == 1 else 'items'}")
