"""How much a YAML body says once its aliases are written out: a few lines can stand for more than any machine holds.

Owns the limit. Never builds the values.
"""

from __future__ import annotations

from typing import Final

import yaml

WRITTEN_OUT_LIMIT: Final = 4 * 2**20
"""Nodes and characters of a body with its aliases written out; more than any object of the API can hold."""


def object_to_aliases(content: bytes) -> str | None:
    """Say why the aliases of a YAML body are refused, or None. Raises yaml.YAMLError for what is no YAML."""
    if b"&" not in content or b"*" not in content:
        return None
    return _Weighing().object_to(content)


class _Weighing:
    """One pass over the events of a body; `_sizes` are those of the nodes that are complete, by anchor."""

    def __init__(self) -> None:
        self._total = 0
        self._sizes: dict[str, int] = {}
        self._open: list[tuple[str | None, int]] = []

    def object_to(self, content: bytes) -> str | None:
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            match event:
                case yaml.AliasEvent(anchor=anchor):
                    if anchor in {each for each, _ in self._open}:
                        return f"the alias *{anchor} stands within what it stands for"
                    self._total += self._sizes.get(anchor or "", 0)  # an unknown one is refused when it is read
                case yaml.ScalarEvent(anchor=anchor, value=value):
                    self._total += 1 + len(value)
                    self._note(anchor, 1 + len(value))
                case yaml.CollectionStartEvent(anchor=anchor):
                    self._open.append((anchor, self._total))
                    self._total += 1
                case yaml.CollectionEndEvent():
                    anchor, before = self._open.pop()
                    self._note(anchor, self._total - before)
            if self._total > WRITTEN_OUT_LIMIT:
                return f"with its aliases written out it is larger than {WRITTEN_OUT_LIMIT} characters"
        return None

    def _note(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = size
