"""How many queries a second a core answers when all are of one kind: names that exist, that do not, and that a wildcard covers.

Names are drawn from 100,000, as in an attack with random names. Other work on the machine shows in the queries a second; the bars are held
to the processor time of a reply, which hardly depends on it.

python -m bench flood
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.dns_zone import write_queries, write_zone
from bench.figure import Figure, median, told
from bench.load_generator import flood
from bench.name_server import KNOT, NSD, OURS, running

ROUNDS: Final = 5
TIME_S: Final = 0.7
KINDS: Final = {"hits": "h", "NXDOMAIN": "n", "wildcards": "w", "no data": "d"}
FLAT: Final = 1.05
"""Up to where two durations count as equal."""


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers and kinds in turn."""
    servers = [OURS, *(peer for peer in (NSD, KNOT) if peer.is_installed)]
    qps: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    cpu_us: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="dns-api-flood-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        write_zone(folder / "zone")
        for kind, letter in KINDS.items():
            write_queries(folder / kind, letter)
        for number in range(ROUNDS):
            for server in servers:
                with running(server, folder / f"{server.name}-{number}", folder / "zone") as process:
                    for kind in KINDS:
                        before_s = process.cpu_s()
                        result = flood(process.port, folder / kind, TIME_S, server.outstanding)
                        qps[server.name, kind].append(result["qps"])
                        if server is OURS:
                            cpu_us[kind].append((process.cpu_s() - before_s) / result["replies"] * 1e6)
    for server in servers:
        for kind in KINDS:
            yield told(
                "queries a second of one kind", f"{server.name}, {kind}", median(qps[server.name, kind]) / 1000, "k"
            )
    for kind in KINDS:
        yield Figure(f"processor time for a reply, {OURS.name}, {kind}", median(cpu_us[kind]), "us")
    for kind in ("NXDOMAIN", "wildcards"):
        ratio = median(cpu_us[kind]) / median(cpu_us["hits"])
        yield Figure(f"processor time for a reply, {kind} : hits, {OURS.name}", ratio, "x", at_most=FLAT)
