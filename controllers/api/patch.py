"""JSON Patch (RFC 6902) from one version of an API value to another, as small as the change.

Values are frozen models, so equal parts are skipped by comparison and only what differs is dumped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from zonemodel.model import Model

Operation = dict[str, Any]


def guard(resource_version: str) -> Operation:
    """Return the operation that makes the API server answer Conflict when the object has moved on."""
    return {"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version}


def replacement(value: Model) -> dict[str, Any]:
    """Return a merge patch (RFC 7386) that leaves nothing of what stood there in the fields of this type.

    A merge keeps what a patch leaves out: a field that is not there any more has to be named.
    """
    gone = dict.fromkeys(info.alias or name for name, info in type(value).model_fields.items())
    return {**gone, **value.dump()}


def diff(old: Model, new: Model, path: str) -> list[Operation]:
    """Return the operations that turn `old` at the JSON pointer `path` into `new`; both are of one type."""
    return list(_fields(old, new, path))


def _fields(old: Model, new: Model, path: str) -> Iterator[Operation]:
    for name, info in type(new).model_fields.items():
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        at = f"{path}/{_escaped(info.alias or name)}"
        if after is None:
            yield {"op": "remove", "path": at}
        elif isinstance(before, Model) and isinstance(after, Model):
            yield from _fields(before, after, at)
        elif before and isinstance(after, tuple) and isinstance(before, tuple):
            yield from _items(before, after, at)
        else:
            # `add` also replaces a member (RFC 6902 section 4.1) and does not mind when it was left out.
            yield {"op": "add", "path": at, "value": _dumped(after)}


def _items(old: Sequence[Any], new: Sequence[Any], path: str) -> Iterator[Operation]:
    """Lists are edited between their common beginning and end; from the back, so that positions stay what they are."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    both = min(len(before), len(after))
    for offset in range(len(before) - 1, both - 1, -1):
        yield {"op": "remove", "path": f"{path}/{start + offset}"}
    for offset in range(both):
        if before[offset] != after[offset]:
            yield {"op": "replace", "path": f"{path}/{start + offset}", "value": _dumped(after[offset])}
    for offset in range(both, len(after)):
        yield {"op": "add", "path": f"{path}/{start + offset}", "value": _dumped(after[offset])}


def _common(one: Sequence[Any], other: Sequence[Any]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left is not right and left != right:
            break
        count += 1
    return count


def _dumped(value: Any) -> Any:
    if isinstance(value, Model):
        return value.dump()
    if isinstance(value, tuple):
        return [_dumped(each) for each in value]
    return value


def _escaped(member: str) -> str:
    return member.replace("~", "~0").replace("/", "~1")
