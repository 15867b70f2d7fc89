"""Our own writes, until the caches show them.

Owns the choice between what was written and what is cached. Forgetting a write costs a repeated or refused one, never a wrong one:
every write names the state that it replaces.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from kube.object import ObjectKey, ObjectMeta

T = TypeVar("T")

PATIENCE_S: Final = 10.0


class Echo(Generic[T]):
    """The newest written value by key. Versions are compared as numbers where they are; else the cache is believed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._written: dict[ObjectKey, tuple[str, T, float]] = {}

    def remember(self, key: ObjectKey, resource_version: str, value: T) -> None:
        """Note what the API server has since `resource_version`."""
        self._written[key] = resource_version, value, self._clock() + PATIENCE_S

    def latest(self, key: ObjectKey, cached: ObjectMeta | None, value: T | None) -> T | None:
        """Return the newer of the written and the cached value; `cached` is the metadata of the latter, None for none."""
        written = self._written.get(key)
        if written is None:
            return value
        version, own, deadline = written
        unseen = cached is None or _is_newer(version, cached.resource_version)
        if unseen and self._clock() < deadline:
            return own
        del self._written[key]
        return value

    def version(self, key: ObjectKey, cached: str) -> str:
        """Return the newer of the written and the cached resourceVersion."""
        written = self._written.get(key)
        return written[0] if written is not None and _is_newer(written[0], cached) else cached

    def forget(self, key: ObjectKey) -> None:
        """Drop what was written; call it when the object has gone."""
        self._written.pop(key, None)


def _is_newer(one: str, other: str) -> bool:
    return one.isdecimal() and other.isdecimal() and int(one) > int(other)
