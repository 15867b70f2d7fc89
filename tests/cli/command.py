"""Runs `dns-api` as a person would: in this process when only the result counts, as a process of its own otherwise."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import yaml
from typer.testing import CliRunner

from cli.main import build

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended and what it said."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Cli:
    """The command with its environment; `namespace` is what `-n` is given, if anything."""

    environment: Mapping[str, str]
    namespace: str | None = None

    def within(self, namespace: str) -> Cli:
        return replace(self, namespace=namespace)

    def run(self, *words: str, stdin: str | None = None) -> Result:
        """Run a command in this process."""
        arguments = self._arguments(words)
        result = CliRunner().invoke(build(words[0]), arguments, input=stdin, env=dict(self.environment))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Result(result.exit_code, result.stdout, result.stderr)

    def ok(self, *words: str, stdin: str | None = None) -> str:
        """Return what a command prints that ends well."""
        result = self.run(*words, stdin=stdin)
        assert result.code == 0, f"{words}: {result}"
        return result.stdout

    def fails(self, *words: str, stdin: str | None = None, code: int = 1) -> str:
        """Return what a command complains that fails."""
        result = self.run(*words, stdin=stdin)
        assert result.code == code, f"{words}: {result}"
        assert "Traceback" not in result.stderr
        return result.stderr

    def object(self, *words: str) -> Any:
        """Return what `get … -o yaml` prints, as a value."""
        return yaml.safe_load(self.ok("get", *words, "-o", "yaml"))

    @contextmanager
    def started(self, *words: str) -> Iterator[Process]:
        """Run a command as a process of its own."""
        with started(*self._arguments(words), environment=self.environment) as process:
            yield process

    def _arguments(self, words: tuple[str, ...]) -> list[str]:
        return [*words, "-n", self.namespace] if self.namespace else list(words)


class Process:
    """A running command; its lines are read one at a time and never lost."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.stdout = Lines(process.stdout)
        self.stderr = Lines(process.stderr)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        code = self._process.wait(TIMEOUT_S)
        self.stdout.close()
        self.stderr.close()
        return code

    def stop(self) -> None:
        """End it whatever it does."""
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self.ended()


class Lines:
    """The lines of a pipe."""

    def __init__(self, pipe: IO[str] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.seen: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, text: str) -> str:
        """Return the next line that holds `text`; fails when none comes."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no line with {text!r} after {self.seen}") from None
            if line is None:
                raise AssertionError(f"the output ends without {text!r} after {self.seen}")
            self.seen.append(line)
            if text in line:
                return line

    def rest(self) -> str:
        """Return everything that was printed, once the process has ended."""
        self.close()
        while not self._lines.empty():
            line = self._lines.get()
            self.seen += [] if line is None else [line]
        return "\n".join(self.seen)

    def close(self) -> None:
        self._reader.join(TIMEOUT_S)
        self._pipe.close()

    def _read(self) -> None:
        for line in self._pipe:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)


def interruptible() -> None:
    """Have Ctrl-C mean something, even where a shell started the tests in the background: then nobody heeds SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(*words: str, environment: Mapping[str, str], folder: Path = ROOT) -> Iterator[Process]:
    """Run a command as a process of its own, which ends with the context."""
    own = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "HOME")}
    process = Process(
        subprocess.Popen(
            [sys.executable, "-m", "cli.main", *words],
            cwd=folder,
            env={**own, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=interruptible,
        )
    )
    try:
        yield process
    finally:
        process.stop()


def finished(*words: str, environment: Mapping[str, str], folder: Path = ROOT) -> Result:
    """Run a command as a process of its own to its end."""
    with started(*words, environment=environment, folder=folder) as process:
        code = process.ended()
        return Result(code, process.stdout.rest(), process.stderr.rest())
