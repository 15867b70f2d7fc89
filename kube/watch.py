"""The watch stream as values: newline-delimited JSON in, `WatchEvent`s out.

Turns in-stream ERROR events into the error tree. Never reconnects and remembers no resourceVersion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from kube import body, errors
from kube.errors import Unavailable

LINE_LIMIT_BYTES: Final = 16 * 1024 * 1024


class WatchType(StrEnum):
    """What happened to the object of an event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change; for BOOKMARK only `metadata.resourceVersion` of the object has a meaning."""

    type: WatchType
    object: dict[str, Any]

    @property
    def resource_version(self) -> str:
        """Where a next watch may go on from."""
        return str(self.object["metadata"]["resourceVersion"])


class LineSplitter:
    """Cuts a byte stream into lines, in time linear to its length."""

    def __init__(self, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._pending: list[bytes] = []
        self._pending_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their newline and without empty ones.

        Raises Unavailable when an unfinished line passes the limit.
        """
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        *complete, rest = chunk.split(b"\n")
        if self._pending:
            complete[0] = b"".join([*self._pending, complete[0]])
            self._pending.clear()
            self._pending_bytes = 0
        self._keep(rest)
        return [line for line in complete if line]

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._pending.append(piece)
        self._pending_bytes += len(piece)
        if self._pending_bytes > self._limit_bytes:
            raise Unavailable(f"watch: an event passes {self._limit_bytes} bytes")


_TYPES: Final[Mapping[str, WatchType]] = {kind.value: kind for kind in WatchType}


def parse(line: bytes) -> WatchEvent:
    """One line of a watch stream. Raises the KubeError of an ERROR event, and Unavailable for what is no event."""
    try:
        event = body.parse(line)
        name, obj = event["type"], event["object"]
        if (kind := _TYPES.get(name)) is not None:
            obj["metadata"]["resourceVersion"]  # every event of ours needs it; its absence is a broken stream
            return WatchEvent(kind, obj)
    except (ValueError, LookupError, TypeError) as error:
        raise Unavailable(f"watch: found {line[:120]!r}, an event is required") from error
    if name == "ERROR" and isinstance(obj, dict):
        raise errors.from_status(obj)
    raise Unavailable(f"watch: found {line[:120]!r}, allowed event types are {', '.join(_TYPES)} and ERROR")
