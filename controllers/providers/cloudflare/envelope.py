"""The envelope that every answer of Cloudflare's API comes in: `success`, `errors`, `result`, `result_info`.

Owns the judgement whether an answer is one at all: a page of a proxy in between, or a success without a result, is a `BadAnswerError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from controllers.providers.cloudflare.failure import ApiFault, BadAnswerError, classify

NOT_JSON: Final = "Cloudflare API gave no JSON answer"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, with what the envelope says of the whole."""

    items: Sequence[Any]
    total_count: int
    total_pages: int


def read_result(body: bytes, status: int, *, authenticating: bool = False) -> Any:
    """Return `result` of a successful answer. Raises CloudflareError."""
    return _envelope(body, status, authenticating).get("result")


def read_page(body: bytes, status: int) -> Page:
    """Return one page of a successful answer. Raises CloudflareError, BadAnswerError when the page does not say how many there are."""
    envelope = _envelope(body, status, authenticating=False)
    items, info = envelope.get("result"), envelope.get("result_info")
    if not isinstance(items, list) or not isinstance(info, Mapping):
        raise BadAnswerError("Cloudflare API gave a listing without its items or without their number")
    total, pages = info.get("total_count"), info.get("total_pages")
    if not isinstance(total, int) or not isinstance(pages, int):
        raise BadAnswerError("Cloudflare API gave a listing without the number of its items")
    return Page(items, total, pages)


def read_object(body: bytes, status: int, *, authenticating: bool = False) -> Mapping[str, Any]:
    """Return `result` where it has to be an object. Raises CloudflareError."""
    result = read_result(body, status, authenticating=authenticating)
    if not isinstance(result, Mapping):
        raise BadAnswerError("Cloudflare API answered with a success that has no result")
    return result


def faults_of(envelope: Mapping[str, Any]) -> list[ApiFault]:
    """Return the errors of an envelope that have a code and a message."""
    errors = envelope.get("errors")
    if not isinstance(errors, list):
        return []
    return [
        ApiFault(each["code"], str(each.get("message", "")))
        for each in errors
        if isinstance(each, Mapping) and isinstance(each.get("code"), int)
    ]


def parse(body: bytes) -> Mapping[str, Any] | None:
    """Return an answer's envelope, None when it is none."""
    try:
        envelope = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return envelope if isinstance(envelope, dict) and isinstance(envelope.get("success"), bool) else None


def _envelope(body: bytes, status: int, authenticating: bool) -> Mapping[str, Any]:
    envelope = parse(body)
    if envelope is None:
        raise BadAnswerError(f"{NOT_JSON}: HTTP {status}")
    if not envelope["success"]:
        raise classify(status, faults_of(envelope), 0.0, authenticating=authenticating)
    return envelope
