"""One round over a zone: finds its servers, asks everything, and follows aliases where a proof depends on them.

Owns what is asked, and nothing that is remembered: each round finds the servers anew.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from controllers.probe.address import Address, ServerName
from controllers.probe.answer import Answer, Question
from controllers.probe.apex import Delegation
from controllers.probe.delegation import Walk, system_resolvers
from controllers.probe.exchange import TIMEOUT_S, Exchange, Share
from controllers.probe.round import Answers, Round, Server, apex_questions, probe
from controllers.probe.subject import Subject, questions_of, target_of
from zonemodel.name import Fqdn

ALIAS_LIMIT: Final = 8
LABEL_OCTETS: Final = 10
CLOCK_NAME_OCTETS: Final = 8
INTERVAL_S: Final = 60.0


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
        exchange = Share(self._exchange)
        delegation = await self._find_servers(plan, exchange)
        label = secrets.token_hex(LABEL_OCTETS)
        questions = [each for subject in plan.subjects for each in questions_of(subject, plan.domain, label)]
        proofs = {
            each for subject in plan.subjects if subject.proof for each in questions_of(subject, plan.domain, label)
        }
        answers = await probe(plan.domain, delegation.servers, questions, exchange, plan.timeout_s)
        answers = await self._follow(plan, delegation, answers, proofs, exchange)
        return Round(
            plan.domain,
            delegation.servers,
            answers,
            began,
            self._wall_clock(),
            label,
            delegation.faults,
            frozenset((*apex_questions(plan.domain), *questions)),
            delegation.names,
            began_s,
            self._clock(),
            self._clock_name,
        )

    async def _find_servers(self, plan: Plan, exchange: Exchange) -> Delegation:
        if plan.servers:
            return Delegation(plan.servers)
        walk = Walk(exchange, plan.resolvers or system_resolvers(), plan.timeout_s, self._port)
        return await (walk.named(plan.name_servers) if plan.name_servers else walk.discover(plan.domain))

    async def _follow(
        self,
        plan: Plan,
        delegation: Delegation,
        answers: Mapping[Address, Answers],
        proofs: set[Question],
        exchange: Exchange,
    ) -> Mapping[Address, Answers]:
        """Ask where aliases lead, inside the zone, as far as servers have not told it with the alias."""
        found = {address: dict(each) for address, each in answers.items()}
        followed = proofs
        for _ in range(ALIAS_LIMIT):
            known = {question for each in found.values() for question in each}
            followed = set(_dangling(plan.domain, found.values(), followed)) - known
            if not followed:
                break
            asked = sorted(followed, key=str)
            more = await probe(plan.domain, delegation.servers, asked, exchange, plan.timeout_s)
            for address, each in more.items():
                found[address].update(each)
        return found


def _dangling(zone: str, answers: Iterable[Mapping[Question, Answer]], asked: set[Question]) -> Iterator[Question]:
    for each in answers:
        for question in asked:
            answer = each.get(question)
            target = target_of(answer, question, zone) if answer is not None else None
            if target is not None:
                yield target
