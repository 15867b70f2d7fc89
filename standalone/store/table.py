"""The records of one kind in memory, by namespace and name.

Owns lookup and listing order. Never knows versions or events.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field

from standalone.store.record import Key, Record


@dataclass(slots=True)
class _Namespace:
    """The records of one namespace by name."""

    records: dict[str, Record] = field(default_factory=dict)
    order: list[str] | None = None
    """The sorted names, from the first listing on."""

    def put(self, record: Record) -> None:
        name = record.key.name
        if self.order is not None and name not in self.records:
            insort(self.order, name)
        self.records[name] = record

    def remove(self, name: str) -> None:
        del self.records[name]
        if self.order is not None:
            del self.order[bisect_left(self.order, name)]

    def list(self, after: str = "") -> list[Record]:
        if self.order is None:
            self.order = sorted(self.records)
        names = self.order[bisect_right(self.order, after) :] if after else self.order
        return [self.records[name] for name in names]


class Table:
    """A mapping from key to record that lists one namespace without walking the others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, _Namespace] = {}

    def __len__(self) -> int:
        return sum(len(each.records) for each in self._namespaces.values())

    def get(self, key: Key) -> Record | None:
        namespace = self._namespaces.get(key.namespace)
        return namespace.records.get(key.name) if namespace is not None else None

    def has(self, namespace: str) -> bool:
        """Whether the namespace holds any record."""
        return namespace in self._namespaces

    def put(self, record: Record) -> None:
        self._namespaces.setdefault(record.key.namespace, _Namespace()).put(record)

    def remove(self, key: Key) -> None:
        namespace = self._namespaces[key.namespace]
        namespace.remove(key.name)
        if not namespace.records:
            del self._namespaces[key.namespace]

    def list(self, namespace: str, after: tuple[str, str] = ("", "")) -> list[Record]:
        """One namespace or, for "", all of them, beyond the namespace and name `after`; sorted by namespace, then name."""
        first, name = after
        names = [namespace] if namespace in self._namespaces else [] if namespace else sorted(self._namespaces)
        return [
            record
            for each in names
            if each >= first
            for record in self._namespaces[each].list(name if each == first else "")
        ]
