"""One round over an external zone: finds its servers, asks everything, and follows aliases where a withdrawal depends on them.

Owns what is asked, and nothing that is remembered: each round finds the servers anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from controllers.probe.address import Address
from controllers.probe.answer import Answer, Outcome, Question, is_within
from controllers.probe.delegation import Delegation, Walk, system_resolvers
from controllers.probe.exchange import Exchange
from controllers.probe.round import Answers, Round, probe
from controllers.providers.external.parameters import Settings
from controllers.providers.external.wanted import question_about
from kube.timestamp import utc_now
from zonemodel.name import Fqdn, OwnerName, owner_fqdn

ALIAS_LIMIT: Final = 8
LABEL_OCTETS: Final = 10


@dataclass(frozen=True, slots=True)
class Subject:
    """A relative name and the number of a type; with `literal`, the star of a wildcard is asked for as it is written too."""

    name: str
    type: int
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to find out about a zone. A plan with another `stamp` is another plan, whatever else is the same."""

    domain: Fqdn
    settings: Settings
    subjects: tuple[Subject, ...] = ()
    stamp: object = None


class Prober:
    """Probes zones with one exchange, so that the pace per server holds over all of them."""

    def __init__(self, exchange: Exchange, port: int, wall_clock: Callable[[], datetime] = utc_now) -> None:
        self._exchange = exchange
        self._port = port
        self._wall_clock = wall_clock

    async def probe(self, plan: Plan) -> Round:
        """Return what every server says now."""
        began = self._wall_clock()
        delegation = await self._find_servers(plan)
        label = secrets.token_hex(LABEL_OCTETS)
        questions = [each for subject in plan.subjects for each in questions_of(subject, plan.domain, label)]
        timeout_s = plan.settings.timeout_s
        answers = await probe(plan.domain, delegation.servers, questions, self._exchange, timeout_s)
        followed = {
            each for subject in plan.subjects if subject.literal for each in questions_of(subject, plan.domain, label)
        }
        answers = await self._follow(plan, delegation, answers, followed)
        ended = self._wall_clock()
        return Round(plan.domain, delegation.servers, answers, began, ended, label, delegation.faults)

    async def _find_servers(self, plan: Plan) -> Delegation:
        settings = plan.settings
        walk = Walk(self._exchange, settings.resolvers or system_resolvers(), settings.timeout_s, self._port)
        return await (walk.named(settings.name_servers) if settings.name_servers else walk.discover(plan.domain))

    async def _follow(
        self, plan: Plan, delegation: Delegation, answers: Mapping[Address, Answers], followed: set[Question]
    ) -> Mapping[Address, Answers]:
        """Ask where aliases lead, inside the zone, as far as servers have not told it with the alias."""
        found = {address: dict(each) for address, each in answers.items()}
        for _ in range(ALIAS_LIMIT):
            known = {question for each in found.values() for question in each}
            followed = set(_dangling(plan.domain, found.values(), followed)) - known
            if not followed:
                break
            more = await probe(
                plan.domain, delegation.servers, sorted(followed, key=str), self._exchange, plan.settings.timeout_s
            )
            for address, each in more.items():
                found[address].update(each)
        return found


def questions_of(subject: Subject, domain: Fqdn, label: str) -> list[Question]:
    """Return the questions about a subject, in a round with that label."""
    asked = [question_about(subject.name, subject.type, domain, label)]
    if subject.literal and subject.name.startswith("*"):
        asked.append(Question(owner_fqdn(OwnerName(subject.name), domain), subject.type))
    return asked


def target_of(answer: Answer, question: Question, zone: str) -> Question | None:
    """Return the question that an alias leads to and that its server has not answered along with it, None when there is none."""
    if answer.outcome is not Outcome.ALIAS or answer.values or not is_within(answer.chain[-1], zone):
        return None
    return Question(answer.chain[-1], question.type)


def _dangling(zone: str, answers: Iterable[Mapping[Question, Answer]], asked: set[Question]) -> Iterable[Question]:
    for each in answers:
        for question in asked:
            answer = each.get(question)
            target = target_of(answer, question, zone) if answer is not None else None
            if target is not None:
                yield target
