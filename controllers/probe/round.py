"""One round over a zone: every server is asked every question, all anew.

Owns the order within a round and how a server that does not answer is spared the rest of it. A round is a value when it has ended;
nothing of it is asked from memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import dns.message
import dns.rdatatype

from controllers.probe.address import Address
from controllers.probe.answer import (
    NO_ADDRESS,
    NOT_AUTHORITATIVE,
    SILENCE,
    TOO_MANY,
    Answer,
    Outcome,
    Question,
    read_answer,
)
from controllers.probe.exchange import TIMEOUT_S, Exchange

OUTSTANDING_LIMIT: Final = 32
SILENCE_LIMIT: Final = 3
INTERVIEW_LIMIT: Final = 32
"""So many addresses are asked at a time; of each there are as many questions under way as `OUTSTANDING_LIMIT` says, all kept in memory."""
KEPT_CHARS: Final = 128 * 1024
KEPT_CHARS_EACH: Final = 2048
"""So much of different answers is kept of a round: the first for every zone, the second for each question of its plan."""
VALUE_CHARS: Final = 64
"""What a value takes beside its text."""
NEVER: Final = datetime.min.replace(tzinfo=UTC)
UNRESOLVED: Final = "UNRESOLVED"
"""The gap of a server that may have addresses which nobody has told."""

Answers = Mapping[Question, Answer]


@dataclass(frozen=True, slots=True, order=True)
class Server:
    """One authoritative server: how it is called, and every address that it is asked at.

    `gap` is a word for addresses that it may have beside these and that are not asked, empty when there are none.
    """

    name: str
    addresses: tuple[Address, ...]
    gap: str = ""

    @property
    def unasked(self) -> tuple[str, Answer] | None:
        """What stands for the addresses that nobody asks: how they are called, and an answer that says nothing."""
        if not self.addresses:
            return self.name, Answer(Outcome.UNASKED, self.gap) if self.gap else NO_ADDRESS
        return (f"{self.name} (other addresses)", Answer(Outcome.UNASKED, self.gap)) if self.gap else None


@dataclass(frozen=True, slots=True)
class Round:
    """What every server of a zone said, by address, between two moments of the wall clock, and of a clock that nobody puts.

    `clock` names that clock, which means nothing beyond one process. `label` was new in this round: questions about wildcards ask for
    it. `faults` say what was wrong on the way to the servers. `names` are those of the servers, None when these are known by address.
    `denied` says that the zone above was asked and does not delegate to anybody; else nothing is known while there are no servers.
    """

    zone: str
    servers: tuple[Server, ...]
    answers: Mapping[Address, Answers]
    began: datetime = NEVER
    ended: datetime = NEVER
    label: str = ""
    faults: tuple[str, ...] = field(default=())
    asked: frozenset[Question] = frozenset()
    names: frozenset[str] | None = None
    began_s: float = 0.0
    ended_s: float = 0.0
    clock: str = ""
    denied: bool = False

    def told(self, question: Question) -> list[tuple[str, Answer]]:
        """Return each server's word on a question with the server's name, one for each of its addresses that there is a way to.

        A server all of whose addresses are out of reach is there with that answer, and so are addresses that nobody knows or asks. A
        question of another round is told by none.
        """
        found = []
        for server in self.servers:
            words = [
                (_label(server, address), answer)
                for address in server.addresses
                if (answer := self.answers.get(address, {}).get(question)) is not None
            ]
            reached = [word for word in words if word[1].outcome is not Outcome.UNROUTABLE]
            found += reached or words[:1]
            if question in self.asked and server.unasked is not None:
                found.append(server.unasked)
        return found

    @property
    def unheard(self) -> bool:
        """Whether some server has not answered in time, or not been found: a message may have got lost that another look may hear."""
        if any(server.gap == UNRESOLVED for server in self.servers) or not (self.servers or self.denied):
            return True
        return any(answer.outcome is Outcome.SILENT for each in self.answers.values() for answer in each.values())

    def left_out(self) -> tuple[str, ...]:
        """Return the name servers that the apex names and that are none of those that were asked."""
        if self.names is None:
            return ()
        told = self.apex(dns.rdatatype.NS)
        return tuple(sorted({name for _, answer in told for name in answer.values} - self.names))

    def apex(self, kind: dns.rdatatype.RdataType) -> list[tuple[str, Answer]]:
        """Return each server's word on a type at the apex."""
        return self.told(Question(self.zone, kind))


