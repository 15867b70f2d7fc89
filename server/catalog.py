"""The zones that are served, by apex.

Owns the one place where a zone's next version takes effect: a query sees the whole of one version. Never compiles.
"""

from __future__ import annotations

from operator import add

from server.rdtype import OTHER_SLOT, SLOTS, no_counts
from server.zone.compile import Zone
from server.zone.table import ZoneTable
from zonemodel.name import WireName


class Catalog:
    """All zones by apex; `tables` is what the matcher reads and holds the same apexes as `zones`.

    `complete` says whether a name outside of all zones is known to be nobody's here: before the first full view of a source
    it may belong to a zone that has not been seen yet. `asked_elsewhere` counts the questions outside of all zones, and those of
    zones that are gone.
    """

    def __init__(self) -> None:
        self.zones: dict[WireName, Zone] = {}
        self.tables: dict[bytes, ZoneTable] = {}
        self.complete = False
        self.asked_elsewhere = no_counts()

    def replace(self, zone: Zone) -> None:
        """Serve this version of the zone from the next query on."""
        apex, table = zone.index.origin, zone.table
        if (before := self.tables.get(apex)) is not None:
            table.asked[:] = before.asked
        self.zones[apex] = zone
        self.tables[apex] = table

    def remove(self, apex: WireName) -> None:
        """Stop serving a zone."""
        self.zones.pop(apex, None)
        if (table := self.tables.pop(apex, None)) is not None:
            self.asked_elsewhere[:] = map(add, self.asked_elsewhere, table.asked)

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
