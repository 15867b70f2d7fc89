"""The records of one kind in memory, by namespace and name.

Owns lookup and listing order. Never knows versions or events.
"""

from __future__ import annotations

from standalone.store.record import Key, Record


class Table:
    """A mapping from key to record that lists one namespace without walking the others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, dict[str, Record]] = {}

    def __len__(self) -> int:
        return sum(len(records) for records in self._namespaces.values())

    def get(self, key: Key) -> Record | None:
        records = self._namespaces.get(key.namespace)
        return records.get(key.name) if records else None

    def has(self, namespace: str) -> bool:
        """Whether the namespace holds any record."""
        return namespace in self._namespaces

    def put(self, record: Record) -> None:
        self._namespaces.setdefault(record.key.namespace, {})[record.key.name] = record

    def remove(self, key: Key) -> None:
        records = self._namespaces[key.namespace]
        del records[key.name]
        if not records:
            del self._namespaces[key.namespace]

    def list(self, namespace: str) -> list[Record]:
        """One namespace or, for "", all of them; sorted by namespace, then name."""
        if namespace:
            records = self._namespaces.get(namespace, {})
            return [records[name] for name in sorted(records)]
        return [
            records[name]
            for _, records in sorted(self._namespaces.items(), key=lambda entry: entry[0])
            for name in sorted(records)
        ]
