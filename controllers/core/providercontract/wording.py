"""Objections of a schema in words: which field, what was found, what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from controllers.core.providercontract.dialect import Objection
from controllers.core.providercontract.fault import Fault, FaultReason, describe

_CHOICES_SHOWN: Final = 20
_NAME_SHOWN_CHARS: Final = 64

_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def fault_of(root: str, objection: Objection) -> Fault:
    """Return the fault that an objection is, with its path below `root`."""
    phrase, reason = _PHRASES.get(objection.keyword, (_form, FaultReason.INVALID))
    return Fault(_path(root, objection.path), describe(objection.found), phrase(objection), reason)


def _path(root: str, path: Iterable[str | int]) -> str:
    for part in path:
        root = f"{root}[{part}]" if isinstance(part, int) else f"{root}.{part[:_NAME_SHOWN_CHARS]}"
    return root


def _missing(objection: Objection) -> str:
    allowed = _TYPES.get(objection.schema.get("type", ""), "a value")
    description = objection.schema.get("description")
    return f"{allowed}: {description}" if description else allowed


def _surplus(objection: Objection) -> str:
    known = list(objection.schema.get("properties", {}))
    name = str(objection.path[-1])[:_NAME_SHOWN_CHARS]
    close = get_close_matches(name, known, n=1)
    if close:
        return f"{close[0]}, if that is what is meant"
    return f"only the fields {_choices(known)}" if known else "no fields at all"


def _keyword(objection: Objection) -> str:
    close = get_close_matches(str(objection.path[-1]), list(objection.schema.get("properties", {})), n=1)
    meant = f"; {close[0]}, if that is what is meant" if close else ""
    return f"only keywords of OpenAPI 3.0 schemas without references{meant}"


def _choices(choices: Iterable[object]) -> str:
    listed = list(choices)
    shown = ", ".join(str(each) for each in listed[:_CHOICES_SHOWN])
    return f"{shown} and {len(listed) - _CHOICES_SHOWN} more" if len(listed) > _CHOICES_SHOWN else shown


def _type(objection: Objection) -> str:
    return _TYPES.get(objection.expected, "another type")


def _lowest(objection: Objection) -> str:
    return f"{'more than' if objection.schema.get('exclusiveMinimum') else 'at least'} {objection.expected}"


def _highest(objection: Objection) -> str:
    return f"{'less than' if objection.schema.get('exclusiveMaximum') else 'at most'} {objection.expected}"


def _pattern(objection: Objection) -> str:
    description = objection.schema.get("description")
    allowed = f"a text that matches {objection.expected}"
    return f"{allowed}: {description}" if description else allowed


def _form(objection: Objection) -> str:
    return "a value in one of the forms that the schema describes"


_PHRASES: Final[Mapping[str, tuple[Callable[[Objection], str], FaultReason]]] = {
    "required": (_missing, FaultReason.REQUIRED),
    "itemSchema": (lambda _: "the schema of the items of the list", FaultReason.REQUIRED),
    "additionalProperties": (_surplus, FaultReason.FORBIDDEN),
    "known": (_keyword, FaultReason.FORBIDDEN),
    "type": (_type, FaultReason.TYPE_INVALID),
    "enum": (lambda each: f"one of {_choices(each.expected)}", FaultReason.NOT_SUPPORTED),
    "pattern": (_pattern, FaultReason.INVALID),
    "format": (lambda each: f"a value of the format {each.expected}", FaultReason.INVALID),
    "minimum": (_lowest, FaultReason.INVALID),
    "maximum": (_highest, FaultReason.INVALID),
    "multipleOf": (lambda each: f"a multiple of {each.expected}", FaultReason.INVALID),
    "minLength": (lambda each: f"a text of at least {each.expected} characters", FaultReason.INVALID),
    "maxLength": (lambda each: f"a text of at most {each.expected} characters", FaultReason.TOO_LONG),
    "minItems": (lambda each: f"a list of at least {each.expected} items", FaultReason.INVALID),
    "maxItems": (lambda each: f"a list of at most {each.expected} items", FaultReason.TOO_MANY),
    "uniqueItems": (lambda _: "a list with each item once", FaultReason.DUPLICATE),
    "minProperties": (lambda each: f"an object of at least {each.expected} fields", FaultReason.INVALID),
    "maxProperties": (lambda each: f"an object of at most {each.expected} fields", FaultReason.TOO_MANY),
    "re2": (lambda each: f"an RE2 expression; this one is refused: {each.note}", FaultReason.INVALID),
}
