"""Fields that a JSON text names twice, which `fieldValidation` reports.

The decoder in use keeps the last of them in silence, so this is a second and slower look at the text.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any


def duplicate_fields(content: bytes) -> list[str]:
    """The paths of fields that a valid JSON text names more than once in one object.

    The fast decoder keeps the last of them in silence, so this is a second and slower look.
    """
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> _Object:
        counts = Counter(name for name, _ in pairs)
        return _Object(pairs, {name for name, count in counts.items() if count > 1})

    _walk(json.loads(content, object_pairs_hook=note), "", found)
    return found


class _Object(dict[str, Any]):
    """A decoded object that remembers which names came twice."""

    def __init__(self, pairs: list[tuple[str, Any]], duplicates: set[str]) -> None:
        super().__init__(pairs)
        self.duplicates = duplicates


def _walk(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Object):
        prefix = f"{path}." if path else ""
        found.extend(f"{prefix}{name}" for name in sorted(value.duplicates))
        for name, member in value.items():
            _walk(member, f"{prefix}{name}", found)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            _walk(member, f"{path}[{index}]", found)
