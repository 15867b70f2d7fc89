"""The zones that are served, by apex.

Owns the one place where a zone's next version takes effect: a query sees the whole of one version. Never compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add

from server.rdtype import OTHER_SLOT, SLOTS, no_counts
from server.zone.compile import Zone
from server.zone.table import ZoneTable, withheld_table
from zonemodel.hosted_zone import Transfer
from zonemodel.name import WireName

Watcher = Callable[[WireName, Zone | None, Zone | None], None]
"""Told of an apex, the version that was served and the one that is served now, None for none."""


class Catalog:
    """All zones by apex; `tables` is what the matcher reads: those of `zones`, and of the zones that are withheld.

    `transfers` say who may transfer a zone and who is told of changes, as far as the zone's source says it. `watchers` are told of
    every change after it has taken effect. `complete` says whether a name outside of all zones is known to be nobody's here: before
    the first full view of a source it may belong to a zone that has not been seen yet. `asked_elsewhere` counts the questions
    outside of all zones, and those of zones that are gone.
    """

    def __init__(self) -> None:
        self.zones: dict[WireName, Zone] = {}
        self.tables: dict[bytes, ZoneTable] = {}
        self.transfers: dict[WireName, Transfer] = {}
        self.watchers: list[Watcher] = []
        self.complete = False
        self.asked_elsewhere = no_counts()

    def replace(self, zone: Zone, transfer: Transfer | None = None) -> None:
        """Serve this version of the zone from the next query on; `transfer` is what its source says of transfers."""
        apex = zone.index.origin
        before = self.zones.get(apex)
        self._put(zone.table)
        self.zones[apex] = zone
        if transfer is None:
            self.transfers.pop(apex, None)
        else:
            self.transfers[apex] = transfer
        self._tell(apex, before, zone)

    def withhold(self, apex: WireName) -> None:
        """Answer SERVFAIL for a zone that is ours and has no content that may be served (RFC 1034 section 4.3.5)."""
        self.zones.pop(apex, None)
        self._put(withheld_table(apex))

    def remove(self, apex: WireName) -> None:
        """Stop serving a zone."""
        before = self.zones.pop(apex, None)
        self.transfers.pop(apex, None)
        if (table := self.tables.pop(apex, None)) is not None:
            self.asked_elsewhere[:] = map(add, self.asked_elsewhere, table.asked)
            self._tell(apex, before, None)

    def _put(self, table: ZoneTable) -> None:
        if (before := self.tables.get(table.apex)) is not None:
            table.asked[:] = before.asked
        self.tables[table.apex] = table

    def _tell(self, apex: WireName, before: Zone | None, after: Zone | None) -> None:
        for watcher in self.watchers:
            watcher(apex, before, after)

    def prepare(self, zone: Zone) -> None:
        """Do ahead what `replace` has to do for a large zone; may be called on any thread."""

    def tally(self) -> None:
        """Bring the counts of questions up to date."""

    def count_elsewhere(self, qtype: bytes) -> None:
        """Note a question outside of all zones."""
        self.asked_elsewhere[SLOTS.get(qtype, OTHER_SLOT)] += 1

    def find(self, name: bytes) -> WireName | None:
        """Return the apex of the longest zone that `name`, lowercase, lies in, or None."""
        while name not in self.tables:
            if len(name) == 1:
                return None
            name = name[name[0] + 1 :]
        return WireName(name)
