"""Validation of `conditions` in a status: which types a kind has, and which reason may stand with which status.

Reasons are core's and those that the Provider's storage version adds. Judges words, never whether a condition is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from controllers.api.condition import ConditionStatus
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    judge_choice,
    judge_duplicates,
    require_integer,
    require_list,
    require_text,
)

CONDITION_LIMIT: Final = 16
MESSAGE_LIMIT_CHARS: Final = 32768
GENERATION_LIMIT: Final = 2**63 - 1

Reasons = Mapping[Any, frozenset[Any]]
"""Reasons by (type, status)."""
AddsReason = Callable[[str, str, str], bool]
"""Whether the Provider adds a reason, by type, status and reason."""


def judge_conditions(
    conditions: Field, reasons: Reasons, adds: AddsReason, limit_generation: int = GENERATION_LIMIT
) -> Iterator[Fault]:
    """Object to conditions outside the tables or decided for a generation past `limit_generation`."""
    if not conditions.present or conditions.value == []:
        return
    faults = list(require_list(conditions, "a list of conditions", CONDITION_LIMIT))
    yield from faults
    if faults:
        return
    items = list(conditions.items())
    for item in items:
        yield from _judge(item, reasons, adds)
        generation = item.child("observedGeneration")
        if generation.present:
            yield from require_integer(generation, 0, limit_generation)
    yield from judge_duplicates(items, lambda item: item.child("type").text, "condition type")


def _judge(item: Field, reasons: Reasons, adds: AddsReason) -> Iterator[Fault]:
    kind, status, reason = item.child("type"), item.child("status"), item.child("reason")
    kinds = list(dict.fromkeys(pair[0].value for pair in reasons))
    faults = [*require_text(kind, f"one of {', '.join(kinds)}")] or [*judge_choice(kind, kinds)]
    faults += [*require_text(status, f"one of {', '.join(ConditionStatus)}")] or [
        *judge_choice(status, list(ConditionStatus))
    ]
    faults += require_text(reason, "a reason of the condition")
    yield from faults
    message = item.child("message")
    if message.text is not None and len(message.text) > MESSAGE_LIMIT_CHARS:
        yield message.fault(f"at most {MESSAGE_LIMIT_CHARS} characters", FaultReason.TOO_LONG)
    if faults or not kind.text or not status.text or not reason.text:
        return
    known = {each.value for pair, each_of in reasons.items() if pair == (kind.text, status.text) for each in each_of}
    if reason.text not in known and not adds(kind.text, status.text, reason.text):
        allowed = f"with {kind.text}={status.text} one of {', '.join(sorted(known))}, or what the Provider adds"
        yield reason.fault(allowed, FaultReason.NOT_SUPPORTED)
