"""What the daily commands say when something is refused: one line for what, one indented line for each fault.

Owns words only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kube.errors import Cause, Conflict, KubeError, NotFound

_TYPED_FAULT: Final = re.compile(r"^\s*\.(?P<field>\S+): (?P<message>.+)$", re.MULTILINE)
_STRICT_FAULT: Final = re.compile(r'(?P<message>unknown field|duplicate field) "(?P<field>[^"]+)"')
_NO_NAMESPACE: Final = re.compile(r'namespaces "(?P<name>[^"]+)" not found')
_TAKE_OVER: Final = (
    "other field managers own these fields: leave them out of the manifest, or take them over with --force"
)


class CommandError(Exception):
    """A command cannot go on; the message is a whole answer for the person who gave it."""


def faults(error: KubeError) -> Iterator[str]:
    """Yield every fault that an answer of the API tells, `spec.ttl: found 0, …`, or its message when it tells none."""
    causes = causes_of(error)
    if not causes:
        yield from error.message.splitlines()
    for cause in causes:
        yield f"{cause.field}: {cause.message}" if cause.field else cause.message
    if isinstance(error, NotFound) and (absent := _NO_NAMESPACE.fullmatch(error.message)):
        yield f"create it with `kubectl create namespace {absent['name']}`, or put a Namespace among the manifests"
    if isinstance(error, Conflict) and any(cause.reason == "FieldManagerConflict" for cause in causes):
        yield _TAKE_OVER


def causes_of(error: KubeError) -> list[Cause]:
    """Return the faults by field: those of the answer's details, else those that its message lists.

    Fields that a schema does not have, or has with another type, are told in the message alone: by server-side apply and by
    strict decoding.
    """
    if error.causes:
        return [Cause(_path(each.field), each.reason, each.message) for each in error.causes]
    for pattern in (_TYPED_FAULT, _STRICT_FAULT):
        if found := list(pattern.finditer(error.message)):
            return [Cause(each["field"], "FieldValueInvalid", each["message"]) for each in found]
    return []


def _path(field: str) -> str:
    """The API writes `<nil>` where a remark is about no field."""
    return "" if field == "<nil>" else field.removeprefix(".")
