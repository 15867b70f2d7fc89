"""The product as a process: `dns-api up` on ports of its own, killed and started again as a test likes.

Owns the process and nothing else; what runs in it is seen only through its two ports.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tests.server.question import Target

ROOT = Path(__file__).resolve().parents[2]
START_S = 90.0
END_S = 30.0
READY = "Stop with Ctrl-C"


class Product:
    """One data directory and the `dns-api up` on it; the ports stay the same over restarts."""

    def __init__(self, folder: Path, *, options: Sequence[str] = ()) -> None:
        self.data_dir = folder / "data"
        self.log = folder / "up.log"
        self.api_port = free_port()
        self.dns = Target("127.0.0.1", free_port())
        self._options = tuple(options)
        self._process: subprocess.Popen[str] | None = None

    @property
    def kubeconfig(self) -> Path:
        return self.data_dir / "kubeconfig"

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def launch(self) -> Lines:
        """Start the process and return its output; it is not ready yet."""
        command = [sys.executable, "-m", "cli.main", "up", "--data-dir", str(self.data_dir)]
        command += ["--api", f"127.0.0.1:{self.api_port}", "--dns", f"{self.dns.host}:{self.dns.port}"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._options], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout is not None
        return Lines(self._process.stdout)

    def start(self) -> None:
        """Start the process and wait until it says that everything runs."""
        assert self.launch().until(READY, START_S), f"the product did not start: {self.log.read_text()}"

    def kill(self) -> None:
        """End the process as a power failure would."""
        self._end("kill")

    def stop(self) -> None:
        """End the process in order, if it runs."""
        self._end("terminate")

    def complaints(self) -> str:
        """Return what the process logged about faults of its own."""
        return "\n".join(line for line in self.log.read_text().splitlines() if "Traceback" in line or "[error" in line)

    def _end(self, how: str) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        getattr(process, how)()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)
            raise


class Lines:
    """Reads a pipe to its end, so that the writer never has to wait."""

    def __init__(self, pipe: IO[str]) -> None:
        self._seen: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def until(self, text: str, limit_s: float) -> bool:
        """Wait for a line that holds `text`; False when none comes."""
        deadline = time.monotonic() + limit_s
        with self._changed:
            while not any(text in line for line in self._seen):
                left_s = deadline - time.monotonic()
                if self._ended or left_s <= 0:
                    return False
                self._changed.wait(left_s)
        return True

    def _read(self, pipe: IO[str]) -> None:
        with pipe:
            for line in pipe:
                with self._changed:
                    self._seen.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def free_port() -> int:
    """A port that is free for UDP and TCP now, for a process that has to find it free again after a restart."""
    while True:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            tcp.bind(("127.0.0.1", 0))
            port = int(tcp.getsockname()[1])
            try:
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
