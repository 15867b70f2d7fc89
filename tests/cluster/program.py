"""A program that is started, ended or killed, and started again with the same words."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
END_S = 30.0


class Program:
    """Its output goes to the end of `log`, whose name says which program it is."""

    def __init__(self, words: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        self._words = [str(each) for each in words]
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._words, cwd=ROOT, stdout=log, stderr=log, env=self._environment)

    def end(self, signum: int = signal.SIGTERM) -> None:
        """End it in order, or by SIGKILL as a power failure would; nothing happens when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signum)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)
            raise

    def assert_running(self) -> None:
        """Fail with what it said when it has ended by itself."""
        assert self._process is not None, f"{self.log.name} was not started"
        assert self._process.poll() is None, f"{self.log.name} has ended: {self.said()[-2000:]}"

    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def complaints(self) -> str:
        """What it logged about faults of its own."""
        return "\n".join(line for line in self.said().splitlines() if "Traceback" in line or '"level": "error"' in line)
