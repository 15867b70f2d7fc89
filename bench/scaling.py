"""What a reply costs when threads on two cores answer at once, beside one thread.

A machine of two cores has none left for the load, so the queries a second say little: load and server share both cores. The processor time
of a reply says whether threads stand in each other's way: with locks or shared counts it would grow. At 1.11 times the time, two free
cores give 1.8 times the replies.

python -m bench scaling
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.dns_zone import write_queries, write_zone
from bench.figure import Figure, median, told
from bench.load_generator import flood
from bench.name_server import LOAD_CORE, OURS, SERVER_CORE, Command, running

ROUNDS: Final = 5
FLOOD_S: Final = 1.5
OUTSTANDING: Final = 250
CORES: Final = (SERVER_CORE, LOAD_CORE)
SOCKETS: Final = (1, 2)
MOST: Final = 1.11


def measure() -> Iterator[Figure]:
    """Yield the medians of all rounds; every round goes through both numbers of threads in turn."""
    qps, cpu_us = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    with tempfile.TemporaryDirectory(prefix="dns-api-scaling-") as scratch:
        folder = Path(scratch)
        write_zone(folder / "zone")
        write_queries(folder / "mix")
        for number in range(ROUNDS):
            for sockets in SOCKETS:
                server = replace(OURS, command=_command(sockets))
                with running(server, folder / f"{sockets}-{number}", folder / "zone") as process:
                    before_s = process.cpu_s()
                    results = _floods(process.port, folder / "mix")
                    took_s = process.cpu_s() - before_s
                qps[sockets].append(sum(each["qps"] for each in results))
                cpu_us[sockets].append(took_s / sum(each["replies"] for each in results) * 1e6)
    for sockets in SOCKETS:
        label = f"dns-api, {sockets} thread{'s' * (sockets > 1)}"
        yield told("queries a second, load on the same two cores", label, median(qps[sockets]) / 1000, "k")
        yield told("processor time for a reply, load on the same two cores", label, median(cpu_us[sockets]), "us")
    ratio = median(cpu_us[2]) / median(cpu_us[1])
    yield Figure("processor time for a reply, 2 threads : 1 thread", ratio, "x", at_most=MOST)


def _command(sockets: int) -> Command:
    def command(_folder: Path, zone: Path, port: int) -> Sequence[str]:
        program = str(Path(sys.executable).with_name("dns-api"))
        where = ("--listen", f"127.0.0.1:{port}", "--zonefile", str(zone), "--udp-sockets", str(sockets))
        return ("taskset", "-c", ",".join(map(str, CORES)), program, "server", *where)

    return command


def _floods(port: int, queries: Path) -> list[dict[str, float]]:
    with ThreadPoolExecutor(len(CORES)) as pool:
        started = [pool.submit(flood, port, queries, FLOOD_S, OUTSTANDING, core) for core in CORES]
        return [each.result() for each in started]
