"""One round over a zone: finds its servers, asks everything, and follows aliases where a proof depends on them.

Owns what is asked, and nothing that is remembered: each round finds the servers anew.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from controllers.probe.address import Address, ServerName
from controllers.probe.answer import Question
from controllers.probe.apex import Delegation
from controllers.probe.delegation import Walk, system_resolvers
from controllers.probe.exchange import TIMEOUT_S, Exchange, Share
from controllers.probe.round import Answers, Memory, Round, Server, apex_questions, ask_each, probe
from controllers.probe.subject import Subject, questions_of, target_of
from zonemodel.name import Fqdn

ALIAS_LIMIT: Final = 8
LABEL_OCTETS: Final = 10
CLOCK_NAME_OCTETS: Final = 8
INTERVAL_S: Final = 60.0
WAITS_LIMIT: Final = 24
"""So many times in a row may a round wait in vain for servers: on the way to the zone, and for those of its servers that are silent."""
QUESTION_S: Final = 0.7
"""What a round has for each name beside that: its part of a server's pace when all rounds of all workers ask that one server."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to find out about a zone, and whom to ask: `servers`, else the `name_servers`, else those that the delegation leads to.

    Without `resolvers` those of this host are asked. A plan with another `stamp` is another plan, whatever else is the same.
    """

    domain: Fqdn
    subjects: tuple[Subject, ...] = ()
    servers: tuple[Server, ...] = ()
    name_servers: tuple[Address | ServerName, ...] = ()
    resolvers: tuple[Address, ...] = ()
    interval_s: float = INTERVAL_S
    timeout_s: float = TIMEOUT_S
    stamp: object = None

    def asks_the_same_servers(self, other: Plan) -> bool:
        """Say whether a round for the one asks the same servers about the same zone as one for the other, as far as plans tell."""
        mine, theirs = ((each.domain, each.servers, each.name_servers, each.resolvers) for each in (self, other))
        return mine == theirs


class Prober:
    """Probes zones with one exchange, so that the pace per server holds over all of them; `port` is that of servers known by name.

    `clock` counts seconds and is never put; what it says means nothing to another prober.
    """

    def __init__(
        self,
        exchange: Exchange,
        port: int,
        wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exchange = exchange
        self._port = port
        self._wall_clock = wall_clock
        self._clock = clock
        self._clock_name = secrets.token_hex(CLOCK_NAME_OCTETS)

    async def probe(self, plan: Plan) -> Round:
        """Return what every server says now."""
        began, began_s = self._wall_clock(), self._clock()
        label = secrets.token_hex(LABEL_OCTETS)
        questions = [each for subject in plan.subjects for each in questions_of(subject, plan.domain, label)]
        proofs = {
            each for subject in plan.subjects if subject.proof for each in questions_of(subject, plan.domain, label)
        }
        limit_s = limit_of(plan.timeout_s, len(questions))
        exchange, memory = Share(self._exchange, time_s=limit_s), Memory(len(questions))
        delegation = await self._find_servers(plan, exchange)
        answers = await probe(plan.domain, delegation.servers, questions, exchange, plan.timeout_s, memory)
        answers = await self._follow(plan, answers, proofs, exchange, memory)
        overdue = (f"the look was ended after {limit_s:.0f} s, before every server had answered",)
        return Round(
            plan.domain,
            delegation.servers,
            answers,
            began,
            self._wall_clock(),
            label,
            (*(overdue if exchange.overdue else ()), *delegation.faults),
            frozenset((*apex_questions(plan.domain), *questions)),
            delegation.names,
            began_s,
            self._clock(),
            self._clock_name,
            delegation.denied,
        )

    async def _find_servers(self, plan: Plan, exchange: Exchange) -> Delegation:
        if plan.servers:
            return Delegation(plan.servers)
        walk = Walk(exchange, plan.resolvers or system_resolvers(), plan.timeout_s, self._port)
        return await (walk.named(plan.name_servers) if plan.name_servers else walk.discover(plan.domain))

    async def _follow(
        self,
        plan: Plan,
        answers: Mapping[Address, Answers],
        proofs: Collection[Question],
        exchange: Exchange,
        memory: Memory,
    ) -> Mapping[Address, Answers]:
        """Ask where aliases lead, inside the zone, as far as servers have not told it with the alias: each server where its own lead."""
        found = {address: dict(each) for address, each in answers.items()}
        followed = dict.fromkeys(found, proofs)
        apex = apex_questions(plan.domain)[0]
        for _ in range(ALIAS_LIMIT):
            followed = {
                address: targets
                for address, asked in followed.items()
                if (targets := set(_dangling(plan.domain, found[address], asked)) - found[address].keys())
            }
            if not followed:
                break
            asked_now = {address: [apex, *sorted(each, key=str)] for address, each in followed.items()}
            more = await ask_each(plan.domain, asked_now, exchange, plan.timeout_s, memory)
            for address, each in more.items():
                found[address].update(each)
        return found


def limit_of(timeout_s: float, questions: int) -> float:
    """Return in how many seconds a round with so many questions has to end."""
    return WAITS_LIMIT * timeout_s + questions * QUESTION_S


def _dangling(zone: str, answers: Answers, asked: Collection[Question]) -> Iterator[Question]:
    for question in asked:
        answer = answers.get(question)
        target = target_of(answer, question, zone) if answer is not None else None
        if target is not None:
            yield target
