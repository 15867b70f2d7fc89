"""`dns-api up` as a process of its own, for the benchmarks to load from outside."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

START_TIMEOUT_S: Final = 60


@dataclass(frozen=True, slots=True)
class Product:
    """A running product: where it listens and which process it is."""

    process: subprocess.Popen[str]
    kubeconfig: Path
    api_url: str
    dns_port: int
    folder: Path

    def peak_memory_mb(self) -> float:
        """Return the largest resident size that the process had (VmHWM)."""
        return self._memory_mb("VmHWM")

    def memory_mb(self) -> float:
        """Return the resident size of the process now."""
        return self._memory_mb("VmRSS")

    def _memory_mb(self, field: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
        return int(line.split()[1]) / 1024


@contextmanager
def running(*manifests: Path) -> Iterator[Product]:
    """Run the product on free ports and a data directory of its own."""
    with tempfile.TemporaryDirectory(prefix="dns-api-bench-") as name:
        folder = Path(name)
        command = [sys.executable, "-m", "cli.main", "up", "--data-dir", str(folder / "data")]
        command += ["--api", "127.0.0.1:0", "--dns", "127.0.0.1:0"]
        for path in manifests:
            command += ["-f", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = _read_addresses(process.stdout)
            drain = threading.Thread(target=_drain, args=(process.stdout,), daemon=True)
            drain.start()
            yield Product(
                process, folder / "data" / "kubeconfig", found["API"], int(found["DNS"].rsplit(":", 1)[1]), folder
            )
        finally:
            process.terminate()
            process.wait(START_TIMEOUT_S)


def _read_addresses(stream: IO[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in stream:
        words = line.split()
        if len(words) >= 2 and words[0] in {"API", "DNS"}:
            found[words[0]] = words[1]
        if line.startswith("Stop with"):
            return found
    raise RuntimeError("dns-api up ended before it was ready; its errors stand above")


def _drain(stream: IO[str]) -> None:
    for _ in stream:
        pass
