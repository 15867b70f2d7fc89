"""Log output of the long-running commands: one line an event, to standard error, also of what libraries log."""

from __future__ import annotations

import logging
import sys
from enum import StrEnum
from typing import Annotated

import structlog
import typer

from kube.log_stream import standard_error


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
        logger_factory=structlog.WriteLoggerFactory(file=standard_error()),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_LibraryHandler()])


class _LibraryHandler(logging.Handler):
    """Has what libraries log go the same way."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(record.levelno, record.getMessage(), exc_info=record.exc_info)
