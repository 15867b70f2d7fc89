"""The dialect of payload schemas: OpenAPI 3.0 Schema Objects, closed under what a manifest can carry.

Owns which keywords exist and how each validates. References are no part of it, so that nothing is ever fetched; patterns are
RE2 and work is counted, so that no value can stall a schema. The one module that touches `jsonschema`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sized
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from jsonschema import (  # type: ignore[import-untyped] # no stubs are installed for jsonschema
    Draft4Validator,
    FormatChecker,
    ValidationError,
    validators,
)

from controllers.core.pattern import Pattern
from controllers.core.providercontract.format import FORMATS

WORK_LIMIT: Final = 30_000
"""Keywords that one validation applies, some counting more than once: past them a payload is too large to be judged."""
_PATTERN_STEPS_PER_WORK: Final = 3_000

_left: ContextVar[list[int]] = ContextVar("schema_work_left")


class TooMuchWorkError(Exception):
    """A payload that its schema cannot be applied to within WORK_LIMIT."""


@dataclass(frozen=True, slots=True)
class Objection:
    """One keyword that a value does not satisfy; `path` leads from the root to the value."""

    path: tuple[str | int, ...]
    keyword: str
    expected: Any
    found: Any
    schema: Mapping[str, Any]
    note: str


Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def objections(validator: Any, value: object, limit: int) -> list[Objection]:
    """Return at most `limit` objections of a validator that `validator` made. Raises TooMuchWorkError."""
    token = _left.set([WORK_LIMIT])
    try:
        errors = [error for error, _ in zip(validator.iter_errors(value), range(limit), strict=False)]
    finally:
        _left.reset(token)
    return [
        Objection(
            tuple(each.absolute_path), each.validator, each.validator_value, each.instance, each.schema, each.message
        )
        for each in errors
    ]


def validator(schema: Mapping[str, Any]) -> Any:
    """Return the validator of a schema that the dialect admits."""
    return _PayloadValidator(schema, format_checker=_formats)


def make_validator(keywords: Mapping[str, Keyword], schema: Mapping[str, Any]) -> Any:
    """Return a validator of a schema in this dialect with further keywords."""
    return _make({**_KEYWORDS, **keywords})(schema, format_checker=_formats)


def object_with(note: str = "") -> ValidationError:
    """Return a keyword's objection to the value that it was asked about."""
    return ValidationError(note)


def object_below(name: str, found: object, schema: Mapping[str, Any]) -> ValidationError:
    """Return a keyword's objection to the field `name` of the object that it was asked about."""
    return ValidationError("", path=(name,), instance=found, schema=schema)


def _spend(work: int) -> None:
    left = _left.get()
    left[0] -= work
    if left[0] < 0:
        raise TooMuchWorkError


def _counted(name: str, keyword: Keyword) -> Keyword:
    def apply(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        visited = len(instance) if name in _VISITING and isinstance(instance, Sized) else 0
        _spend(1 + visited + (len(value) // 8 if isinstance(value, list | dict) else 0))
        return keyword(validator, value, instance, schema) or iter(())

    return apply


def _type(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not (instance is None and schema.get("nullable") is True) and not validator.is_type(instance, value):
        yield object_with()


def _required(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        properties = schema.get("properties", {})
        yield from (object_below(name, None, properties.get(name, {})) for name in value if name not in instance)


def _enum(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if instance is None and schema.get("nullable") is True:
        return
    if not any(each == instance and isinstance(each, bool) == isinstance(instance, bool) for each in value):
        yield object_with()


def _pattern(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, str):
        return
    pattern = _compiled(value)
    _spend(pattern.size * len(instance) // _PATTERN_STEPS_PER_WORK)
    if not pattern.occurs_in(instance):
        yield object_with()


@lru_cache(maxsize=512)
def _compiled(text: str) -> Pattern:
    return Pattern(text)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict) or value is True:
        return
    extras = [name for name in instance if name not in schema.get("properties", {})]
    if value is False:
        yield from (object_below(name, instance[name], schema) for name in extras)
        return
    for name in extras:
        yield from validator.descend(instance[name], value, path=name)


def _spelling(value: Any) -> bytes:
    """Return what equal values share; numbers past 64 bits, which the fast encoder does not take, are spelled by the slow one."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, sort_keys=True).encode()


def _unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        seen = {_spelling(each) for each in instance}
        if len(seen) != len(instance):
            yield object_with()


def _multiple_of(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, int | float) or isinstance(instance, bool):
        return
    if isinstance(instance, int) and isinstance(value, int):
        whole = instance % value == 0
    else:
        quotient = instance / value
        whole = math.isfinite(quotient) and math.isclose(quotient, round(quotient), rel_tol=1e-9)
    if not whole:
        yield object_with()


_VISITING: Final = frozenset({"items", "additionalProperties", "uniqueItems"})
_BORROWED: Final = (
    "properties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "format",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
)
_KEYWORDS: Final[Mapping[str, Keyword]] = {
    "type": _type,
    "required": _required,
    **{name: Draft4Validator.VALIDATORS[name] for name in _BORROWED},
    "additionalProperties": _additional_properties,
    "enum": _enum,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
}


def _make(keywords: Mapping[str, Keyword]) -> Any:
    return validators.create(
        meta_schema={},
        validators={name: _counted(name, keyword) for name, keyword in keywords.items()},
        type_checker=Draft4Validator.TYPE_CHECKER,
    )


def _make_formats() -> Any:
    checker = FormatChecker(formats=())
    for name, check in FORMATS.items():
        checker.checks(name)(check)
    return checker


_formats: Final = _make_formats()
_PayloadValidator: Final = _make(_KEYWORDS)
