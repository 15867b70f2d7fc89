"""How long a server takes from its start until it answers from a zone of 1,000,000 A records in a master file, and what memory it has then.

python -m bench load
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.dns_zone import write_large_zone
from bench.figure import Figure, median, told
from bench.name_server import BIND, KNOT, NSD, OURS, NameServer, running

RECORDS: Final = 1_000_000
ROUNDS: Final = 3
START_S: Final = 1.3
MEMORY_MB: Final = 160.0
_WARM_UP_RECORDS: Final = 1000


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers in turn."""
    servers = [OURS, *(peer for peer in (NSD, KNOT, BIND) if peer.is_installed)]
    start_s, memory_mb = defaultdict(list), defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="dns-api-load-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)  # some servers give up their rights before they read the zone
        write_large_zone(folder / "zone", RECORDS)
        write_large_zone(folder / "small", _WARM_UP_RECORDS)
        for server in servers:  # so that programs are in the page cache
            _run(server, folder / f"{server.name}-small", folder / "small", _WARM_UP_RECORDS)
        for number in range(ROUNDS):
            for server in servers:
                took_s, has_mb = _run(server, folder / f"{server.name}-{number}", folder / "zone", RECORDS)
                start_s[server.name].append(took_s)
                memory_mb[server.name].append(has_mb)
    for server in servers:
        yield told(f"start to answer, {RECORDS:,} records", server.name, median(start_s[server.name]), "s")
        yield told(f"memory then, {RECORDS:,} records", server.name, median(memory_mb[server.name]), "MB")
    yield Figure("start to answer, dns-api", median(start_s[OURS.name]), "s", at_most=START_S)
    yield Figure("memory, dns-api", median(memory_mb[OURS.name]), "MB", at_most=MEMORY_MB)


def _run(server: NameServer, folder: Path, zone: Path, records: int) -> tuple[float, float]:
    started = time.monotonic()
    with running(server, folder, zone, f"h{records - 1}") as process:
        return time.monotonic() - started, process.memory_mb()
