"""The columns of events, for the core and the events.k8s.io form alike.

Owns which of the two forms' fields, old and new, a cell is read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from standalone.printing.age import age
from standalone.printing.column import NAME, Column, Object, at, part


def _involved(obj: Object) -> Mapping[str, Any]:
    """The object an event is about; the core and the events.k8s.io form name it differently, as other fields too."""
    return part(obj, "involvedObject") or part(obj, "regarding")


def _event_object(obj: Object, _now: datetime) -> str:
    involved = _involved(obj)
    kind, name = str(involved.get("kind", "")).lower(), involved.get("name", "")
    return f"{kind}/{name}" if name else kind


def _event_source(obj: Object, _now: datetime) -> str:
    source = part(obj, "source") or part(obj, "deprecatedSource")
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return ", ".join(each for each in (component, host) if each)


def _first_seen(obj: Object, now: datetime) -> str:
    return age(obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime"), now)


def _last_seen(obj: Object, now: datetime) -> str:
    last = part(obj, "series").get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    return age(last, now) if last else _first_seen(obj, now)


def _event_count(obj: Object, _now: datetime) -> int:
    return int(part(obj, "series").get("count") or obj.get("count") or obj.get("deprecatedCount") or 1)


def _message(obj: Object, _now: datetime) -> str:
    return str(obj.get("message") or obj.get("note") or "").strip()


def _sub_object(obj: Object, _now: datetime) -> str:
    return str(_involved(obj).get("fieldPath") or "")


EVENT = (
    Column("Last Seen", "string", "The time since the event was last seen.", _last_seen),
    Column("Type", "string", "Normal or Warning.", at("type")),
    Column("Reason", "string", "Why, in one word.", at("reason")),
    Column("Object", "string", "What the event is about.", _event_object),
    Column("Subobject", "string", "The part of the object.", _sub_object, priority=1),
    Column("Source", "string", "Who reported it.", _event_source, priority=1),
    Column("Message", "string", "What happened.", _message),
    Column("First Seen", "string", "The time since the event was first seen.", _first_seen, priority=1),
    Column("Count", "string", "How often it was seen.", _event_count, priority=1),
    Column("Name", "string", "The event's name.", NAME.cell, format="name", priority=1),
)
