"""How long the greatest ownership snapshot takes to encode and to decode, and how few pages a change rewrites.

python -m bench ownership
"""

from __future__ import annotations

import base64
import random
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from bench.figure import Figure, median
from ownership.codec.envelope import VALUE_MAX_BYTES
from ownership.codec.manifest import ENTRIES_MAX, decode_manifest
from ownership.codec.page import PAGE_PREFIX, decode_page
from ownership.codec.snapshot import Snapshot, assemble, succeed
from ownership.entry import Entry, claim
from ownership.error import FormatError, SnapshotTooLargeError
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from zonemodel.name import Fqdn

OWNER: Final = OwnerID("prod")
RUNS: Final = 5
LIMIT_S: Final = 1.0
LIMIT_MB: Final = 100.0
CHANGES: Final = 200

T = TypeVar("T")


def measure() -> Iterator[Figure]:
    """Yield times, memory and pages for as many claims as one snapshot may hold."""
    entries = hosts(ENTRIES_MAX)
    snapshot = _encode(entries)
    yield Figure(f"{ENTRIES_MAX:,} claims: pages", len(snapshot.pages), "")
    yield Figure(f"{ENTRIES_MAX:,} claims: encode, median of {RUNS}", _seconds(lambda: _encode(entries)), "s", LIMIT_S)
    yield Figure(f"{ENTRIES_MAX:,} claims: decode, median of {RUNS}", _seconds(lambda: _decode(snapshot)), "s", LIMIT_S)
    yield Figure(f"{ENTRIES_MAX:,} claims: encode, memory", _megabytes(lambda: _encode(entries)), "MB", LIMIT_MB)
    yield Figure(f"{ENTRIES_MAX:,} claims: decode, memory", _megabytes(lambda: _decode(snapshot)), "MB", LIMIT_MB)
    yield Figure("zip bomb refused, memory", _megabytes(_refuse_bomb), "MB", 1.0)
    yield from _changes(snapshot)
    yield Figure("unlike A records that one snapshot holds", _most_unlike(), "")


def _changes(snapshot: Snapshot) -> Iterator[Figure]:
    """Yield the pages that single changes at random places rewrite, each after all changes before it."""
    chance = random.Random(16)
    pages, times = [], []
    for number in range(CHANGES):
        entries = list(snapshot.entries)
        if number % 2:
            del entries[chance.randrange(len(entries))]
        else:
            at = chance.randrange(len(entries))
            entries[at] = claim(OWNER, entries[at].fqdn, Member(MemberType.A, f"192.0.2.{number}"))
        started = time.perf_counter()
        successor = succeed(snapshot, OWNER, entries, VALUE_MAX_BYTES)
        times.append(time.perf_counter() - started)
        pages.append(len({page.digest for page in successor.pages} - {page.digest for page in snapshot.pages}))
        snapshot = successor
    yield Figure(f"one claim changed, {CHANGES} times: pages changed, median", median(pages), "", 1)
    yield Figure(f"one claim changed, {CHANGES} times: pages changed, most", max(pages), "", 2)
    yield Figure(f"one claim changed, {CHANGES} times: encode, median", 1000 * median(times), "ms")


def hosts(count: int) -> list[Entry]:
    """Return claims to hosts that point to the same place, as those of one ingress do."""
    member = Member(MemberType.CNAME, "ingress.example.net")
    return [claim(OWNER, Fqdn(f"host-{number:05}.apps.example.com"), member) for number in range(count)]


def _most_unlike() -> int:
    """Return how many claims with random names and addresses fit, to a hundred."""
    chance = random.Random(17)
    entries = [
        claim(OWNER, Fqdn(f"{chance.randbytes(5).hex()}.example.com"), Member(MemberType.A, str(_address(chance))))
        for _ in range(ENTRIES_MAX)
    ]
    least, most = 0, ENTRIES_MAX // 100 + 1
    while most - least > 1:
        middle = (least + most) // 2
        try:
            _encode(entries[: 100 * middle])
        except SnapshotTooLargeError:
            most = middle
        else:
            least = middle
    return 100 * least


def _address(chance: random.Random) -> str:
    return ".".join(str(octet) for octet in (10, *chance.randbytes(3)))


def _encode(entries: list[Entry]) -> Snapshot:
    return succeed(None, OWNER, entries, VALUE_MAX_BYTES)


def _decode(snapshot: Snapshot) -> Snapshot:
    return assemble(decode_manifest(snapshot.sealed.value), {page.digest: page.value for page in snapshot.pages})


def _refuse_bomb() -> None:
    member = zlib.compressobj(9, zlib.DEFLATED, 31)
    text = base64.urlsafe_b64encode(member.compress(b"0" * 2_500_000) + member.flush()).rstrip(b"=")
    tracemalloc.reset_peak()
    try:
        decode_page(PAGE_PREFIX + text)
    except FormatError:
        return
    raise RuntimeError("the bomb was not refused")


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return median(times)


def _megabytes(work: Callable[[], T]) -> float:
    """Return the most memory that Python has for the work at any time, its result included."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
