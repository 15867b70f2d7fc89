"""The desk: what is asked when, how often, how many at a time, and who waits for whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from types import TracebackType

from controllers.api.provider import ConversionWebhook
from controllers.core.providercontract.conversion.desk import BATCH, TURNS, ConversionDesk
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.providercontract.target import Target
from kube.object import ObjectKey
from tests.kube.virtual_loop import eventually

ZONE, OTHER = ObjectKey("team", "example"), ObjectKey("team", "other")
DOWN = Unavailable("nobody answers")
CALL_S = 0.01

Answer = Callable[[ConversionRequest], Outcome]


def done(request: ConversionRequest) -> Outcome:
    return Converted(request.payload)


class Webhook:
    """Answers as a test says, after a moment; `calls` are the subjects asked about and when, in seconds of the loop."""

    def __init__(self, answer: Answer = done, call_s: float = CALL_S) -> None:
        self.answer = answer
        self.call_s = call_s
        self.calls: list[tuple[str, float]] = []
        self.running = 0
        self.most_at_a_time = 0

    @property
    def subjects(self) -> list[str]:
        return [subject for subject, _ in self.calls]

    async def __aenter__(self) -> Webhook:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.running == 0

    async def convert(self, request: ConversionRequest) -> Outcome:
        self.calls.append((request.key.subject, asyncio.get_running_loop().time()))
        self.running += 1
        self.most_at_a_time = max(self.most_at_a_time, self.running)
        try:
            await asyncio.sleep(self.call_s)
            return self.answer(request)
        finally:
            self.running -= 1


class Scene:
    """A desk with one webhook, and who was told that there is news."""

    def __init__(self, webhook: Webhook) -> None:
        self.webhook = webhook
        self.news: list[ObjectKey] = []
        self.desk = ConversionDesk(webhook, self.news.append, asyncio.get_running_loop().time)

    async def settled(self, owner: ObjectKey, asked: list[ConversionRequest]) -> dict[ConversionKey, Outcome]:
        """Ask until everything is answered."""
        await eventually(lambda: len(self.desk.ask(owner, asked)) == len(asked))
        return self.desk.ask(owner, asked)


@asynccontextmanager
async def scene(answer: Answer = done, call_s: float = CALL_S) -> AsyncIterator[Scene]:
    opened = Scene(Webhook(answer, call_s))
    running = asyncio.create_task(opened.desk.run())
    yield opened
    running.cancel()
    await asyncio.wait([running])


def question(
    subject: str, generation: int = 1, *, provider: int = 1, service: str = "convert", ca_bundle: str = "one"
) -> ConversionRequest:
    config = {"service": {"namespace": "dns-system", "name": service}, "caBundle": ca_bundle}
    return ConversionRequest(
        key=ConversionKey(subject, generation, "provider", provider),
        webhook=ConversionWebhook.model_validate({"clientConfig": config}),
        target=Target.RECORD_SET,
        provider="edge.example.com",
        from_version="v1",
        to_version="v2",
        payload={"options": {"subject": subject, "generation": generation}},
        context={},
    )


async def test_a_question_is_asked_once_and_its_answer_remembered() -> None:
    async with scene() as stage:
        asked = [question("a"), question("b")]
        assert stage.desk.ask(ZONE, asked) == {}
        answers = await stage.settled(ZONE, asked)
        assert answers == {each.key: Converted(each.payload) for each in asked}
        assert set(stage.news) == {ZONE}
        await asyncio.sleep(3600)
        assert stage.desk.ask(ZONE, asked) == answers
        assert sorted(stage.webhook.subjects) == ["a", "b"]


async def test_a_new_generation_is_a_new_question() -> None:
    async with scene() as stage:
        await stage.settled(ZONE, [question("a")])
        assert stage.desk.ask(ZONE, [question("a", 2)]) == {}
        answers = await stage.settled(ZONE, [question("a", 2)])
        assert answers == {question("a", 2).key: Converted({"options": {"subject": "a", "generation": 2}})}


async def test_under_a_changed_provider_the_former_answer_holds_until_the_new_one_is_there() -> None:
    async with scene() as stage:
        former = await stage.settled(ZONE, [question("a")])
        stage.webhook.answer = lambda request: Failed("no longer")
        again = question("a", provider=2)
        assert list(stage.desk.ask(ZONE, [again]).values()) == list(former.values())
        await eventually(lambda: stage.desk.ask(ZONE, [again]) == {again.key: Failed("no longer")})


async def test_what_is_no_longer_asked_for_is_forgotten() -> None:
    async with scene() as stage:
        await stage.settled(ZONE, [question("a")])
        assert stage.desk.ask(ZONE, []) == {}
        assert stage.desk.ask(ZONE, [question("a")]) == {}
        await stage.settled(ZONE, [question("a")])
        stage.desk.forget(ZONE)
        await stage.settled(ZONE, [question("a")])
        assert stage.webhook.subjects == ["a", "a", "a"]


async def test_an_answer_to_a_question_that_was_dropped_meanwhile_is_no_news() -> None:
    async with scene() as stage:
        stage.desk.ask(ZONE, [question("a")])
        await eventually(lambda: stage.webhook.running)
        stage.desk.ask(ZONE, [])
        await asyncio.sleep(1)
        assert stage.desk.ask(ZONE, []) == {}


async def test_calls_to_one_webhook_are_bounded() -> None:
    async with scene() as stage:
        owners = [ObjectKey("team", f"zone-{number}") for number in range(10)]
        asked = {owner: [question(f"{owner}-{number}") for number in range(50)] for owner in owners}
        for owner in owners:
            stage.desk.ask(owner, asked[owner])
        for owner in owners:
            await stage.settled(owner, asked[owner])
        assert stage.webhook.most_at_a_time == TURNS * BATCH
        assert len(stage.webhook.calls) == 500


async def test_a_small_owner_does_not_wait_for_a_large_one() -> None:
    async with scene() as stage:
        large = [question(f"large-{number}") for number in range(1000)]
        stage.desk.ask(ZONE, large)
        await eventually(lambda: stage.webhook.running)
        await stage.settled(OTHER, [question("small")])
        assert len(stage.webhook.calls) < 10 * BATCH


async def test_a_webhook_that_does_not_answer_does_not_hold_up_another_one() -> None:
    async with scene(call_s=30.0) as stage:
        for number in range(20):
            stage.desk.ask(ObjectKey("slow", f"{number}"), [question(f"slow-{number}")])
        await eventually(lambda: stage.webhook.running == TURNS)
        stage.webhook.call_s = CALL_S
        before = asyncio.get_running_loop().time()
        await stage.settled(OTHER, [question("quick", service="other")])
        assert asyncio.get_running_loop().time() - before < 5


async def test_when_a_webhook_is_down_everybody_is_told_and_one_goes_on_trying() -> None:
    async with scene(lambda _: DOWN) as stage:
        asked = [question(f"a-{number}") for number in range(500)]
        answers = await stage.settled(ZONE, asked)
        assert set(answers.values()) == {DOWN}
        assert len(stage.webhook.calls) == BATCH

        start = asyncio.get_running_loop().time()
        await asyncio.sleep(3600)
        tries = [moment - start for _, moment in stage.webhook.calls[BATCH:]]
        assert 55 < len(tries) < 140
        assert all(30 <= later - earlier <= 61 for earlier, later in pairwise(tries[10:]))
        assert stage.webhook.most_at_a_time == BATCH

        stage.webhook.answer = done
        stage.news.clear()
        await eventually(lambda: DOWN not in stage.desk.ask(ZONE, asked).values())
        assert ZONE in stage.news


async def test_another_owner_is_told_of_the_trouble_without_trying() -> None:
    async with scene(lambda _: DOWN) as stage:
        await stage.settled(ZONE, [question("a")])
        calls = len(stage.webhook.calls)
        assert await stage.settled(OTHER, [question("b")]) == {question("b").key: DOWN}
        assert len(stage.webhook.calls) == calls


async def test_a_question_that_is_never_answered_does_not_keep_others_from_their_answers() -> None:
    poison = question("poison")
    async with scene(lambda request: DOWN if request.key == poison.key else done(request)) as stage:
        asked = [poison, *(question(f"a-{number}") for number in range(40))]
        stage.desk.ask(ZONE, asked)
        await eventually(
            lambda: sum(isinstance(each, Converted) for each in stage.desk.ask(ZONE, asked).values()) == 40
        )
        assert stage.desk.ask(ZONE, asked)[poison.key] == DOWN


async def test_one_that_may_be_answered_later_is_asked_again_alone() -> None:
    later = question("later")
    refusal = Unavailable("the webhook says Busy", reached=True)
    async with scene(lambda request: refusal if request.key == later.key else done(request)) as stage:
        asked = [later, question("a")]
        answers = await stage.settled(ZONE, asked)
        assert answers[later.key] == refusal
        await asyncio.sleep(60)
        assert stage.webhook.subjects.count("a") == 1
        assert stage.webhook.subjects.count("later") >= 4
        stage.webhook.answer = done
        await eventually(lambda: isinstance(stage.desk.ask(ZONE, asked)[later.key], Converted))


async def test_repeating_the_same_trouble_is_no_news() -> None:
    async with scene(lambda _: DOWN) as stage:
        await stage.settled(ZONE, [question("a")])
        stage.news.clear()
        await asyncio.sleep(600)
        assert stage.news == []
        assert len(stage.webhook.calls) > 5


async def test_a_failure_is_asked_about_again_after_minutes() -> None:
    async with scene(lambda _: Failed("no")) as stage:
        asked = [question("a")]
        await stage.settled(ZONE, asked)
        await asyncio.sleep(290)
        assert len(stage.webhook.calls) == 1
        stage.webhook.answer = done
        await eventually(lambda: stage.desk.ask(ZONE, asked) == {asked[0].key: Converted(asked[0].payload)}, 700)


async def test_a_webhook_that_is_declared_anew_is_tried_at_once() -> None:
    async with scene(lambda _: DOWN) as stage:
        await stage.settled(ZONE, [question("a")])
        await asyncio.sleep(900)
        stage.webhook.answer = done
        mended = question("a", provider=2, ca_bundle="two")
        start = asyncio.get_running_loop().time()
        stage.desk.ask(ZONE, [mended])
        await eventually(lambda: stage.desk.ask(ZONE, [mended]) == {mended.key: Converted(mended.payload)})
        assert asyncio.get_running_loop().time() - start < 1
