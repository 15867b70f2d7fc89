"""How a server answers beside what its zones say: one value that matcher and responder share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from server.answer.chaos import Chaos
from server.answer.query import Query
from server.edns.reply import OptionReplies
from server.transport import Reply


class Delegate(Protocol):
    """Takes over what is more than a question for data: transfers (AXFR, IXFR), NOTIFY, and whatever is signed with TSIG."""

    def take(self, query: Query) -> Reply | Declined:
        """Return the reply, Later or Streamed over TCP and TLS only, or DECLINED to have the query answered as if nobody was asked.

        Called on the event loop, so it must not block. The query has one question and is well-formed.
        """


class Declined:
    """The delegate leaves a query to the responder."""


DECLINED = Declined()


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """`payload_bytes` is the longest reply over UDP."""

    payload_bytes: int = 1232
    options: OptionReplies = field(default_factory=OptionReplies)
    chaos: Chaos = field(default_factory=Chaos)
    delegate: Delegate | None = None
