"""The zones that are served, by apex.

Owns the one place where a zone's next version takes effect: a query sees the whole of one version. Never compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import add
from pathlib import Path

from server import rdtype
from server.nesting import Nesting, aliases_into, without_answers
from server.rdtype import OTHER_SLOT, SLOTS, no_counts
from server.zone.compile import Zone
from server.zone.table import ZoneTable, withheld_table
from zonemodel.hosted_zone import Transfer
from zonemodel.name import WireName
from zonemodel.rrset import RRset

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
        self._nesting = Nesting()
        self._left: dict[WireName, frozenset[WireName]] = {}
        """By apex, the owners whose aliases are left to the responder since they lead into other zones."""

    def replace(self, zone: Zone, transfer: Transfer | None = None) -> None:
        """Serve this version of the zone from the next query on; `transfer` is what its source says of transfers."""
        apex = zone.index.origin
        before, is_new = self.zones.get(apex), apex not in self.tables
        self._put(zone.table)
        self.zones[apex] = zone
        self._left.pop(apex, None)
        self._nest(apex, is_new=is_new)
        if transfer is None:
            self.transfers.pop(apex, None)
        else:
            self.transfers[apex] = transfer
        self._tell(apex, before, zone)

    def withhold(self, apex: WireName) -> None:
        """Answer SERVFAIL for a zone that is ours and has no content that may be served (RFC 1034 section 4.3.5)."""
        is_new = apex not in self.tables
        self._put(withheld_table(apex))
        self.zones.pop(apex, None)
        self._left.pop(apex, None)
        self._nest(apex, is_new=is_new)

    def remove(self, apex: WireName) -> None:
        """Stop serving a zone."""
        before = self.zones.pop(apex, None)
        self.transfers.pop(apex, None)
        if (table := self.tables.pop(apex, None)) is not None:
            self.asked_elsewhere[:] = map(add, self.asked_elsewhere, table.asked)
            self._left.pop(apex, None)
            self._nesting.discard(apex)
            self._settle_outer(apex)
            self._tell(apex, before, None)

    def _put(self, table: ZoneTable) -> None:
        if (before := self.tables.get(table.apex)) is not None:
            table.asked[:] = before.asked
        self.tables[table.apex] = table

    def _nest(self, apex: WireName, *, is_new: bool) -> None:
        """See to the aliases that lead from one zone into another, after a zone has got another content."""
        self._settle(apex)
        if is_new:
            self._nesting.add(apex)
            self._settle_outer(apex)

    def _settle_outer(self, apex: WireName) -> None:
        """Do so for the zones above one that is there now or no longer, in proportion to the aliases that lead into it."""
        for name in self._nesting.outer(apex):
            zone = self.zones.get(name)
            if zone is not None and (name in self._left or aliases_into(zone, (apex,))):
                self._settle(name)

    def _settle(self, apex: WireName) -> None:
        zone = self.zones.get(apex)
        if zone is None:
            return
        before = self._left.get(apex, frozenset())
        now = aliases_into(zone, self._nesting.inner(apex))
        if now != before:
            self._put(without_answers(zone, now, before))
        if now:
            self._left[apex] = now
        else:
            self._left.pop(apex, None)

    def _tell(self, apex: WireName, before: Zone | None, after: Zone | None) -> None:
        for watcher in self.watchers:
            watcher(apex, before, after)

    def read(self, path: Path, origin: str | None) -> Zone | None:
        """Return the zone of a master file where there is a faster way than the ordinary one; may be called on any thread."""

    def gather(
        self,
        origin: WireName,
        made: Iterable[RRset],
        pages: Iterable[bytes],
        read: Callable[[bytes], RRset],
    ) -> Zone | None:
        """Return the zone of a snapshot where there is a faster way than the ordinary one; may be called on any thread.

        It holds the sets `made` and those of the pages' canonical lines, which `read` understands. Raises ValueError as that does.
        """

    def collect(self, origin: WireName, records: Sequence[tuple[WireName, int, int, bytes]]) -> Zone | None:
        """Return the zone of records (owner, type, TTL, data) in any order, likewise; what is not understood is no zone here."""

    def prepare(self, zone: Zone) -> None:
        """Do ahead what `replace` has to do for a large zone; may be called on any thread."""

    def tally(self) -> None:
        """Bring the counts of questions up to date."""

    def count_elsewhere(self, qtype: bytes) -> None:
        """Note a question outside of all zones."""
        self.asked_elsewhere[SLOTS.get(qtype, OTHER_SLOT)] += 1

    def leads_elsewhere(self, apex: WireName) -> Callable[[WireName, int], bool] | None:
        """Return what says whether a name of a zone is another zone's to answer for, None when nothing of it is."""
        if not self._nesting.inner(apex):
            return None

        def is_elsewhere(name: WireName, qtype: int) -> bool:
            found = self.find(name)
            if qtype == rdtype.DS and found == name and len(name) > 1:
                found = self.find(name[name[0] + 1 :]) or found  # the parent side answers (RFC 4035 section 3.1.4.1)
            return found != apex

        return is_elsewhere

    def find(self, name: bytes) -> WireName | None:
        """Return the apex of the longest zone that `name`, lowercase, lies in, or None."""
        while name not in self.tables:
            if len(name) == 1:
                return None
            name = name[name[0] + 1 :]
        return WireName(name)
