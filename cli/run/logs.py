"""Log output of the long-running commands: one line an event, to standard error.

Owns that nothing waits for whoever reads the log: lines that are not taken at once are left out, and counted.
"""

from __future__ import annotations

import logging
import os
import select
import sys
from enum import StrEnum
from typing import Annotated, Final, TextIO, cast

import structlog
import typer


class LogLevel(StrEnum):
    """From where on events are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """Aligned text is for people, JSON lines are for machines."""

    TEXT = "text"
    JSON = "json"


LogLevelOption = Annotated[LogLevel, typer.Option("--log-level", help="From where on events are logged.")]
LogFormatOption = Annotated[LogFormat, typer.Option("--log-format", help="Text for people, JSON lines for machines.")]


def configure_logs(*, form: LogFormat, level: LogLevel) -> None:
    """Write logs in a form, from `level` on."""
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if form is LogFormat.JSON
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=_standard_error()),
        cache_logger_on_first_use=True,
    )


_PIECE_BYTES: Final = select.PIPE_BUF
"""What a pipe that is not full takes at once."""

_PATIENCE_MS: Final = 50
"""What a reader that was there until now gets to catch up."""


class UnhurriedStream:
    """Lines for a descriptor whose reader may stand still or be gone: then they are left out, and how many is told later."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._readiness = select.poll()
        self._readiness.register(descriptor, select.POLLOUT)
        self._left_out = 0
        self._is_cut = False

    def write(self, line: str) -> int:
        """Write a line, or nothing of it; of a long one perhaps its beginning only."""
        before = "\n" if self._is_cut else ""
        if self._left_out:
            before += f"{self._left_out} lines of the log were left out\n"
        if self._put((before + line).encode(errors="backslashreplace")):
            self._left_out = 0
        else:
            self._left_out += 1
        return len(line)

    def flush(self) -> None:
        """Nothing is held."""

    def _put(self, octets: bytes) -> bool:
        rest = memoryview(octets)
        try:
            while rest and self._readiness.poll(0 if self._left_out else _PATIENCE_MS):
                rest = rest[os.write(self._descriptor, rest[:_PIECE_BYTES]) :]
        except OSError:  # the reader is gone: no reason to stop working
            pass
        is_begun = len(rest) < len(octets)
        self._is_cut = bool(rest) if is_begun else self._is_cut
        return is_begun


def _standard_error() -> TextIO:
    try:
        descriptor = sys.stderr.fileno()
    except OSError:  # what stands for it in a test
        return sys.stderr
    return cast(TextIO, UnhurriedStream(descriptor))
