"""What composition says of one claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.api.condition import MESSAGE_LIMIT, ConditionStatus
from controllers.api.reason import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """Status, reason and message of a claim's Accepted condition as far as core alone can tell.

    True hands the question on to the provider's own judgement.
    """

    status: ConditionStatus
    reason: Reason
    message: str = ""

    @property
    def accepted(self) -> bool:
        return self.status is ConditionStatus.TRUE


ACCEPTED: Final = Verdict(ConditionStatus.TRUE, Reason.ACCEPTED)


def refused(reason: Reason, message: str) -> Verdict:
    """Enough is known to say no."""
    return Verdict(ConditionStatus.FALSE, reason, _bounded(message))


def waiting(reason: Reason, message: str) -> Verdict:
    """Something has to be there before anything can be said."""
    return Verdict(ConditionStatus.UNKNOWN, reason, _bounded(message))


def _bounded(message: str) -> str:
    """Cut a message to what a condition takes: one that is refused would take the whole status with it."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…"
