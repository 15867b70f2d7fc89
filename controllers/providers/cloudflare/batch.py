"""Changes of records as one request of Cloudflare's batch endpoint takes them.

A batch takes effect as a whole or not at all; its deletions come first, then what is patched, then what is new, whatever their order
here. Pure values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]
"""Fields of a record as the API takes them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to the records of one RecordSet, all of it or none."""

    deletes: tuple[str, ...] = ()
    patches: tuple[tuple[str, Body], ...] = ()
    posts: tuple[Body, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.deletes or self.patches or self.posts)

    @property
    def size(self) -> int:
        """How many records it touches."""
        return len(self.deletes) + len(self.patches) + len(self.posts)

    @property
    def growth(self) -> int:
        """How many more records there are after it."""
        return len(self.posts) - len(self.deletes)


def merge(changes: Iterable[Change]) -> Change:
    """Return several changes as one."""
    parts: Sequence[Change] = tuple(changes)
    return Change(
        deletes=tuple(each for part in parts for each in part.deletes),
        patches=tuple(each for part in parts for each in part.patches),
        posts=tuple(each for part in parts for each in part.posts),
    )
