"""JSON values as the engine takes them.

Owns escaping of names, conversion of formatted strings and numbers, and the projection to what a rule can reach.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from standalone.schema.cel.declared import RESOURCE_PROPERTIES, duration, is_exposed, timestamp, value_form
from standalone.schema.cel.naming import escaped
from standalone.schema.cel.source import WHOLE, Uses
from standalone.schema.correlation import map_key
from standalone.schema.node import ABSENT, ListType, Node

_DURATION_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}


def to_cel(node: Node, value: Any, uses: Uses, *, is_resource: bool = False, like: Any = ABSENT) -> Any:
    """Return the value for the engine, with no more than `uses` of it.

    `like` is the new value when an old one is converted: set and map lists, whose order means nothing, are put in the
    order of the new ones, so that the engine's comparison of lists tells what changed.
    """
    if uses.whole and like is ABSENT and not is_resource and _passes_as_is(node):
        return value
    if isinstance(value, dict):
        return _object(node, value, uses, is_resource=is_resource or node.embedded, like=like)
    if isinstance(value, list):
        return _list(node, value, like)
    return _scalar(node, value)


@lru_cache(maxsize=4096)
def _passes_as_is(node: Node) -> bool:
    """Return whether values need no conversion anywhere below the node."""
    form = value_form(node)
    if form in ("timestamp", "duration", "bytes", "number", "integer") or node.embedded or not is_exposed(node):
        return False
    members = [*node.properties.values(), *([] if node.additional is None else [node.additional])]
    if any(escaped(name) != name for name in node.properties) or any(child.nullable for child in members):
        return False
    return all(_passes_as_is(child) for child in (*members, *([] if node.items is None else [node.items])))


def _object(node: Node, value: dict[str, Any], uses: Uses, *, is_resource: bool, like: Any) -> dict[str, Any]:
    result = {}
    properties = {**node.properties, **RESOURCE_PROPERTIES} if is_resource else node.properties
    counterpart = like if isinstance(like, dict) else {}
    for name, member in value.items():
        child = properties.get(name, node.additional)
        identifier = name if name not in properties else escaped(name)
        if child is None or identifier is None or member is None or not is_exposed(child):
            continue  # a null member is absent: rules ask with has()
        below = WHOLE if uses.members is None else uses.members.get(identifier)
        if below is None:
            continue
        if below.presence_only:
            result[identifier] = True
        else:
            result[identifier] = to_cel(child, member, below, like=counterpart.get(name, ABSENT))
    return result


def _list(node: Node, value: list[Any], like: Any) -> list[Any]:
    items = node.items
    if items is None:
        return []
    if like is ABSENT or not isinstance(like, list) or node.list_type is ListType.ATOMIC:
        return [to_cel(items, item, WHOLE) for item in value]
    place = {_identity(node, item): index for index, item in enumerate(like)}
    aligned = sorted(value, key=lambda item: place.get(_identity(node, item), len(place)))
    counterparts = [
        like[place[identity]] if (identity := _identity(node, item)) in place else ABSENT for item in aligned
    ]
    pairs = zip(aligned, counterparts, strict=True)
    return [to_cel(items, item, WHOLE, like=counterpart) for item, counterpart in pairs]


def _identity(node: Node, item: Any) -> Any:
    if node.list_type is ListType.MAP:
        return map_key(node, item)
    return None if isinstance(item, dict | list) else (type(item).__name__, item)


def _scalar(node: Node, value: Any) -> Any:
    if value is None or node.int_or_string:
        return value
    kind = node.types[0] if node.types else ""
    if isinstance(value, str):
        return _formatted(node.format.replace("-", ""), value) if kind == "string" else value
    if kind == "number" and type(value) is int:
        return float(value)
    if kind == "integer" and type(value) is float:
        return int(value)
    return value


def _formatted(name: str, text: str) -> Any:
    """Return formatted strings as what they stand for; text that is not of the format stays text."""
    try:
        if name == "byte":
            return base64.b64decode(text, validate=True)
        if name in ("date", "datetime"):
            return _timestamp(text)
        if name == "duration":
            return _duration(text)
    except (ValueError, binascii.Error):
        return text
    return text


def _timestamp(text: str) -> Any:
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since_epoch = moment - datetime(1970, 1, 1, tzinfo=UTC)
    seconds = since_epoch // timedelta(seconds=1)
    return timestamp(seconds, since_epoch.microseconds * 1000)


def _duration(text: str) -> Any:
    unsigned = text.lstrip("+-")
    if unsigned == "0":
        return duration(0, 0)
    parts = _DURATION_PART.findall(unsigned)
    if "".join(number + unit for number, unit in parts) != unsigned or not parts:
        raise ValueError(f"no duration: {text}")
    total = sum(int(float(number) * _NANOSECONDS[unit]) for number, unit in parts)
    seconds, nanos = divmod(total, 10**9)
    sign = -1 if text.startswith("-") else 1
    return duration(sign * seconds, sign * nanos)
