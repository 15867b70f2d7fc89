"""How long a server takes from its start until it answers from a large zone in a master file, and what memory it has then.

The zones have 1,000,000 A records; 1,000,000 records of all common kinds (addresses, MX, TXT, PTR, aliases within the zone and out of it,
wildcards, delegations with glue); and 500,000 delegations as a top-level domain has them, with their glue 1,333,334 records.

python -m bench load
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.dns_zone import write_delegations, write_large_zone, write_mixed
from bench.figure import Figure, median, told
from bench.name_server import BIND, KNOT, NSD, OURS, NameServer, running

RECORDS: Final = 1_000_000
ROUNDS: Final = 3
START_S: Final = 1.3
MEMORY_MB: Final = 160.0
_WARM_UP_RECORDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Content:
    """One kind of zone: how its file is written, with how many entries, and the owner that is asked for."""

    name: str
    write: Callable[[Path, int], None]
    entries: int
    owner: str


ADDRESSES: Final = Content("1,000,000 A records", write_large_zone, RECORDS, f"h{RECORDS - 1}")
CONTENTS: Final = (
    ADDRESSES,
    Content("1,000,000 records of all kinds", write_mixed, RECORDS, f"h{RECORDS // 10 - 1}"),
    Content("500,000 delegations", write_delegations, RECORDS // 2, f"d{RECORDS // 2 - 1}"),
)


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers in turn."""
    servers = [OURS, *(peer for peer in (NSD, KNOT, BIND) if peer.is_installed)]
    start_s, memory_mb = (
        defaultdict[tuple[str, str], list[float]](list),
        defaultdict[tuple[str, str], list[float]](list),
    )
    with tempfile.TemporaryDirectory(prefix="dns-api-load-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)  # some servers give up their rights before they read the zone
        write_large_zone(folder / "small", _WARM_UP_RECORDS)
        for server in servers:  # so that programs are in the page cache
            _run(server, folder / f"{server.name}-small", folder / "small", f"h{_WARM_UP_RECORDS - 1}")
        for content in CONTENTS:
            content.write(folder / "zone", content.entries)
            for _ in range(ROUNDS):
                for server in servers:
                    took_s, has_mb = _run(server, folder / server.name, folder / "zone", content.owner)
                    start_s[content.name, server.name].append(took_s)
                    memory_mb[content.name, server.name].append(has_mb)
    for content in CONTENTS:
        for server in servers:
            key = content.name, server.name
            yield told(f"start to answer, {content.name}", server.name, median(start_s[key]), "s")
            yield told(f"memory then, {content.name}", server.name, median(memory_mb[key]), "MB")
    key = ADDRESSES.name, OURS.name
    yield Figure(f"start to answer, dns-api, {ADDRESSES.name}", median(start_s[key]), "s", at_most=START_S)
    yield Figure(f"memory, dns-api, {ADDRESSES.name}", median(memory_mb[key]), "MB", at_most=MEMORY_MB)


def _run(server: NameServer, folder: Path, zone: Path, owner: str) -> tuple[float, float]:
    shutil.rmtree(folder, ignore_errors=True)
    started = time.monotonic()
    with running(server, folder, zone, owner) as process:
        return time.monotonic() - started, process.memory_mb()
