"""What the answer to a question is worth: an API that converts is not trusted further than it can be checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from controllers.api.endpoint import EndpointReason
from controllers.api.endpoint_conversion import (
    CONVERTED_TYPES,
    FRAGMENTS_LIMIT,
    ConversionAnswer,
    ConversionSpec,
    ConversionStatus,
    Fragment,
)
from zonemodel.record import RecordType

MESSAGE_LIMIT_CHARS: Final = 512
FAULTS_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Unconverted:
    """Why there are no fragments."""

    reason: EndpointReason
    message: str


Converted = tuple[Fragment, ...] | Unconverted


def judge_answer(asked: ConversionSpec, obj: Mapping[str, Any]) -> Converted:
    """Return the fragments of an answered question, or what is wrong with the answer."""
    try:
        answer = ConversionAnswer.model_validate(obj.get("status"))
    except ValidationError as error:
        faults = [f"status.{_path(each['loc'])}: {each['msg']}" for each in error.errors(include_url=False)]
        return _invalid("; ".join(faults[:FAULTS_NAMED]))
    if answer.uid != asked.uid:
        return _invalid("status.uid is not the one of the question.")
    if answer.result.status is ConversionStatus.FAILURE:
        told = answer.result.message or "The conversion API gave no message."
        why = f"{answer.result.reason}: {told}" if answer.result.reason else told
        return Unconverted(EndpointReason.CONVERSION_FAILED, _cut(why))
    fragments = answer.output.fragments if answer.output is not None else ()
    fault = _object_to(fragments, asked.input.name)
    return _invalid(fault) if fault else fragments


def _object_to(fragments: tuple[Fragment, ...], name: str) -> str | None:
    if not fragments:
        return "status.output.fragments is empty beside the result Success."
    if len(fragments) > FRAGMENTS_LIMIT:
        return f"status.output.fragments has {len(fragments)} items, allowed are {FRAGMENTS_LIMIT}."
    seen: set[RecordType] = set()
    for index, fragment in enumerate(fragments):
        field = f"status.output.fragments[{index}]"
        if fragment.name != name:
            return f"{field}.name is {fragment.name!r}, the question has {name!r}."
        if fragment.type not in CONVERTED_TYPES:
            return f"{field}.type is {fragment.type}, allowed are {', '.join(CONVERTED_TYPES)}."
        if fragment.type in seen:
            return f"{field}.type is {fragment.type} once more, allowed is each type once."
        seen.add(fragment.type)
        if fault := _object_to_body(fragment):
            return f"{field}{fault}"
    return None


def _object_to_body(fragment: Fragment) -> str | None:
    """A body of another type cannot be meant; no body at all may be, when the provider's options say it all."""
    own = fragment.type.field
    others = [each.field for each in CONVERTED_TYPES if each.field != own and getattr(fragment, each.field) is not None]
    if others:
        return f".{others[0]} stands beside the type {fragment.type}."
    if getattr(fragment, own) is None and not fragment.options:
        return f".{own} is missing, and there are no options in its place."
    return None


def _invalid(message: str) -> Unconverted:
    return Unconverted(EndpointReason.CONVERSION_INVALID, _cut(f"The conversion API answered wrongly: {message}"))


def _path(parts: tuple[int | str, ...]) -> str:
    return ".".join(map(str, parts))


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_LIMIT_CHARS else f"{text[:MESSAGE_LIMIT_CHARS]}..."
