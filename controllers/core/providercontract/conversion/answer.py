"""The answer of a conversion webhook, from octets to an outcome.

An answer that is none (another kind, another uid, not the fields that it must have) is a failure, never a guess. Nothing of a
body reaches a message but the reason and the message that the webhook wrote for people, both cut to size.
"""

from __future__ import annotations

from typing import Final

import orjson

from controllers.api.group import API_VERSION
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import KIND
from controllers.core.providercontract.fault import Fault, describe
from controllers.core.providercontract.field import Field

REASON_LIMIT_CHARS: Final = 64
MESSAGE_LIMIT_CHARS: Final = 512


def read_answer(body: bytes, uid: str) -> Outcome:
    """Return the outcome that a body states; `uid` is that of the request."""
    try:
        review = Field("", orjson.loads(body))
    except orjson.JSONDecodeError:
        return Failed("the answer is no JSON")
    faults = [*_require(review.child("apiVersion"), API_VERSION), *_require(review.child("kind"), KIND)]
    faults += _require(review.at("response.uid"), uid)
    result = review.at("response.result")
    status, retryable = result.child("status"), result.child("retryable")
    if not faults and status.value not in {"Success", "Failure"}:
        faults.append(status.fault("Success or Failure"))
    if not faults and retryable.present and not isinstance(retryable.value, bool):
        faults.append(retryable.fault("true or false"))
    payload = review.at("response.payload")
    if not faults and status.value == "Success" and not isinstance(payload.value, dict):
        faults.append(payload.fault("an object, since status is Success"))
    if faults:
        return Failed(f"the answer is not what it must be: {faults[0]}")
    if isinstance(payload.value, dict) and status.value == "Success":
        return Converted(payload.value)
    said = _said(result)
    return Unavailable(said, reached=True) if retryable.value is True else Failed(said)


def _require(field: Field, value: str) -> list[Fault]:
    return [] if field.value == value else [field.fault(describe(value))]


def _said(result: Field) -> str:
    """Return what the webhook tells people, in one line."""
    reason = _line(result.child("reason").text, REASON_LIMIT_CHARS) or "Failure"
    message = _line(result.child("message").text, MESSAGE_LIMIT_CHARS)
    return f"the webhook says {reason}: {message}" if message else f"the webhook says {reason}"


def _line(text: str | None, limit_chars: int) -> str:
    printable = "".join(each if each.isprintable() else " " for each in (text or "")[: 2 * limit_chars])
    line = " ".join(printable.split())
    return line if len(line) <= limit_chars else f"{line[:limit_chars]}..."
