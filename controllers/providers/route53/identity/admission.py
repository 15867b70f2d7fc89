"""Admission of Route53Identity: every fault of its spec at once, and that a status speaks in the words of its kind.

Pure. Whether the account exists, and the roles let themselves be assumed, is found out by the controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from controllers.api.condition import ConditionStatus
from controllers.core.providercontract.fault import Fault, FaultReason, describe
from controllers.core.providercontract.field import Field, judge_duplicates, require_integer
from controllers.core.providercontract.own_kind import OwnKind
from controllers.providers.route53.identity.resource import IDENTITY_KIND, IDENTITY_REASONS, IdentitySpec
from controllers.providers.route53.identity.rule import ACCOUNT_ID, shape_faults

MESSAGE_LIMIT_CHARS: Final = 2048
SOURCES: Final = ("runtime",)


def judge_spec(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[Fault]:
    """Return everything that is wrong with the spec of an identity; `old` makes no difference."""
    spec = Field("", new).child("spec")
    try:
        parsed = IdentitySpec.model_validate(spec.value or {})
    except ValidationError as error:
        return [_shape_fault(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors(include_url=False)]
    faults = [Fault(each.field, each.found, each.allowed) for each in shape_faults(parsed)]
    credentials = spec.child("credentials")
    unknown = [credentials.child(name) for name in credentials.names() if name not in SOURCES]
    return faults + [each.fault(f"only {', '.join(SOURCES)}", FaultReason.FORBIDDEN) for each in unknown]


def judge_status(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[Fault]:
    """Return everything that is wrong with the status of an identity; `old` makes no difference."""
    root = Field("", new)
    status, generation = root.child("status"), root.at("metadata.generation").integer or 0
    faults: list[Fault] = []
    observed, account = status.child("observedGeneration"), status.child("accountID")
    if observed.present:
        faults += require_integer(observed, 0, generation)
    if account.present and not ACCOUNT_ID.fullmatch(account.text or ""):
        faults.append(account.fault("an AWS account ID of 12 digits"))
    conditions = list(status.child("conditions").items())
    for condition in conditions:
        faults += _judge_condition(condition, generation)
    faults += judge_duplicates(conditions, lambda item: item.child("type").text, "condition type")
    return faults


IDENTITY: Final = OwnKind(IDENTITY_KIND, judge_spec, judge_status)


def _judge_condition(condition: Field, generation: int) -> Iterator[Fault]:
    kind, status, reason = (condition.child(name) for name in ("type", "status", "reason"))
    kinds = dict.fromkeys(name for name, _ in IDENTITY_REASONS)
    if kind.text not in kinds:
        yield kind.fault(f"one of {', '.join(kinds)}", FaultReason.NOT_SUPPORTED)
        return
    found = next((each for each in ConditionStatus if each.value == status.text), None)
    allowed = IDENTITY_REASONS.get((str(kind.text), found)) if found is not None else None
    if allowed is None:
        yield status.fault("True or False", FaultReason.NOT_SUPPORTED)
    elif reason.text not in {each.value for each in allowed}:
        words = f"with {kind.text}={status.text} one of {', '.join(sorted(allowed))}"
        yield reason.fault(words, FaultReason.NOT_SUPPORTED)
    if condition.child("observedGeneration").present:
        yield from require_integer(condition.child("observedGeneration"), 0, generation)
    message = condition.child("message")
    if message.text is not None and len(message.text) > MESSAGE_LIMIT_CHARS:
        yield message.fault(f"at most {MESSAGE_LIMIT_CHARS} characters", FaultReason.TOO_LONG)


def _shape_fault(field: str, message: str) -> Fault:
    return Fault(f"spec.{field}", describe(message), "the type that the definition says", FaultReason.TYPE_INVALID)
