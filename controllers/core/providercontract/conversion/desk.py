"""`ConversionDesk`: the questions to conversion webhooks that are open, and the answers that are known.

Whoever needs conversions says which (`ask`) and gets what is known at once; the rest is asked in the background, and `notify` is called
when more is known. Each webhook has a lane of its own with bounded parallel calls, in which owners take turns, so that neither a slow
webhook nor an owner with thousands of questions holds up others. Answers live in memory: a restart asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Final, Protocol

from controllers.api.provider import ConversionWebhook
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.runtime.controller import Controller, Requeue
from kube.backoff import Backoff
from kube.object import ObjectKey

TURNS: Final = 4
"""Owners that one webhook serves at a time."""
BATCH: Final = 8
"""Questions of one owner that are asked together in its turn."""
RETRY: Final = Backoff(first_s=0.5, base_s=1.0, cap_s=60.0)
RECHECK: Final = Backoff(first_s=600.0, base_s=600.0, cap_s=600.0)
"""After which a failure is asked about again: a webhook can be mended without any object changing."""


class Converter(Protocol):
    """Asks one question once; open while it is entered."""

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def convert(self, request: ConversionRequest) -> Outcome:
        """Return what became of it."""


@dataclass(slots=True)
class _Lane:
    """One webhook: `trouble` is what kept it from answering, and until `resume_s` nobody tries again."""

    webhook: ConversionWebhook
    controller: Controller[ObjectKey]
    trouble: Unavailable | None = None
    failures: int = 0
    resume_s: float = 0.0

    def note(self, outcomes: Sequence[Outcome], now: float) -> None:
        """Take the answers of one turn as a sign of how the webhook is."""
        silent = [each for each in outcomes if isinstance(each, Unavailable) and not each.reached]
        if len(silent) < len(outcomes):
            self.reopen()
            return
        self.failures += 1
        self.trouble = silent[-1]
        self.resume_s = now + RETRY.delay_s(self.failures)

    def reopen(self) -> None:
        self.trouble, self.failures, self.resume_s = None, 0, 0.0


@dataclass(slots=True)
class _Question:
    """One question; until it has been asked, `outcome` is that of an earlier state of the Provider, if any."""

    request: ConversionRequest
    lane: _Lane
    outcome: Outcome | None = None
    failures: int = 0
    due_s: float = 0.0
    done: bool = False

    def note(self, outcome: Outcome, now: float) -> bool:
        """Take the answer; returns whether it says something else than was known."""
        news = outcome != self.outcome
        if news:
            self.outcome = outcome
        self.done = isinstance(outcome, Converted)
        if isinstance(outcome, Failed):
            self.due_s = now + RECHECK.delay_s(0)
        elif isinstance(outcome, Unavailable):
            self.due_s = now + RETRY.delay_s(self.failures)
            self.failures += 1
        return news


@dataclass(slots=True)
class ConversionDesk:
    """Keeps questions by owner, the zone or class that waits for them; `run` has to run for any to be asked."""

    client: Converter
    notify: Callable[[ObjectKey], None]
    clock: Callable[[], float] = time.monotonic
    _questions: dict[ObjectKey, dict[str, _Question]] = field(default_factory=dict)
    _lanes: dict[tuple[str, str, int, str], _Lane] = field(default_factory=dict)
    _opened: asyncio.Queue[_Lane] = field(default_factory=asyncio.Queue)

    def ask(self, owner: ObjectKey, requests: Iterable[ConversionRequest]) -> dict[ConversionKey, Outcome]:
        """Return the answers that are known to the owner's questions, which are these and no others from now on."""
        before = self._questions.pop(owner, {})
        questions: dict[str, _Question] = {}
        for request in requests:
            known = before.get(request.key.subject)
            if known is None or known.request.key != request.key:
                known = self._open(request, known)
                known.lane.controller.enqueue(owner)
            questions[request.key.subject] = known
        if questions:
            self._questions[owner] = questions
        return {each.request.key: each.outcome for each in questions.values() if each.outcome is not None}

    def forget(self, owner: ObjectKey) -> None:
        """Drop an owner that has gone."""
        self._questions.pop(owner, None)

    async def run(self) -> None:
        """Ask until cancelled."""
        async with self.client, asyncio.TaskGroup() as lanes:
            while True:
                lane = await self._opened.get()
                lanes.create_task(lane.controller.run())

    def _open(self, request: ConversionRequest, former: _Question | None) -> _Question:
        same_step = former is not None and former.request.step == request.step
        return _Question(request, self._lane(request.webhook), former.outcome if former and same_step else None)

    def _lane(self, webhook: ConversionWebhook) -> _Lane:
        service = webhook.client_config.service
        address = (service.namespace, service.name, service.port, service.path)
        lane = self._lanes.get(address)
        if lane is None:
            controller = Controller(
                f"conversion {service.namespace}/{service.name}", partial(self._turn, address), workers=TURNS
            )
            lane = self._lanes[address] = _Lane(webhook, controller)
            self._opened.put_nowait(lane)
        elif lane.webhook != webhook:  # perhaps what was wrong with it has been mended
            lane.webhook = webhook
            lane.reopen()
        return lane

    async def _turn(self, address: tuple[str, str, int, str], owner: ObjectKey) -> Requeue | None:
        """Ask some of the owner's questions; one that meets a webhook in trouble asks a single one, or none before its time."""
        lane, now = self._lanes[address], self.clock()
        due = [each for each in self._open_questions(owner, lane) if each.due_s <= now]
        news = False
        if due and now >= lane.resume_s:
            due.sort(key=lambda each: each.failures)
            batch = due[:1] if lane.trouble is not None else due[:BATCH]
            outcomes = await asyncio.gather(*(self.client.convert(each.request) for each in batch))
            now = self.clock()
            lane.note(outcomes, now)
            told = [each.note(outcome, now) for each, outcome in zip(batch, outcomes, strict=True)]
            news = any(told)
        left = self._open_questions(owner, lane)
        if lane.trouble is not None:
            for each in left:
                if each.due_s <= now and each.outcome != lane.trouble:
                    each.outcome, news = lane.trouble, True
        if news:
            self.notify(owner)
        return Requeue(max(0.0, min(max(each.due_s, lane.resume_s) for each in left) - now)) if left else None

    def _open_questions(self, owner: ObjectKey, lane: _Lane) -> list[_Question]:
        return [each for each in self._questions.get(owner, {}).values() if each.lane is lane and not each.done]
