"""The decoded objects of one resource in memory, with indexes and a diff against a complete listing.

Plain synchronous state: every method leaves the store whole. Never performs I/O and never decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from kube.object import ObjectKey

T = TypeVar("T")

IndexFunction = Callable[[T], Iterable[Hashable]]


class Version(NamedTuple):
    """One state of one object. The uid tells a restored or recreated object with a number that was used before."""

    uid: str
    resource_version: str

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Version:
        """Version of a manifest. Raises KeyError when it has none."""
        metadata = obj["metadata"]
        return cls(metadata.get("uid") or "", metadata["resourceVersion"])


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What happened to one key: `old` is None for a new object, `new` is None for one that is gone."""

    key: ObjectKey
    old: T | None
    new: T | None


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A decoded object, the version it was decoded from, and its values in each index."""

    value: T
    version: Version
    indexed: tuple[tuple[Hashable, ...], ...]


class Store(Generic[T]):
    """Objects by key; reads cost O(1) or are linear in their result."""

    def __init__(self) -> None:
        self._entries: dict[ObjectKey, Entry[T]] = {}
        self._functions: dict[str, IndexFunction[T]] = {}
        self._indexes: dict[str, dict[Hashable, dict[ObjectKey, None]]] = {}

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index by the values of `function`. Raises ValueError when the name is taken or objects are stored already."""
        if name in self._indexes:
            raise ValueError(f"index {name!r} exists already")
        if self._entries:
            raise ValueError(f"index {name!r}: indexes are added before the first object is stored")
        self._functions[name] = function
        self._indexes[name] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: ObjectKey) -> T | None:
        """The object, or None."""
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def items(self) -> Iterator[tuple[ObjectKey, T]]:
        """All objects with their keys; the store must not change meanwhile."""
        return ((key, entry.value) for key, entry in self._entries.items())

    def keys_by_index(self, name: str, value: Hashable) -> list[ObjectKey]:
        """Keys of the objects for which the index function gives `value`."""
        return list(self._indexes[name].get(value, ()))

    def by_index(self, name: str, value: Hashable) -> list[T]:
        """The objects for which the index function gives `value`."""
        return [self._entries[key].value for key in self._indexes[name].get(value, ())]

    def version(self, key: ObjectKey) -> Version | None:
        """The version that the object was decoded from."""
        entry = self._entries.get(key)
        return None if entry is None else entry.version

    def entry(self, value: T, version: Version) -> Entry[T]:
        """What `put` and `replace` take; raises whatever an index function raises, so that those cannot."""
        indexed = tuple(tuple(dict.fromkeys(function(value))) for function in self._functions.values())
        return Entry(value, version, indexed)

    def put(self, key: ObjectKey, entry: Entry[T]) -> Change[T]:
        """Store an object."""
        old = self._entries.get(key)
        if old is None or old.indexed != entry.indexed:
            if old is not None:
                self._unindex(key, old)
            for index, values in zip(self._indexes.values(), entry.indexed, strict=True):
                for value in values:
                    index.setdefault(value, {})[key] = None
        self._entries[key] = entry
        return Change(key, None if old is None else old.value, entry.value)

    def remove(self, key: ObjectKey) -> Change[T] | None:
        """Forget an object; None when it was not there."""
        old = self._entries.pop(key, None)
        if old is None:
            return None
        self._unindex(key, old)
        return Change(key, old.value, None)

    def replace(self, listing: Mapping[ObjectKey, Entry[T] | None]) -> list[Change[T]]:
        """Make the store equal to a complete listing; an entry of None keeps what the store has under that key.

        Returns removals first, then everything whose version differs. The store is never seen half way: there
        is no await in here, and callers deliver the changes afterwards.
        """
        removed = [self.remove(key) for key in [key for key in self._entries if key not in listing]]
        changes = [change for change in removed if change is not None]
        for key, entry in listing.items():
            if entry is not None and self.version(key) != entry.version:
                changes.append(self.put(key, entry))
        return changes

    def _unindex(self, key: ObjectKey, old: Entry[T]) -> None:
        for index, values in zip(self._indexes.values(), old.indexed, strict=True):
            for value in values:
                keys = index[value]
                del keys[key]
                if not keys:
                    del index[value]
