"""The histories of all zones that may be transferred, kept in step with what is served.

Owns when a step is worked out, in which order it is told and written: first IXFR can answer with it, then others hear of it, then it
goes to disk. Never decides who may transfer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Final

import structlog

from server.catalog import Catalog
from server.text import name_text
from server.transfer.archive import Archive
from server.transfer.history import History
from server.transfer.journal import Entry
from server.transfer.serial import apex_soa
from server.work import Work
from server.zone.compile import Zone
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

_INLINE_OWNERS: Final = 300
"""Owners that are compared on the event loop; more of them go to a thread, so that queries are answered."""

_WORKERS: Final = 2

log = structlog.get_logger(__name__)


class Histories:
    """`wants` says whether a zone's history is to be kept, `copied` are the zones that are kept whole.

    `announce` is told of an apex whose newest version, or another serial of it, can be transferred now.
    """

    def __init__(
        self,
        catalog: Catalog,
        archive: Archive | None,
        copied: Collection[WireName],
        wants: Callable[[WireName], bool],
        announce: Callable[[WireName], None],
    ) -> None:
        self._catalog = catalog
        self._archive = archive
        self._copied = copied
        self._wants = wants
        self._announce = announce
        self._by_apex: dict[WireName, History] = {}
        self._owners: dict[WireName, frozenset[WireName]] = {}
        self._behind: dict[WireName, asyncio.Future[None]] = {}
        self._work: Work[WireName] = Work("history", self._settle, name_text)
        catalog.watchers.append(self._note)

    async def run(self) -> None:
        """Keep in step until cancelled."""
        await self._work.run(_WORKERS)

    async def flush(self) -> None:
        """Write what is served and has not been written, as far as the disk takes it.

        For a server that stops, when nothing else keeps step any more.
        """
        if self._archive is None:
            return
        behind = {apex for apex in self._behind if apex in self._by_apex or apex in self._copied}
        unsaved = {apex for apex, history in self._by_apex.items() if not history.is_saved}
        for apex in behind | unsaved:
            try:
                await self._settle(apex)
            except OSError as error:
                log.error("history cannot be written", zone=name_text(apex), error=str(error))

    async def settled(self, apex: WireName) -> None:
        """Wait until the history leads to the version that is served."""
        while (behind := self._behind.get(apex)) is not None:
            await asyncio.shield(behind)

    def since(self, index: ZoneIndex, serial: int) -> list[Entry] | None:
        """Return the steps from the version with this serial to the given one, None when the history does not tell them."""
        history = self._by_apex.get(index.origin)
        if history is None or history.index is not index:
            return None
        return history.journal.since(serial)

    def _note(self, apex: WireName, before: Zone | None, after: Zone | None) -> None:
        """Remember which owners differ from the version that the history has reached, or that any may."""
        owners = None if before is None or after is None else _changed(before, after)
        is_first = apex not in self._behind
        if is_first:
            self._behind[apex] = asyncio.get_running_loop().create_future()
        known = frozenset() if is_first else self._owners.get(apex)
        if owners is None or known is None:
            self._owners.pop(apex, None)
        else:
            self._owners[apex] = known | owners
        self._work.add(apex)

    async def _settle(self, apex: WireName) -> None:
        owners = self._owners.pop(apex, None)
        zone = self._catalog.zones.get(apex)
        behind = self._behind.get(apex)
        if zone is None or not self._wants(apex):
            await self._give_up(apex)
        else:
            await self._reach(zone.index, owners)
        if behind is not None and self._catalog.zones.get(apex) is zone:
            del self._behind[apex]
            behind.set_result(None)
        history = self._by_apex.get(apex)
        if history is not None and not history.is_saved:
            await asyncio.to_thread(history.save)

    async def _reach(self, index: ZoneIndex, owners: frozenset[WireName] | None) -> None:
        history = self._by_apex.get(index.origin)
        if history is None:
            keeps_copy = index.origin in self._copied
            history = await asyncio.to_thread(History.begin, index, self._archive, keeps_copy=keeps_copy)
            self._by_apex[index.origin] = history
            self._announce(index.origin)
        elif history.index is not index:
            if owners is not None and len(owners) <= _INLINE_OWNERS:
                step = history.step_to(index, owners)
            else:
                step = await asyncio.to_thread(history.step_to, index, owners)
            if history.advance(step):
                self._announce(index.origin)

    async def _give_up(self, apex: WireName) -> None:
        """A zone that is gone, or may not be transferred any more, has no history; one that is withheld keeps it."""
        if apex in self._catalog.tables and self._wants(apex):
            return
        if apex in self._by_apex and self._archive is not None:
            await asyncio.to_thread(self._archive.forget, apex)
        self._by_apex.pop(apex, None)


def _changed(before: Zone, after: Zone) -> frozenset[WireName] | None:
    """Return the owners that can differ between two versions, None when any can."""
    step = after.step
    return step.owners if step is not None and step.since is apex_soa(before.index) else None
