"""How a plan tells of withdrawals: what becomes of each claim, and what still stands between it and its proof.

Owns words, and the marks that plans have for all claims. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from controllers.core.plan import Effect
from controllers.core.withdrawal.outlook import Outlook, WithdrawalPlan
from kube.object import ObjectKey

MARKS: Final = {Effect.CREATE: "+", Effect.CHANGE: "~", Effect.DELETE: "-", Effect.NONE: "="}
REFUSED_MARK: Final = "!"
SHOWN_LIMIT: Final = 5


def withdrawal_lines(plan: WithdrawalPlan) -> Iterator[str]:
    """Yield a withdrawal for people."""
    mark = MARKS[effect_of(plan)] if plan.acceptance.accepted else REFUSED_MARK
    yield f"  {mark} {plan.owner} withdrawn from {plan.address}, RecordWithdrawal {plan.key}"
    if plan.outlook is None:
        yield f"      refused: {plan.acceptance.reason}: {plan.acceptance.message}"
    else:
        yield f"      {plan.outlook}: {_words(plan)}"


def withdrawal_document(plan: WithdrawalPlan) -> dict[str, Any]:
    """Return a withdrawal as JSON."""
    acceptance = plan.acceptance
    return {
        **key_document(plan.key),
        "recordName": plan.owner,
        "address": plan.address,
        "effect": effect_of(plan).value,
        "accepted": {
            "status": acceptance.status.value,
            "reason": acceptance.reason.value,
            "message": acceptance.message,
        },
        "outlook": plan.outlook.value if plan.outlook is not None else None,
        "givenBy": [key_document(each) for each in plan.giving],
        "waiver": key_document(plan.waiver) if plan.waiver is not None else None,
    }


def effect_of(plan: WithdrawalPlan) -> Effect:
    """Return what happens to the claim itself."""
    return Effect.CREATE if plan.created else Effect.CHANGE if plan.changed else Effect.NONE


def key_document(key: ObjectKey) -> dict[str, str]:
    """Return the name of an object as JSON."""
    return {"namespace": key.namespace, "name": key.name} if key.namespace else {"name": key.name}


def _words(plan: WithdrawalPlan) -> str:
    more = len(plan.giving) - SHOWN_LIMIT
    names = ", ".join(map(str, plan.giving[:SHOWN_LIMIT])) + (f" and {more} more" if more > 0 else "")
    given = f"given by RecordSet {names}"
    match plan.outlook:
        case Outlook.HELD:
            return given
        case Outlook.RELEASED:
            return f"by RecordWithdrawalWaiver {plan.waiver}" + (f", though {given}" if plan.giving else "")
        case Outlook.PROVEN:
            return "its servers have been seen without the address"
        case _:
            return "no RecordSet gives the address; every server has to be seen without it twice, a TTL apart"
