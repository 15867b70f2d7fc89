"""A fuzzer that follows coverage: a packet that takes a new way through the server's readers joins the corpus and is changed further.

`python -m tests.server.guided SECONDS` searches for so long and writes the corpus anew, the least packets that take every way found.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from server.answer.matcher import Matcher
from server.answer.policy import DECLINED, AnswerPolicy, Declined
from server.answer.query import Query
from server.catalog import Catalog
from server.counters import RCODES
from server.edns.reply import OptionReplies
from server.listening.proxy import ProxyError, decode_proxy_header
from server.transfer.message_reader import read_message
from server.transport import Transport
from server.wire import rcode_of
from server.zone.compile import compile_zone
from server.zone.index import ZoneIndex
from tests.server import packets
from tests.server.test_fuzz import hold
from zonemodel.zonefile import read_zone_file

FOLDER: Final = Path(__file__).parent
CORPUS: Final = FOLDER / "corpus" / "packets.hex"
SERVER: Final = FOLDER.parents[1] / "server"
WATCHED: Final = tuple(
    str(SERVER / each)
    for each in (
        "wire.py",
        "answer/query.py",
        "answer/matcher.py",
        "answer/responder.py",
        "answer/compose.py",
        "answer/rejection.py",
        "answer/chaos.py",
        "listening/proxy.py",
        "edns/",
        "transfer/message_reader.py",
        "transfer/name_reader.py",
        "transfer/record_data.py",
    )
)
LONGEST_BYTES: Final = 2048
WORDS: Final = (
    *packets.NAMES,
    *packets.OPTIONS,
    packets.TSIG,
    *(number.to_bytes(2, "big") for number in packets.TYPES),
    b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00",
    b"\r\n\r\n\0\r\nQUIT\n",
    b"\x21\x11\x00\x0c",
    b"\x21\x21\x00\x24",
)

Trace = Callable[[FrameType, str, object], Any]

Edge = tuple[CodeType, int, int]
"""A step from one line of a function to another."""


class NobodyElse:
    """Leaves every query to the matcher."""

    def take(self, _query: Query) -> Declined:
        return DECLINED


def served() -> Matcher:
    """A matcher of all test zones."""
    catalog = Catalog()
    catalog.complete = True
    for path in sorted((FOLDER / "zones").glob("*.zone")):
        catalog.replace(compile_zone(ZoneIndex.of(read_zone_file(path, None))))
    return Matcher(catalog, AnswerPolicy(options=OptionReplies(nsid=b"name"), delegate=NobodyElse()))


def drive(matcher: Matcher, packet: bytes) -> None:
    """Give a packet to everything that reads packets; AssertionError when a reply breaks a rule, else what a reader raises by mistake."""
    for over_tcp in (False, True):
        hold(matcher, packet, over_tcp)
    reply = matcher.answer(packet, "2001:db8::1", Transport.TLS)
    if isinstance(reply, bytes):
        assert rcode_of(reply) < RCODES
        matcher.responder.hold_back(packet, "192.0.2.1")
        matcher.responder.trusts(packet, "192.0.2.1")
    with suppress(ValueError):
        read_message(packet)
    with suppress(ProxyError):
        decode_proxy_header(packet)


@contextmanager
def traced(edges: set[Edge]) -> Iterator[None]:
    """Note every edge that is taken in the watched files."""
    last: dict[FrameType, int] = {}

    def in_call(frame: FrameType, _event: str, _argument: object) -> Trace | None:
        if not frame.f_code.co_filename.startswith(WATCHED):
            return None
        last[frame] = 0
        return in_line

    def in_line(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            edges.add((frame.f_code, last.get(frame, 0), frame.f_lineno))
            last[frame] = frame.f_lineno
        elif event == "return":
            last.pop(frame, None)
        return in_line

    before = sys.gettrace()
    sys.settrace(in_call)
    try:
        yield
    finally:
        sys.settrace(before)


def edges_of(matcher: Matcher, packet: bytes) -> set[Edge]:
    edges: set[Edge] = set()
    with traced(edges):
        drive(matcher, packet)
    return edges


def changed(corpus: Sequence[bytes], rng: random.Random) -> bytes:
    """Return a packet near one of the corpus, a later one more often than not."""
    at = max(rng.randrange(len(corpus)), rng.randrange(len(corpus)))
    packet = bytearray(corpus[at])
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        where, way = rng.randrange(len(packet) + 1), rng.random()
        if way < 0.2:
            packet[where:where] = rng.choice(WORDS)
        elif way < 0.35:
            word = rng.choice(WORDS)
            packet[where : where + len(word)] = word
        elif way < 0.45:
            packet[where:] = rng.choice(corpus)[where:]
        elif packet:
            rng.choice(packets.MUTATIONS)(packet, rng)
    return bytes(packet[:LONGEST_BYTES])


def search(matcher: Matcher, corpus: Iterable[bytes], limit_s: float, seed: int) -> tuple[list[bytes], int]:
    """Return the corpus with what was found in so many seconds, and how many packets were tried.

    Raises AssertionError with the packet when one is not read as it should be.
    """
    rng = random.Random(seed)
    known: set[Edge] = set()
    found = [packets.query(rng) for _ in range(20)]
    tried, ending_s = 0, time.monotonic() + limit_s
    waiting = [*corpus]
    while waiting or time.monotonic() < ending_s:
        packet = waiting.pop() if waiting else changed(found, rng)
        tried += 1
        try:
            edges = edges_of(matcher, packet)
        except Exception as error:
            raise AssertionError(f"{packet.hex()}: {error!r}") from error
        if not edges <= known:
            known |= edges
            found.append(packet)
    return found, tried


def least(matcher: Matcher, corpus: Iterable[bytes]) -> list[bytes]:
    """Return the packets that are needed to take every way, short ones first."""
    known: set[Edge] = set()
    kept = []
    for packet in sorted(set(corpus), key=lambda each: (len(each), each)):
        edges = edges_of(matcher, packet)
        if not edges <= known:
            known |= edges
            kept.append(packet)
    return kept


def read_corpus() -> list[bytes]:
    lines = CORPUS.read_text().splitlines() if CORPUS.exists() else []
    return [bytes.fromhex(line) for line in lines]


def main(limit_s: float) -> None:
    matcher = served()
    found, tried = search(matcher, read_corpus(), limit_s, random.randrange(1 << 32))
    kept = least(matcher, found)
    CORPUS.parent.mkdir(exist_ok=True)
    CORPUS.write_text("".join(f"{packet.hex()}\n" for packet in kept))
    print(f"{tried} packets tried, {len(kept)} in the corpus")


if __name__ == "__main__":
    main(float(sys.argv[1]))
