"""Sends planned changes to the API, request by request, and tells for each plan what became of it.

Owns what a refusal means for the requests around it: one that holds several items is sent again in parts until the refused one is
alone, so that nobody else waits for it. Before records are created an intent is noted; a request whose outcome is unknown ends the
submission, and the next look finds out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.failure import (
    AccessDeniedError,
    BadAnswerError,
    CloudflareError,
    NotFoundError,
    ThrottledError,
)
from controllers.providers.cloudflare.intent import Intents
from controllers.providers.cloudflare.record import CloudflareRecord
from controllers.providers.cloudflare.schedule import Request, by_name, split
from kube.object import ObjectKey

SUBMITTED: Final = refused(Reason.PROVIDER_CHANGE_PENDING, "The change is made; it is confirmed at the next look.")
VANISHED: Final = refused(
    Reason.PROVIDER_CHANGE_PENDING, "A record was gone when it was to be changed; it is looked for again."
)
DEFERRED: Final = refused(Reason.PROVIDER_CHANGE_DEFERRED, "The change waits for others that come first.")

QUOTA_CODE: Final = 81045

Note = Callable[[Intents], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one plan; `ids` are the item's records after it, None where that is not known."""

    verdict: Verdict
    done: bool = False
    refused: bool = False
    ids: tuple[str, ...] | None = None


@dataclass(slots=True)
class Submission:
    """Runs requests for one zone. `at` is when the zone was observed, by the clock of the API; `intents` are kept up to date."""

    client: CloudflareClient
    zone_id: str
    at: datetime
    intents: Intents
    note: Note
    outcomes: dict[ObjectKey, Outcome] = field(default_factory=dict)
    failure: CloudflareError | None = None
    full: Outcome | None = None
    """Set once the zone has been found to hold as many records as its plan allows."""
    too_many: int = 0
    """How many more records a full zone has no room for."""

    async def run(self, requests: Iterable[Request]) -> None:
        """Send requests until one fails in a way that concerns all. Raises KubeError from `note`."""
        waiting_requests = list(requests)
        while waiting_requests:
            request = waiting_requests.pop(0)
            if self.failure is not None:
                self._settle(request, Outcome(DEFERRED))
            elif (fitting := self._fitting(request)).plans:
                waiting_requests = [*await self._send(fitting), *waiting_requests]

    def _fitting(self, request: Request) -> Request:
        """Return a request without what the zone is known to have no room for, which is settled: what is smaller may have."""
        if self.full is None:
            return request
        crowded = {
            plan.item.key
            for group in by_name(request.plans)
            if sum(each.change.growth for each in group) >= self.too_many
            for plan in group
            if plan.change.growth >= self.too_many
        }
        self._settle(Request(tuple(each for each in request.plans if each.item.key in crowded)), self.full)
        return Request(tuple(each for each in request.plans if each.item.key not in crowded))

    async def _send(self, request: Request) -> tuple[Request, ...]:
        """Send one request; returns what to send in its place."""
        before = self.intents
        noted = self._noted(request)
        if noted is not before:
            await self.note(noted)
            self.intents = noted
        try:
            posted = await self.client.batch(self.zone_id, request.change)
            self._succeed(request, posted)
        except AccessDeniedError as error:
            self.intents = before
            self._fail(request, error)
        except CloudflareError as error:
            if not error.outcome_known or isinstance(error, ThrottledError):
                self.intents = before if isinstance(error, ThrottledError) else noted
                self._fail(request, error)
                return ()
            self.intents = before
            parts = split(request)
            if not parts:
                gone = isinstance(error, NotFoundError)
                verdict = VANISHED if gone else refused(error.reason, f"{error.message}.")
                outcome = Outcome(verdict, refused=True)
                if error.code == QUOTA_CODE and request.change.growth > 0:
                    outcome = self.full or outcome
                    self.full, self.too_many = outcome, request.change.growth
                self._settle(request, outcome)
            return parts
        return ()

    def _noted(self, request: Request) -> Intents:
        intents = self.intents
        for plan in request.plans:
            desired = plan.item.desired
            if plan.posted and desired is not None:
                intents = intents.adding(plan.item.key, self.at, map(desired.fingerprint, plan.posted))
        return intents

    def _succeed(self, request: Request, posted: Iterable[CloudflareRecord]) -> None:
        """Note the records of a successful request. Raises BadAnswerError when it is not told which they are."""
        new: dict[tuple[str, str], list[str]] = {}
        for record in posted:
            new.setdefault((record.name, record.type), []).append(record.id)
        found: dict[ObjectKey, tuple[str, ...]] = {}
        for plan in request.plans:
            created = new.get((plan.item.name, plan.item.source.type.value), []) if plan.posted else []
            if len(created) != len(plan.posted) or set(created) & set(plan.own):
                raise BadAnswerError("Cloudflare API did not name the records of a batch")
            found[plan.item.key] = tuple(sorted([*plan.kept, *plan.unseen, *created]))
        for plan in request.plans:
            self.outcomes[plan.item.key] = Outcome(SUBMITTED, done=True, ids=found[plan.item.key])
        self.intents = self.intents.without(plan.item.key for plan in request.plans if plan.sure)

    def _fail(self, request: Request, error: CloudflareError) -> None:
        self.failure = error
        if isinstance(error, ThrottledError):
            verdict = refused(
                Reason.PROVIDER_CHANGE_DEFERRED,
                "The account's requests are spread over time; it is this one's turn later.",
            )
        elif error.outcome_known:
            verdict = refused(error.reason, f"{error.message}.")
        else:
            verdict = waiting(
                Reason.PROVIDER_UNAVAILABLE, f"It is not known whether the change was made: {error.message}."
            )
        self._settle(request, Outcome(verdict))

    def _settle(self, request: Request, outcome: Outcome) -> None:
        for plan in request.plans:
            self.outcomes[plan.item.key] = outcome
