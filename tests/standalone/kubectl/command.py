"""Runs kubectl and helm as a person would, and holds them to silence on stderr."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

TIMEOUT_S = 90.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended and what it said."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its configuration directory; `namespace` is where its objects are, None for cluster-scoped ones."""

    program: Path
    home: Path
    namespace: str | None = None

    def within(self, namespace: str) -> Command:
        return replace(self, namespace=namespace)

    def run(self, *arguments: str, stdin: str | None = None, environment: dict[str, str] | None = None) -> Result:
        done = subprocess.run(
            self._line(arguments),
            env=self._environment(environment),
            input="" if stdin is None else stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments: str, stdin: str | None = None, environment: dict[str, str] | None = None) -> str:
        """What it printed; it has to succeed without a word on stderr."""
        result = self.run(*arguments, stdin=stdin, environment=environment)
        assert (result.code, result.stderr) == (0, ""), f"{' '.join(arguments)}: {result}"
        return result.stdout

    def fails(self, *arguments: str, stdin: str | None = None, code: int = 1) -> str:
        """What it said on stderr; it has to fail."""
        result = self.run(*arguments, stdin=stdin)
        assert result.code == code, f"{' '.join(arguments)}: {result}"
        return result.stderr

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "-o", "json"))

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[LineReader]:
        """The running command's output line by line; it is ended at the end of the block."""
        process = subprocess.Popen(
            self._line(arguments),
            env=self._environment(None),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None
        try:
            with process.stdout as output:
                yield LineReader(process, output)
                process.terminate()
        finally:
            process.kill()
            process.wait(TIMEOUT_S)

    def _line(self, arguments: tuple[str, ...]) -> list[str]:
        scope = () if self.namespace is None else ("--namespace", self.namespace)
        return [str(self.program), *scope, *arguments]

    def _environment(self, more: dict[str, str] | None) -> dict[str, str]:
        """Nothing of the person who runs the tests: neither configuration nor caches nor proxies."""
        own = {"HOME": str(self.home), "KUBECONFIG": str(self.home / "kubeconfig"), "PATH": os.environ["PATH"]}
        return own | (more or {})


class LineReader:
    """Lines of a running program, waited for with a limit."""

    def __init__(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self._process = process
        self._output = output
        self._buffer = b""
        self.seen: list[str] = []

    def until(self, wanted: Callable[[str], bool]) -> str:
        """The first line from here on that is wanted; fails with all lines so far when it does not come in time."""
        deadline = time.monotonic() + TIMEOUT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                line = self._next_line()
                if line is not None:
                    self.seen.append(line)
                    if wanted(line):
                        return line
                elif selector.select(timeout=0.5):
                    part = os.read(self._output.fileno(), 65536)
                    assert part, f"the program ended; it said {self.seen} {self._buffer!r}"
                    self._buffer += part
        raise AssertionError(f"the wanted line did not come; the program said {self.seen} {self._buffer!r}")

    def end(self) -> int:
        """The exit code of the program, which has to end by itself."""
        return self._process.wait(TIMEOUT_S)

    def _next_line(self) -> str | None:
        line, separator, rest = self._buffer.partition(b"\n")
        if not separator:
            return None
        self._buffer = rest
        return line.decode()
