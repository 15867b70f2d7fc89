"""An object described for people: what it is, what it asks for, how that stands, what it waits for, what happened.

Pure: manifests in, lines out. Never shows what a Secret holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from cli.api.condition import conditions, observed_generation, waits_for
from cli.api.kind import Kind
from cli.objects import event
from cli.objects.event import Event
from cli.table import Layout
from kube.quantity import counted
from standalone.printing.age import age

Manifest = Mapping[str, Any]
Rows = list[tuple[str, ...]]

MAX_ROWS: Final = 60
MAX_EVENTS: Final = 20
MAX_VALUE: Final = 300
_CONDITION_HEADERS: Final = ("TYPE", "STATUS", "REASON", "SINCE", "GENERATION", "MESSAGE")
_EVENT_HEADERS: Final = ("LAST SEEN", "TYPE", "REASON", "FROM", "MESSAGE")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # the spec once more, for kubectl's own use
_ELSEWHERE: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def describe(
    kind: Kind, obj: Manifest, events: Sequence[Event], now: datetime, claims: Sequence[Manifest] = ()
) -> list[str]:
    """Return the lines; `events` are those about the object, `claims` the RecordSets of a Zone."""
    lines = [f"{kind.label}/{obj['metadata']['name']}", *_indented(_identity(obj, now))]
    name = f"{kind.ref.plural} {obj['metadata']['name']}"
    lines += _section("Spec", _limited(_wanted(obj), f"dns-api get {name} -o yaml shows all"))
    lines += _section("Conditions", _conditions(obj, now))
    status = obj.get("status") or {}
    lines += _section("Name servers", [(str(each),) for each in status.get("nameServers") or ()])
    data = (status.get("provider") or {}).get("data")
    lines += _section("Provider data", _limited(list(_flat("", data)), "") if data else [])
    lines += _section("Record sets", _limited(_claims(claims), "dns-api get recordsets -A shows all") if claims else [])
    waiting = waits_for(obj)
    if waiting or conditions(obj):
        lines += _section("Waits for", [(text,) for text in waiting or ["nothing: all is as declared"]])
    lines += _section("Events", _events(events, now) or [("none",)])
    return lines


def _identity(obj: Manifest, now: datetime) -> Rows:
    metadata = obj["metadata"]
    deleted = metadata.get("deletionTimestamp")
    created = metadata.get("creationTimestamp")
    rows = [
        ("Namespace", metadata.get("namespace")),
        ("Type", f"{obj.get('kind')} of {obj.get('apiVersion')}"),
        ("Created", f"{created} ({age(created, now)} ago)" if created else None),
        ("Deleted", f"{deleted} ({age(deleted, now)} ago), see what it waits for" if deleted else None),
        ("Generation", metadata.get("generation")),
        ("UID", metadata.get("uid")),
        ("Labels", _pairs(metadata.get("labels"))),
        ("Annotations", _pairs(_without_copy(metadata.get("annotations")))),
        ("Finalizers", ", ".join(metadata.get("finalizers") or ())),
        ("Owned by", ", ".join(f"{each['kind']} {each['name']}" for each in metadata.get("ownerReferences") or ())),
    ]
    return [(name, str(value)) for name, value in rows if value]


def _without_copy(annotations: Mapping[str, str] | None) -> Mapping[str, str]:
    return {name: value for name, value in (annotations or {}).items() if name != _LAST_APPLIED}


def _wanted(obj: Manifest) -> Rows:
    """What the object asks for: its spec, or the fields of a kind that has none."""
    if "spec" in obj:
        return list(_flat("", obj["spec"]))
    fields = {name: value for name, value in obj.items() if name not in _ELSEWHERE}
    if obj.get("kind") == "Secret":
        return [
            (f"{name}.{key}", "hidden") for name in ("data", "stringData") for key in sorted(fields.get(name) or {})
        ]
    return list(_flat("", fields))


def _flat(path: str, value: object) -> Iterator[tuple[str, ...]]:
    """Yield a row for each value: mappings by path, lists of plain values in one, of mappings one row for each."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for at, each in enumerate(value):
            yield f"{path}[{at}]", _short(_flow(each))
    elif isinstance(value, list):
        yield path, _short(", ".join(map(_plain, value)) or "none")
    else:
        yield path, _short(_plain(value))


def _flow(value: object) -> str:
    if isinstance(value, dict) and not any(isinstance(each, dict | list) for each in value.values()):
        return ", ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    return json.dumps(value, ensure_ascii=False)


def _plain(value: object) -> str:
    """A text as it is unless its ends would be lost to the eye; anything else as JSON."""
    if isinstance(value, str) and value and value == " ".join(value.split()) and "," not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}… ({len(text):,} characters)"


def _limited(rows: Rows, advice: str) -> Rows:
    if len(rows) <= MAX_ROWS:
        return rows
    return [*rows[:MAX_ROWS], (f"… and {len(rows) - MAX_ROWS:,} more", advice)]


def _conditions(obj: Manifest, now: datetime) -> Rows:
    rows = [
        (
            str(each["type"]),
            str(each.get("status", "")),
            str(each.get("reason", "")),
            age(each.get("lastTransitionTime"), now),
            _generation(obj, each),
            " ".join(str(each.get("message", "")).split()),
        )
        for each in conditions(obj)
    ]
    return [_CONDITION_HEADERS, *rows] if rows else []


def _claims(claims: Sequence[Manifest]) -> Rows:
    """How many there are, and those that are not as declared."""
    waiting = [(each, told) for each in claims if (told := waits_for({**each, "kind": "RecordSet"}))]
    good = len(claims) - len(waiting)
    rows: Rows = [(f"{counted(len(claims), 'record set')}: {good:,} as declared, {len(waiting):,} not",)]
    rows += [
        (f"{each['metadata']['namespace']}/{each['metadata']['name']}: {'; '.join(told)}",) for each, told in waiting
    ]
    return rows


def _generation(obj: Manifest, condition: Manifest) -> str:
    """Which generation was judged, with the present one where that is another."""
    observed, now = observed_generation(obj, condition), obj["metadata"].get("generation")
    if observed is None or observed == now:
        return "" if observed is None else str(observed)
    return f"{observed} of {now}"


def _events(events: Sequence[Event], now: datetime) -> Rows:
    rows: Rows = []
    for each in event.latest_last(events)[-MAX_EVENTS:]:
        seen, kind, reason, _, message = event.row(each, now)
        rows.append((seen, kind, reason, event.source(each), message))
    return [_EVENT_HEADERS, *rows] if rows else []


def _pairs(values: Mapping[str, str] | None) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in sorted((values or {}).items()))


def _section(title: str, rows: Rows) -> list[str]:
    return ["", title, *_indented(rows)] if rows else []


def _indented(rows: Rows) -> list[str]:
    return [f"  {line}" for line in Layout().lines(rows)]
