"""What a payload is in the storage version: what has to be done for it, and whether what came of it may stand there.

Pure. A claim without payloads has none in any version, so nothing is converted for it. Never asks a webhook.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from controllers.api.provider import ConversionWebhook
from controllers.core.cel.expression import Failure
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.providercontract.fault import tell
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.size import SizeError, check_size
from controllers.core.providercontract.target import Target

_INTEGER_LIMIT: Final = 2**63


def plan_conversion(
    target: Target, payloads: Mapping[str, Any], served: Contract, storage: Contract
) -> Converted | Failed | ConversionWebhook:
    """Return payloads that satisfy `served` in the version `storage`, or why there are none, or the webhook to be asked."""
    present = {name: payloads[name] for name in target.payloads if payloads.get(name) is not None}
    if served.version.name == storage.version.name or not present:
        return Converted(present)
    if (expression := served.conversion(target)) is not None:
        result = expression.convert(present)
        if isinstance(result, Failure):
            return Failed(f"its expression fails: {result.reason}")
        return judge_output(target, result, storage)
    if (webhook := served.webhook(target)) is not None:
        return webhook
    return Failed(f"{served.label} does not say how a {target.kind} is converted")


def take_answer(
    request: ConversionRequest, answers: Mapping[ConversionKey, Outcome], storage: Contract
) -> Outcome | None:
    """Return the answer to a question, looked at by the storage version; None while there is none."""
    answer = answers.get(request.key)
    return judge_output(request.target, answer.payloads, storage) if isinstance(answer, Converted) else answer


def judge_output(target: Target, output: Mapping[str, Any], storage: Contract) -> Converted | Failed:
    """Return what a conversion gave, unless it may not stand in the storage version; a null is an absent payload."""
    present = {name: payload for name, payload in output.items() if payload is not None}
    surplus = [name for name in present if name not in target.payloads]
    if surplus:
        return Failed(f"it gave {surplus[0][:64]!r} beside {' and '.join(target.payloads)}")
    try:
        check_size(present)
    except SizeError as error:
        return Failed(f"what it gave is too large: {error}")
    if not _is_json(present):
        return Failed("it gave a value that has no form in JSON")
    root = Field("", present)
    faults = [fault for name in target.payloads for fault in storage.judge_payload(target, name, root)]
    return Failed(f"{storage.label} refuses what it gave: {tell(faults)}") if faults else Converted(present)


def _is_json(value: object) -> bool:
    """Say whether a value stands in a manifest as it is: expressions also know octets, durations and numbers beyond all bounds."""
    match value:
        case None | bool() | str():
            return True
        case int():
            return -_INTEGER_LIMIT <= value < _INTEGER_LIMIT
        case float():
            return math.isfinite(value)
        case Mapping():
            return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
        case list():
            return all(_is_json(each) for each in value)
        case _:
            return False
