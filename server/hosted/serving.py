"""Snapshots into zones: what is served for each domain, and which manifest it came from.

Owns the step from one version to the next, in proportion to what changed, and the swap in the catalog. Never sees API objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from kube.object import ObjectKey
from server.catalog import Catalog
from server.hosted.content import (
    Content,
    Head,
    LineDifference,
    SetKey,
    changes_between,
    line_difference,
    made_alike,
    rrset_of,
)
from server.zone.compile import Zone, compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.judge import UnservableError, judge_changes, judge_zone
from server.zone.recompile import reach, recompile, step_from
from zonemodel.name import Fqdn, WireName, to_wire
from zonemodel.rrset import RRset

_INLINE_LINES: Final = 300
"""Record sets that are converted and compiled on the event loop; more of them go to a thread, so that queries are answered."""

_LINES_OF_A_NAME: Final = 60
"""How many lines native code compiles in the time that one name takes that hangs on others and is compiled again, at least."""


@dataclass(frozen=True, slots=True)
class Served:
    """The snapshot that answers for a domain."""

    key: ObjectKey
    content: Content
    zone: Zone


class Serving:
    """Everything that is served from manifests. `other_source` tells which other source has an apex, if any."""

    def __init__(self, catalog: Catalog, other_source: Callable[[WireName], str | None]) -> None:
        self._catalog = catalog
        self._other_source = other_source
        self._by_domain: dict[Fqdn, Served] = {}
        self._domains: dict[ObjectKey, Fqdn] = {}

    def __iter__(self) -> Iterator[Served]:
        return iter(list(self._by_domain.values()))

    def __len__(self) -> int:
        return len(self._by_domain)

    def other_source(self, domain: Fqdn) -> str | None:
        """Return what other source has the domain, None for none."""
        return self._other_source(to_wire(domain))

    def of(self, key: ObjectKey) -> Served | None:
        """Return what is served from this manifest."""
        domain = self._domains.get(key)
        return None if domain is None else self._by_domain[domain]

    async def replace(self, key: ObjectKey, content: Content) -> None:
        """Serve this snapshot of a manifest, in place of whatever is served for its domain and from the manifest.

        Raises UnservableError and leaves everything as it was when the snapshot holds what no zone can hold, or a fault keeps it
        from being served.
        """
        domain = content.head.domain
        previous = self._by_domain.get(domain)
        try:
            zone = await self._next_zone(previous, content)
            patch = zone.table.patch
            if len(zone.table.nodes if patch is None else patch.names) > _INLINE_LINES:
                await asyncio.to_thread(self._catalog.prepare, zone)
        except UnservableError:
            raise
        except ValueError as error:  # a value without a wire form
            raise UnservableError(str(error)) from error
        self._catalog.replace(zone, content.head.transfer)
        if self._domains.get(key, domain) != domain:
            self.withdraw(key)
        if previous is not None:
            self._domains.pop(previous.key, None)
        self._by_domain[domain] = Served(key, content, zone)
        self._domains[key] = domain

    def withdraw(self, key: ObjectKey) -> None:
        """Stop serving what came from this manifest."""
        domain = self._domains.get(key)
        if domain is not None:
            self._catalog.remove(self._by_domain[domain].zone.index.origin)
            del self._by_domain[domain], self._domains[key]

    async def _next_zone(self, previous: Served | None, content: Content) -> Zone:
        """Raises ValueError with the reason why the content is no zone."""
        if previous is None or not made_alike(previous.content.head, content.head):
            if sum(len(lines) for lines in content.pages.values()) <= _INLINE_LINES:
                return _whole(content)
            return await asyncio.to_thread(self._large, content)
        if previous.content.digest == content.digest and previous.content.head == content.head:
            return previous.zone
        difference = line_difference(previous.content, content)
        if len(difference) > _INLINE_LINES:
            changed = await asyncio.to_thread(_changed, previous.zone, content.head, difference)
        else:
            changed = _changed(previous.zone, content.head, difference)
            if reach(previous.zone, *changed, _INLINE_LINES) <= _INLINE_LINES:
                return recompile(previous.zone, *changed)
        return await asyncio.to_thread(self._next, previous.zone, content, *changed)

    def _next(self, zone: Zone, content: Content, after: ZoneIndex, changes: Changes) -> Zone:
        """Make the next version from what differs or, where much hangs on that, whole, if that is faster."""
        most = len(after.children) // _LINES_OF_A_NAME
        if reach(zone, after, changes, most) > most and (gathered := self._gathered(content)) is not None:
            return replace(gathered, step=step_from(zone, changes))
        return recompile(zone, after, changes)

    def _large(self, content: Content) -> Zone:
        """Compile a whole zone, by way of the catalog where that is faster."""
        gathered = self._gathered(content)
        return _whole(content) if gathered is None else gathered

    def _gathered(self, content: Content) -> Zone | None:
        domain = content.head.domain
        made = content.head.rrsets().values()
        return self._catalog.gather(
            to_wire(domain), made, (page.text for page in content.pages.values()), lambda line: rrset_of(line, domain)
        )


def _whole(content: Content) -> Zone:
    return compile_zone(judge_zone(content.zone_data()))


def _changed(zone: Zone, head: Head, difference: LineDifference) -> tuple[ZoneIndex, Changes]:
    """Return the content of the next version, and what differs, in proportion to that; raises UnservableError."""

    def present(key: SetKey) -> RRset | None:
        return zone.index.at(key[0]).get(key[1])

    changes = changes_between(head, difference, present)
    after = zone.index.with_changes(changes)
    judge_changes(after, changes)
    return after, changes
