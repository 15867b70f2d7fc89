"""The batch load generator of `bench/generator`: dnsperf itself ends near 165,000 queries a second on a core, below what is measured.

Owns how it is built and run.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from bench.name_server import LOAD_CORE, SERVER_CORE, Running, free_port

FOLDER = Path(__file__).resolve().parent / "generator"


@cache
def program() -> str:
    """Build the generator if need be and return its path; raises CalledProcessError or FileNotFoundError without cargo."""
    subprocess.run(("cargo", "build", "--release", "--quiet"), cwd=FOLDER, check=True)
    found = subprocess.run(
        ("cargo", "metadata", "--no-deps", "--format-version", "1"), cwd=FOLDER, check=True, capture_output=True
    )
    return str(Path(json.loads(found.stdout)["target_directory"]) / "release" / "dns-load-generator")


def flood(port: int, queries: Path, time_s: float, outstanding: int, core: int = LOAD_CORE) -> dict[str, Any]:
    """Return `qps`, `lost`, `replies` with those of the warm-up, `sent` and `rcodes` with so many queries under way."""
    return _run(port, queries, time_s, str(outstanding), core)


def pace(port: int, queries: Path, time_s: float, rate: int) -> dict[str, Any]:
    """Return `mean_us`, `p50_us`, `p99_us`, `received` and `sent` at so many queries a second."""
    return _run(port, queries, time_s, f"rate:{rate}")


def _run(port: int, queries: Path, time_s: float, how: str, core: int = LOAD_CORE) -> dict[str, Any]:
    command = ("taskset", "-c", str(core), program(), str(port), str(queries), str(time_s), how)
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result


@contextmanager
def echoing() -> Iterator[Running]:
    """Run a server that sends back what comes: the limit of the machine."""
    port = free_port()
    process = subprocess.Popen(("taskset", "-c", str(SERVER_CORE), program(), "echo", str(port)))
    try:
        time.sleep(0.2)
        yield Running(port, process.pid)
    finally:
        process.kill()
        process.wait()
