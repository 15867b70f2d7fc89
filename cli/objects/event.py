"""Events of core/v1 as rows of a table, the latest last.

Pure. Owns which of an event's many timestamps counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from standalone.printing.age import age, parse_time

Event = Mapping[str, Any]

HEADERS: Final = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def latest_last(events: Iterable[Event]) -> list[Event]:
    """Return events in the order in which they were last seen."""
    return sorted(events, key=lambda event: (parse_time(last_seen(event)) or _NEVER, event["metadata"]["name"]))


def last_seen(event: Event) -> str | None:
    """Return when the event happened last, as the API wrote it."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    created = event["metadata"].get("creationTimestamp")
    return next((str(time) for time in (*times, created) if time), None)


def row(event: Event, now: datetime) -> tuple[str, ...]:
    """Return the cells below HEADERS."""
    about = event.get("involvedObject") or {}
    name = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    message = " ".join(str(event.get("message") or "").split())
    return seen(event, now), event.get("type") or "", event.get("reason") or "", name, message


def seen(event: Event, now: datetime) -> str:
    """Return how long ago it happened last, and how often since when if more than once: `5s (x3 over 2m)`."""
    ago = age(last_seen(event), now)
    count = (event.get("series") or {}).get("count") or event.get("count") or 1
    if count < 2:
        return ago
    first = event.get("firstTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp")
    return f"{ago} (x{count} over {age(first, now)})"


def source(event: Event) -> str:
    """Return the component that told it."""
    return (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
