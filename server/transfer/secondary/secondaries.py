"""All zones of a server that are pulled, and the notices that come for them.

Owns who may send a notice (RFC 1996 section 3.10). Never asks a primary itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

import structlog

from server.answer.rejection import Rcode
from server.text import name_text
from server.transfer.config import SecondaryZone
from server.transfer.secondary.secondary import Secondary, Surroundings
from zonemodel.name import WireName

_AFTER_FAULT_S: Final = 60.0

log = structlog.get_logger(__name__)


class Secondaries:
    """Call `load` before anything is served, then `run`."""

    def __init__(self, configs: Sequence[SecondaryZone], surroundings: Surroundings) -> None:
        self._around = surroundings
        self._by_apex = {config.origin: Secondary(config, surroundings) for config in configs}

    @property
    def apexes(self) -> Collection[WireName]:
        return self._by_apex.keys()

    @property
    def withheld(self) -> int:
        return sum(apex not in self._around.catalog.zones for apex in self._by_apex)

    async def load(self) -> None:
        """Serve what was kept of each zone."""
        for secondary in self._by_apex.values():
            await secondary.load()

    async def run(self) -> None:
        """Keep all zones fresh until cancelled."""
        async with asyncio.TaskGroup() as group:
            for secondary in self._by_apex.values():
                group.create_task(_keep_up(secondary))

    def refresh(self) -> None:
        """Have all primaries asked now."""
        for secondary in self._by_apex.values():
            secondary.hint()

    def take_notice(self, apex: WireName, client: str, key: WireName | None) -> Rcode:
        """Judge a notice, and take a good one as a hint: what it says of the zone is asked for, not believed."""
        secondary = self._by_apex.get(apex)
        if secondary is None:
            return Rcode.REFUSED if apex in self._around.catalog.tables else Rcode.NOTAUTH
        if not secondary.hears(client, key):
            log.debug("notice is refused", zone=name_text(apex), client=client)
            return Rcode.REFUSED
        self._around.counters.notices_received += 1
        secondary.hint()
        return Rcode.NOERROR


async def _keep_up(secondary: Secondary) -> None:
    """Go on with a zone whatever one refresh met."""
    while True:
        try:
            await secondary.run()
        except Exception:  # the edge of a worker: one zone's fault must not end the others
            log.exception("refreshing a zone failed", zone=name_text(secondary.apex))
            await asyncio.sleep(_AFTER_FAULT_S)
