"""A packet that is more than a look-up, read once and handed on as one value.

Owns what was read. Never answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from server import rdtype
from server.edns.reply import OptionReplies
from server.transport import Transport
from server.wire import HEADER_BYTES, NOTIFY, Edns, MalformedError, Question, count, opcode, read_question, read_records

_TRANSFERS: Final = frozenset({rdtype.AXFR, rdtype.IXFR})


@dataclass(frozen=True, slots=True)
class Query:
    """What could be read of a packet that is a query.

    `question` is None when there is not exactly one that can be read. `options` are those of the reply's OPT record, `padded` says
    that the reply is to be. `tsig_at` is where a TSIG record begins that signs the query.
    """

    packet: bytes
    client: str
    transport: Transport
    question: Question | None = None
    edns: Edns | None = None
    options: bytes = b""
    padded: bool = False
    tsig_at: int | None = None
    malformed: bool = False

    @property
    def known_options(self) -> bytes:
        """The options of the query, which are whole unless it is malformed; those of another version of EDNS are not read."""
        return b"" if self.edns is None or self.edns.version else self.edns.options

    @property
    def is_more_than_a_question(self) -> bool:
        """Say whether it asks for a transfer, tells about one, or is signed."""
        if self.malformed or self.question is None:
            return False
        asks = opcode(self.packet) == NOTIFY or self.question.qtype in _TRANSFERS
        return asks or self.tsig_at is not None


def read_query(packet: bytes, client: str, transport: Transport, replies: OptionReplies) -> Query:
    """Read a packet of at least a header; what is wrong with it is told by the value."""
    question, edns, options, padded, tsig_at = None, None, b"", False, None
    questions = count(packet, 0)
    try:
        if questions == 1:
            question = read_question(packet)
        if questions <= 1:
            records = read_records(packet, HEADER_BYTES if question is None else question.end)
            edns, tsig_at = records.edns, records.tsig_at
        if edns is not None and edns.version == 0:
            options, padded = replies.reply(edns.options, client, transport)
    except (MalformedError, ValueError):
        return Query(packet, client, transport, question, edns, malformed=True)
    return Query(packet, client, transport, question, edns, options, padded, tsig_at)
