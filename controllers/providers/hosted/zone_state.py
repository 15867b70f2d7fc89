"""What is remembered of a zone between two looks at it.

Losing it costs work and patience, never correctness: everything here can be found out again from the API.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from controllers.ledger.item_cache import ItemCache
from controllers.ledger.pace import Pace
from controllers.providers.hosted.content import Content, Hosts, Lines, choose, needs_base
from controllers.providers.hosted.history import NEVER, History
from controllers.providers.hosted.item import Item, Items, convert
from controllers.providers.hosted.layout import Layout

PUBLISHING_SHARE: Final = 4
PUBLISHING_PAUSE_S: Final = 0.5


@dataclass(slots=True)
class ContentMemo:
    """The last content and what it was chosen from."""

    parts: tuple[Items, ...]
    base: Lines
    frozen: bool
    hosts: Hosts
    by_base: bool
    content: Content

    def fits(self, parts: tuple[Items, ...], base: Lines, frozen: bool, hosts: Hosts) -> bool:
        """Say whether the content would be chosen again. Items are the same objects where nothing changed."""
        if (frozen, hosts) != (self.frozen, self.hosts) or (self.by_base and base is not self.base):
            return False
        return len(parts) == len(self.parts) and all(a is b for a, b in zip(parts, self.parts, strict=True))


@dataclass(slots=True)
class ZoneState:
    """One zone's memory; `history` is None until the published snapshot has been looked at."""

    items: ItemCache[Item] = field(default_factory=lambda: ItemCache(convert))
    history: History | None = None
    layout: Layout | None = None
    reached: int = NEVER
    unnamed_since: dict[str, float] = field(default_factory=dict)
    memo: ContentMemo | None = None
    publishing: Pace = field(default_factory=lambda: Pace(PUBLISHING_SHARE, PUBLISHING_PAUSE_S))

    def content(self, parts: tuple[Items, ...], base: Lines, frozen: bool, hosts: Hosts) -> Content:
        """Return the content of the next snapshot, chosen anew only when something that it depends on has changed."""
        if self.memo is None or not self.memo.fits(parts, base, frozen, hosts):
            content = choose(parts, base, frozen, hosts)
            self.memo = ContentMemo(parts, base, frozen, hosts, needs_base(parts, frozen, hosts), content)
        return self.memo.content

    def forget_publication(self) -> None:
        """Note that nothing is published any more."""
        self.history = self.layout = self.memo = None
        self.unnamed_since.clear()
