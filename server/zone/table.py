"""The compiled form of a zone: finished answers and a node for every existing name.

Owns the shapes that the matcher reads. An offset that depends on the length of the question name is stored as if that name had
no octets; `step` then holds a 1 in the last place of every such offset, so that `base + length * step` moves them all at once.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Final

from server.rdtype import no_counts
from server.zone.persistent import Persistent
from zonemodel.name import WireName

AUTHORITATIVE: Final = 0x0400
TRUNCATED: Final = 0x0200

Heads = tuple[bytes, bytes, bytes, bytes]
"""The ten header octets after the ID, by variant: 1 where the query has RD, 2 where the reply has an OPT record."""


@cache
def heads(flags: int, answers: int, authorities: int, additionals: int) -> Heads:
    """Return the header of a reply; `flags` are those beside QR and RD, the RCODE included (RFC 1035 section 4.1.1)."""

    def head(variant: int) -> bytes:
        first = 0x8000 | flags | (0x0100 if variant & 1 else 0)
        return struct.pack("!5H", first, 1, answers, authorities, additionals + (variant >> 1))

    return head(0), head(1), head(2), head(3)


@dataclass(frozen=True, slots=True)
class Trim:
    """A shorter form of an answer: its first `size` octets, without the optional records after them."""

    size: int
    heads: Heads


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything of a reply between the question and OPT.

    `body` holds offsets for a question name of no octets when `step` is not 0. `soa` asks for the zone's negative SOA record
    after the body; `heads` count it. `trims` are the shorter forms allowed where space is short, longest first.
    """

    heads: Heads
    body: bytes
    step: int = 0
    soa: bool = False
    trims: tuple[Trim, ...] = ()

    def body_for(self, length: int) -> bytes:
        """Return the body for a question name of `length` octets."""
        if not self.step:
            return self.body
        return (int.from_bytes(self.body, "big") + length * self.step).to_bytes(len(self.body), "big")


COMPUTED: Final = Answer(heads(0, 0, 0, 0), b"")
"""Stands for an answer that depends on the question name itself; the responder works it out (compared by identity)."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What holds for names that do not exist, below the closest name that does.

    `source` is the wildcard owner whose answers they get, empty where there is none; `other` is said to all other types.
    """

    source: bytes
    other: Answer


@dataclass(frozen=True, slots=True)
class Node:
    """What an existing name says to types that it lacks, and what holds below it."""

    other: Answer
    below: Cover


@dataclass(frozen=True, slots=True)
class Patch:
    """How a table differs from the one of version `since`: in the nodes and answers of `names`.

    Each name has the types of its answers now, which are none for a name that is gone.
    """

    since: int
    names: Mapping[WireName, tuple[int, ...]]


_versions: Final = count()


@dataclass(frozen=True, slots=True)
class ZoneTable:
    """One version of a zone: never changed once it is built, but for the count of its questions.

    `answers` are found by owner and type in two octets, joined; every owner is lowercase. `soa` is the negative SOA record,
    which stands in the authority section of denials (RFC 2308 section 3). The answers of a `signed` zone hold no signatures:
    those who ask for them are answered by the responder. `asked` counts the questions by `rdtype.SLOTS`. `version` is another one for
    every table; `patch` is there when the table was made from another one.
    """

    apex: WireName
    answers: Persistent[bytes, Answer]
    nodes: Persistent[bytes, Node]
    soa: Answer
    signed: bool = False
    asked: list[int] = field(default_factory=no_counts, compare=False)
    version: int = field(default_factory=lambda: next(_versions), compare=False)
    patch: Patch | None = field(default=None, compare=False)


_SERVFAIL: Final = Answer(heads(2, 0, 0, 0), b"")


def withheld_table(apex: WireName) -> ZoneTable:
    """Return the table of a zone that answers SERVFAIL to everything."""
    nodes = Persistent[bytes, Node].of({apex: Node(_SERVFAIL, Cover(b"", _SERVFAIL))})
    return ZoneTable(apex, Persistent[bytes, Answer].of({}), nodes, _SERVFAIL)
