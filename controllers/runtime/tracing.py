"""Spans of what the manager does, for OpenTelemetry: off unless somebody is to be sent them, and then free of cost.

Owns when there is a tracer, and the names of spans and attributes. The library is an extra, imported only when spans are wanted; how
much is sampled, and what else is told of the process, is said by the variables that its SDK reads (OTEL_TRACES_SAMPLER, …).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import structlog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

_log = structlog.get_logger(__name__)

SERVICE: Final = "dns-api-manager"
SCOPE: Final = "dns-api"
SEND_S: Final = 3.0
"""So long one batch of spans may take, and the last one when the process ends."""

Stop = Callable[[], None]
_NOTHING: Final = nullcontext()


class MissingTracingError(Exception):
    """Spans are wanted and the library is not installed; the message says how to install it."""


class _State:
    """The tracer of this process, None while spans are not wanted."""

    tracer: Tracer | None = None


def span(name: str, **attributes: str) -> AbstractContextManager[object]:
    """Return a context that is one span, below the one around it; the class of an exception that leaves it is its status."""
    return _NOTHING if _State.tracer is None else _span(_State.tracer, name, attributes)


def send_spans(endpoint: str) -> Stop:
    """Send spans to a collector, by OTLP over HTTP to its URL; call the result when the process ends.

    Raises MissingTracingError. A collector that cannot be reached is told in the log and loses spans, nothing else.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as error:
        message = f"tracing needs {error.name}, which is not installed: pip install 'dns-api[tracing]'"
        raise MissingTracingError(message) from error
    return export_spans(OTLPSpanExporter(endpoint, timeout=SEND_S))


def export_spans(exporter: SpanExporter) -> Stop:
    """Give spans to an exporter, from a thread of their own; call the result when the process ends."""
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or SERVICE})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    handler = _Complaints()
    logging.getLogger("opentelemetry").addHandler(handler)
    _State.tracer = provider.get_tracer(SCOPE)

    def stop() -> None:
        _State.tracer = None
        provider.force_flush(int(SEND_S * 1000))
        provider.shutdown()
        logging.getLogger("opentelemetry").removeHandler(handler)

    return stop


class _Complaints(logging.Handler):
    """Puts what the library logs into our log."""

    def emit(self, record: logging.LogRecord) -> None:
        _log.warning("tracing has a problem", source=record.name, reason=record.getMessage())


@contextmanager
def _span(tracer: Tracer, name: str, attributes: dict[str, str]) -> Iterator[None]:
    from opentelemetry.trace import StatusCode

    # Texts of exceptions stay out of spans, as bodies of providers do out of the log.
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield
        except BaseException as error:
            opened.set_status(StatusCode.ERROR, type(error).__name__)
            raise
