"""The zones that are served, by apex.

Owns the one place where a zone's next version takes effect: a query sees the whole of one version. Never compiles.
"""

from __future__ import annotations

from server.zone.compile import Zone
from server.zone.table import ZoneTable
from zonemodel.name import WireName


class Catalog:
    """All zones by apex; `tables` is what the matcher reads and holds the same apexes as `zones`.

    `complete` says whether a name outside of all zones is known to be nobody's here: before the first full view of a source
    it may belong to a zone that has not been seen yet.
    """

    def __init__(self) -> None:
        self.zones: dict[WireName, Zone] = {}
        self.tables: dict[bytes, ZoneTable] = {}
        self.complete = False

    def replace(self, zone: Zone) -> None:
        """Serve this version of the zone from the next query on."""
        self.zones[zone.index.origin] = zone
        self.tables[zone.index.origin] = zone.table

    def remove(self, apex: WireName) -> None:
        """Stop serving a zone."""
        self.zones.pop(apex, None)
        self.tables.pop(apex, None)

    def find(self, name: bytes) -> WireName | None:
        """Return the apex of the longest zone that `name`, lowercase, lies in, or None."""
        while name not in self.tables:
            if len(name) == 1:
                return None
            name = name[name[0] + 1 :]
        return WireName(name)
