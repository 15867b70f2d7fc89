"""Which names' answers hang on which other names: aliases on their targets, referrals on their glue.

Owns the reverse index. It may name more owners than needed, never fewer, so that successive versions of a zone can share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from server.zone.index import parent
from zonemodel.name import WireName, is_within

Base = Callable[[WireName, bool], Iterable[WireName]]
"""Returns the owners whose answers hang on a name exactly, or on it and names below."""


class Dependencies:
    """The owners to compile again when a name changes; `base` knows of those that were compiled elsewhere, and may tell too many.

    `version` is that of the table whose answers they are.
    """

    def __init__(self, origin: WireName, base: Base | None = None) -> None:
        self.version = -1
        self._origin = origin
        self._base = base
        self._consulted: dict[WireName, frozenset[WireName]] = {}
        self._on: dict[WireName, set[WireName]] = {}
        self._under: dict[WireName, set[WireName]] = {}

    def replace(self, owner: WireName, consulted: frozenset[WireName]) -> None:
        """Note all names that the answers of `owner` hang on."""
        now = frozenset(name for name in consulted if is_within(name, self._origin))
        before = self._consulted.get(owner, frozenset())
        if now == before:
            return
        _move(self._on, owner, before, now)
        _move(self._under, owner, self._at_and_above(before), self._at_and_above(now))
        if now:
            self._consulted[owner] = now
        else:
            del self._consulted[owner]

    def on(self, name: WireName) -> frozenset[WireName]:
        """Return the owners whose answers hang on `name` itself."""
        return self._of_base(name, exactly=True).union(self._on.get(name, ()))

    def under(self, name: WireName) -> frozenset[WireName]:
        """Return the owners whose answers hang on `name` or on any name below it, existing or not."""
        return self._of_base(name, exactly=False).union(self._under.get(name, ()))

    def _of_base(self, name: WireName, *, exactly: bool) -> frozenset[WireName]:
        return frozenset() if self._base is None else frozenset(self._base(name, exactly))

    def _at_and_above(self, names: Iterable[WireName]) -> frozenset[WireName]:
        return frozenset(above for name in names for above in self._up(name))

    def _up(self, name: WireName) -> Iterator[WireName]:
        yield name
        while name != self._origin:
            name = parent(name)
            yield name


def _move(
    owners: dict[WireName, set[WireName]], owner: WireName, before: frozenset[WireName], now: frozenset[WireName]
) -> None:
    for name in now - before:
        owners.setdefault(name, set()).add(owner)
    for name in before - now:
        owners[name].discard(owner)
        if not owners[name]:
            del owners[name]
