"""How long 10,000 RecordSets in 100 zones take on a real kube-apiserver and etcd, with manager and name server as processes of their own.

From the first request until the last RecordSet is Programmed, and the memory that the manager takes for it. Admission by webhook is not
installed: what is measured is the way from the claim to the name server and back. The programs of the control plane are those that
`make test-kube` builds; without them nothing is measured.

python -m bench cluster
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from bench.figure import Figure
from bench.load import apply_zones, until_programmed
from kube.config import connect
from standalone.up.config import SERVER_NAME, SYSTEM_NAMESPACE
from standalone.up.install import announce_server, install
from tests.cluster.control_plane import running as control_plane
from tests.product.product import free_port

ZONES: Final = 100
RECORDS_EACH: Final = 100
LIMIT_S: Final = 300.0
MEMORY_MB: Final = 600.0
END_S: Final = 30.0
POD_ADDRESS: Final = "192.0.2.53"
"""What the name server's endpoint says: kube-apiserver takes no loopback address there, and nobody asks at it."""
POLL_S: Final = 2.0
"""A listing of everything costs the API server a second, which is not to be measured."""
PROGRAMS: Final = Path(os.environ.get("DNS_API_KUBE_PROGRAMS", ".kube-real/bin"))
MANAGER: Final = (
    "manager",
    "--hosted-controller-enabled",
    "--no-route53-controller-enabled",
    "--no-cloudflare-controller-enabled",
)
ENTRY: Final = (sys.executable, "-m", "cli.main")


def measure() -> Iterator[Figure]:
    """Yield the figures; none where the programs are not there."""
    if not (PROGRAMS / "kube-apiserver").exists():
        print(
            f"  nothing is measured: there is no {PROGRAMS / 'kube-apiserver'}; `make test-kube` builds it", flush=True
        )
        return
    with tempfile.TemporaryDirectory(prefix="dns-api-bench-") as name, control_plane(PROGRAMS, Path(name)):
        yield from _figures(Path(name))


def _figures(folder: Path) -> Iterator[Figure]:
    kubeconfig = folder / "kubeconfig"
    port = free_port()
    asyncio.run(_installed(kubeconfig, port))
    server = ["server", "--listen", f"127.0.0.1:{port}", "--name", SERVER_NAME]
    with _process("server", server, folder), _process("manager", list(MANAGER), folder) as manager:
        created, programmed = asyncio.run(_load(kubeconfig))
        what = f"{ZONES * RECORDS_EACH:,} RecordSets in {ZONES} zones, kube-apiserver"
        yield Figure(f"{what}: created", created, "s")
        yield Figure(f"{what}: all Programmed", programmed, "s", LIMIT_S)
        yield Figure(f"{what}: peak memory of the manager", _peak_memory_mb(manager), "MB", MEMORY_MB)


async def _installed(kubeconfig: Path, port: int) -> None:
    async with connect(kubeconfig, field_manager="bench") as client:
        await install(client)
        await announce_server(client, POD_ADDRESS, port)


async def _load(kubeconfig: Path) -> tuple[float, float]:
    """Return the seconds until everything was created, and until all of it was Programmed."""
    async with connect(kubeconfig, field_manager="bench") as client:
        started = time.monotonic()
        await apply_zones(client, ZONES, RECORDS_EACH)
        created = time.monotonic() - started
        await until_programmed(client, ZONES * RECORDS_EACH, 2 * LIMIT_S, poll_s=POLL_S)
        return created, time.monotonic() - started


@contextmanager
def _process(name: str, words: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"POD_NAME": name, "POD_NAMESPACE": SYSTEM_NAMESPACE}
    with _log(folder, name) as log:
        process = subprocess.Popen(
            [*ENTRY, *words, "--kubeconfig", str(folder / "kubeconfig")], stdout=log, stderr=log, env=environment
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(END_S)


def _log(folder: Path, name: str) -> IO[bytes]:
    return (folder / f"{name}.log").open("wb")


def _peak_memory_mb(process: subprocess.Popen[bytes]) -> float:
    """Return the largest resident size that a process had (VmHWM)."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
