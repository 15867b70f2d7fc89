"""How many queries a second a core answers, beside other name servers, and how long replies take at 10,000 a second.

All queries pass the system's UDP, which takes most of the time of any server here: the bare echo shows how much.

Other work on the machine takes its share of the two cores and shows in the queries a second; the processor time that a server takes for a
reply hardly depends on it, so both are told.

python -m bench qps
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.dns_zone import write_queries, write_zone
from bench.figure import Figure, median, told
from bench.load_generator import echoing, flood, pace
from bench.name_server import (
    BIND,
    COREDNS,
    KNOT,
    NSD,
    OURS,
    OURS_IN_PYTHON,
    PEERS,
    POWERDNS,
    POWERDNS_UNCACHED,
    NameServer,
    Running,
    running,
)

ROUNDS: Final = 5
FLOOD_S: Final = 1.0
PACE_S: Final = 1.0
PACE_QPS: Final = 10_000
MIX: Final = "mix"
ECHO: Final = "bare echo"
BARS: Final = (
    (NSD.name, 1.3),
    (KNOT.name, 1.3),
    (BIND.name, 1.0),
    (POWERDNS.name, 1.0),
    (COREDNS.name, 1.0),
    (ECHO, 0.9),
)


@dataclass(frozen=True, slots=True)
class Runs:
    """What was measured, by server, once a round."""

    qps: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_us: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    own_us: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    p99_us: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def rate(self, name: str) -> float:
        return median(self.qps[name])

    def flood(self, name: str, server: Running, folder: Path, outstanding: int) -> None:
        before_s, own_before_s = server.cpu_s(), server.own_cpu_s()
        result = flood(server.port, folder / MIX, FLOOD_S, outstanding)
        self.qps[name].append(result["qps"])
        self.cpu_us[name].append((server.cpu_s() - before_s) / result["replies"] * 1e6)
        self.own_us[name].append((server.own_cpu_s() - own_before_s) / result["replies"] * 1e6)


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds, then the ratios; every round goes through all servers in turn."""
    servers = [OURS, OURS_IN_PYTHON, *(peer for peer in PEERS if peer.is_installed)]
    runs = Runs()
    with tempfile.TemporaryDirectory(prefix="dns-api-qps-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)  # some servers give up their rights before they read the zone
        write_zone(folder / "zone")
        write_queries(folder / MIX)
        for number in range(ROUNDS):
            _round(runs, servers, folder, number)
    for name in (ECHO, *(server.name for server in servers)):
        yield told("queries a second", name, runs.rate(name) / 1000, "k")
        yield told("processor time for a reply", name, median(runs.cpu_us[name]), "us")
        yield told("processor time for a reply outside of the kernel", name, median(runs.own_us[name]), "us")
        if name != ECHO:
            yield told(f"99 % of replies at {PACE_QPS} a second", name, median(runs.p99_us[name]), "us")
    yield from _ratios(runs)


def _round(runs: Runs, servers: list[NameServer], folder: Path, number: int) -> None:
    with echoing() as echo:
        runs.flood(ECHO, echo, folder, OURS.outstanding)
    for server in servers:
        with running(server, folder / f"{server.name}-{number}", folder / "zone") as process:
            runs.flood(server.name, process, folder, server.outstanding)
            runs.p99_us[server.name].append(pace(process.port, folder / MIX, PACE_S, PACE_QPS)["p99_us"])


def _ratios(runs: Runs) -> Iterator[Figure]:
    for name, bar in BARS:
        if name in runs.qps:
            ratio = runs.rate(OURS.name) / runs.rate(name)
            yield Figure(f"queries a second, {OURS.name} : {name}", ratio, "x", at_least=bar)
            cpu = median(runs.cpu_us[name]) / median(runs.cpu_us[OURS.name])
            yield Figure(f"replies for the same processor time, {OURS.name} : {name}", cpu, "x")
    if POWERDNS_UNCACHED.name in runs.p99_us:
        ratio = runs.rate(OURS_IN_PYTHON.name) / runs.rate(POWERDNS_UNCACHED.name)
        yield Figure(f"queries a second, {OURS_IN_PYTHON.name} : {POWERDNS_UNCACHED.name}", ratio, "x", at_least=1.0)
    if NSD.name in runs.p99_us:
        ratio = median(runs.p99_us[OURS.name]) / median(runs.p99_us[NSD.name])
        yield Figure(f"99 % of replies at {PACE_QPS} a second, {OURS.name} : {NSD.name}", ratio, "x", at_most=1.0)