def apex_questions(zone: str) -> list[Question]:
    """Return what every round asks."""
    return [Question(zone, kind) for kind in (dns.rdatatype.SOA, dns.rdatatype.NS)]


class Memory:
    """What is kept of the answers of one round: an answer that several servers give is kept once, and those past the bound not at all."""

    def __init__(self, questions: int) -> None:
        self._left_chars = KEPT_CHARS + questions * KEPT_CHARS_EACH
        self._known: dict[Answer, Answer] = {}

    def keep(self, answer: Answer) -> Answer:
        """Return the answer to keep: TOO_MANY, which says nothing, when there is no room for it."""
        known = self._known.get(answer)
        if known is not None:
            return known
        texts = (*answer.values, *answer.chain, *answer.glue, answer.cut or "")
        size_chars = sum(len(each) + VALUE_CHARS for each in texts)
        if size_chars > self._left_chars:
            return TOO_MANY
        self._left_chars -= size_chars
        self._known[answer] = answer
        return answer


async def probe(
    zone: str,
    servers: Sequence[Server],
    questions: Iterable[Question],
    exchange: Exchange,
    timeout_s: float = TIMEOUT_S,
    memory: Memory | None = None,
) -> Mapping[Address, Answers]:
    """Ask every server every question about `zone`, and for its apex SOA and NS first; `timeout_s` is for one question."""
    asked = list(dict.fromkeys((*apex_questions(zone), *questions)))
    addresses = sorted({address for server in servers for address in server.addresses})
    return await ask_each(zone, dict.fromkeys(addresses, asked), exchange, timeout_s, memory or Memory(len(asked)))


async def ask_each(
    zone: str, asked: Mapping[Address, Sequence[Question]], exchange: Exchange, timeout_s: float, memory: Memory
) -> Mapping[Address, Answers]:
    """Ask each address its own questions about `zone`, of which the first is for the SOA at the apex."""
    free = asyncio.Semaphore(INTERVIEW_LIMIT)

    async def interview(address: Address) -> Answers:
        async with free:
            return await _Interview(zone, address, exchange, timeout_s, memory).ask_all(asked[address])

    async with asyncio.TaskGroup() as tasks:
        running = {address: tasks.create_task(interview(address)) for address in asked}
    return {address: task.result() for address, task in running.items()}


class _Interview:
    """The questions of one round to one address."""

    def __init__(self, zone: str, server: Address, exchange: Exchange, timeout_s: float, memory: Memory) -> None:
        self._zone = zone
        self._server = server
        self._exchange = exchange
        self._timeout_s = timeout_s
        self._memory = memory
        self._silence = SILENCE
        self._silences = 0

    async def ask_all(self, questions: Sequence[Question]) -> Answers:
        """Ask for the apex SOA, the first question, alone: who has none does not have the zone, and its "no" is about another one."""
        first = await self._ask(questions[0])
        if first.outcome is not Outcome.DATA:
            rest = NOT_AUTHORITATIVE if first.outcome.is_answer else first
            return {**dict.fromkeys(questions, rest), questions[0]: first}
        answers = {questions[0]: first}
        free = asyncio.Semaphore(OUTSTANDING_LIMIT)

        async def ask(question: Question) -> None:
            try:
                answers[question] = await self._ask(question)
            finally:
                free.release()

        async with asyncio.TaskGroup() as tasks:
            for question in questions[1:]:
                await free.acquire()
                if self._silences >= SILENCE_LIMIT:
                    answers[question] = self._silence
                    free.release()
                else:
                    tasks.create_task(ask(question))
        return answers

    async def _ask(self, question: Question) -> Answer:
        reply = await self._exchange.ask(self._server, question, self._timeout_s)
        if isinstance(reply, dns.message.Message):
            self._silences = 0
            return self._memory.keep(read_answer(reply, question, self._zone))
        if reply.outcome is Outcome.SILENT:
            self._silences, self._silence = self._silences + 1, reply
        return reply


def _label(server: Server, address: Address) -> str:
    return server.name if len(server.addresses) == 1 else f"{server.name} ({address})"
