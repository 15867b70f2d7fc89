"""Whether a route is accepted by everything that it attaches to, and what that means for its hostnames. Pure.

A route that loses its acceptance is in doubt for a while: controllers restart, and status lags behind spec. What it published stays
until a controller has said no, about the route as it is now, for a time of grace.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Final

from controllers.apps.gateway.kind import Acceptance, HttpRoute, ParentRef

GRACE_S: Final = 300.0


class Standing(Enum):
    """What may be done with the hostnames of a route."""

    ACCEPTED = "publish"
    IN_DOUBT = "keep what is published"
    REFUSED = "withdraw"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The standing of a route; `again_s` says in how many seconds it changes by itself."""

    standing: Standing
    message: str = ""
    again_s: float | None = None


ACCEPTED: Final = Judgement(Standing.ACCEPTED)


def judge_route(route: HttpRoute, now: datetime, grace_s: float = GRACE_S) -> Judgement:
    """Return the standing of a route: accepted when every one of its parents accepts it."""
    found = [_judge_parent(route, parent, now, grace_s) for parent in route.parents]
    worst = [each for each in found if each.standing is Standing.REFUSED]
    doubts = [each for each in found if each.standing is Standing.IN_DOUBT]
    if worst:
        return worst[0]
    if doubts:
        waits_s = [each.again_s for each in doubts if each.again_s is not None]
        return Judgement(Standing.IN_DOUBT, doubts[0].message, min(waits_s) if waits_s else None)
    return ACCEPTED


def _judge_parent(route: HttpRoute, parent: ParentRef, now: datetime, grace_s: float) -> Judgement:
    said = [each for each in route.acceptances if each.ref == parent]
    current = [each for each in said if (each.observed_generation or 0) >= route.meta.generation]
    label = f"HTTPRoute {route.meta.key} at {parent.kind} {parent.key}"
    if any(each.status == "True" for each in current):
        return ACCEPTED
    refusals = [each for each in current if each.status == "False"]
    if not refusals:
        return Judgement(Standing.IN_DOUBT, f"{label} has not been judged yet as it is now.")
    message = f"{label} is not accepted: {refusals[0].reason}."
    left_s = max(_left_s(each, now, grace_s) for each in refusals)
    if left_s > 0:
        return Judgement(Standing.IN_DOUBT, message, left_s)
    return Judgement(Standing.REFUSED, message)


def _left_s(refusal: Acceptance, now: datetime, grace_s: float) -> float:
    """A refusal whose time cannot be read never becomes old enough."""
    try:
        since = datetime.fromisoformat(refusal.since)
    except ValueError:
        return grace_s
    if since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    return grace_s - (now - since).total_seconds()
