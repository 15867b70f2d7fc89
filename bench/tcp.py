"""How many queries a second a core answers over TCP: 20 connections, 200 queries under way, as dnsperf sends them.

python -m bench tcp
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.dns_zone import write_query_text, write_zone
from bench.figure import Figure, median, told
from bench.name_server import BIND, KNOT, LOAD_CORE, NSD, OURS, POWERDNS, running

ROUNDS: Final = 3
TIME_S: Final = 2
_QPS: Final = re.compile(r"Queries per second:\s+([\d.]+)")


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through all servers in turn."""
    if shutil.which("dnsperf") is None:
        raise FileNotFoundError("dnsperf is not installed")
    servers = [OURS, *(peer for peer in (NSD, KNOT, BIND, POWERDNS) if peer.is_installed)]
    qps = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="dns-api-tcp-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        write_zone(folder / "zone")
        write_query_text(folder / "queries")
        for number in range(ROUNDS):
            for server in servers:
                with running(server, folder / f"{server.name}-{number}", folder / "zone") as process:
                    qps[server.name].append(load(process.port, folder / "queries"))
    for server in servers:
        yield told("queries a second over TCP", server.name, median(qps[server.name]) / 1000, "k")


def load(port: int, queries: Path, mode: str = "tcp") -> float:
    """Return the queries a second that dnsperf tells; `mode` is tcp, or dot for TLS."""
    how = ("-m", mode, "-c", "20", "-q", "200", "-l", str(TIME_S), "-e")
    command = ("taskset", "-c", str(LOAD_CORE), "dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", str(queries), *how)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = _QPS.search(done.stdout)
    if found is None:
        raise RuntimeError(f"dnsperf told no rate: {done.stdout[-500:]}")
    return float(found[1])
